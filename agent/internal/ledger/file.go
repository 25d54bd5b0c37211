package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
)

// keepBuffer is the largest buffer that an idle session keeps.
const keepBuffer = 64 << 10

// fileLedger is a session on disk whose lock this process has.
type fileLedger struct {
	store  *files
	id     string
	folder string
	lock   *flock.Flock
	f      file // without O_APPEND, which keeps Windows from truncating

	ending    sync.Once // Close or Delete, whichever is first
	closeErr  error     // of the Close that was first
	deleteErr error     // of the Delete that was first, else ErrClosed

	mu      sync.Mutex // guards what follows; records are written under it
	log     survey
	buf     []byte
	torn    bool  // a failed Append left bytes behind log.end
	closed  bool  // Append and Read are over
	synced  int64 // what of the file is known to be on the disk
	syncErr error // the failure of a Sync, for good
	syncing chan struct{}
}

func (l *fileLedger) Append(recs ...Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if len(recs) == 0 {
		return nil
	}
	if l.torn {
		if err := l.cut(); err != nil {
			return fmt.Errorf("the end of the session's log cannot be repaired: %w", err)
		}
	}
	text, err := appendLines(l.buf[:0], l.log.last, recs, l.store.Now)
	if l.buf = text; cap(text) > keepBuffer {
		l.buf = nil
	}
	if err != nil {
		return err
	}
	if _, err := l.f.WriteAt(text, l.log.end); err != nil {
		l.torn = true
		if cutErr := l.cut(); cutErr != nil {
			err = errors.Join(err, cutErr)
		}
		return err
	}
	l.took(text, recs)
	return nil
}

// took counts the lines that are in the file now.
func (l *fileLedger) took(text []byte, recs []Record) {
	first := l.log.last + 1
	if n := len(l.log.marks); n == 0 || l.log.end-l.log.marks[n-1].off >= markEvery {
		l.log.marks = append(l.log.marks, mark{first, l.log.end})
	}
	l.log.records += uint64(len(recs))
	l.log.last += uint64(len(recs))
	l.log.to = l.log.last
	l.log.end += int64(len(text))
	copy(l.log.sum[:], lastLine(text))
}

// lastLine returns the last of some whole lines.
func lastLine(text []byte) []byte {
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] == '\n' {
			return text[i+1:]
		}
	}
	return text
}

// cut takes a torn write back.
func (l *fileLedger) cut() error {
	if err := l.f.Truncate(l.log.end); err != nil {
		return err
	}
	l.torn = false
	return nil
}

func (l *fileLedger) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := l.log.end
	for {
		switch {
		case l.syncErr != nil:
			return l.syncErr
		case l.synced >= want:
			return nil
		case l.syncing != nil:
			l.wait()
		case l.closed:
			return ErrClosed
		default:
			l.syncOnce()
		}
	}
}

// wait waits for the fsync of somebody else. mu is held before and after.
func (l *fileLedger) wait() {
	done := l.syncing
	l.mu.Unlock()
	<-done
	l.mu.Lock()
}

// syncOnce is one fsync, in which those share that find it running. mu is held
// before and after.
func (l *fileLedger) syncOnce() {
	end, done := l.log.end, make(chan struct{})
	l.syncing = done
	l.mu.Unlock()
	err := l.f.Sync()
	l.mu.Lock()
	if err != nil {
		l.syncErr = err
	} else {
		l.synced = end
	}
	l.syncing = nil
	close(done)
}

func (l *fileLedger) Read(from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		l.mu.Lock()
		log, closed := l.log, l.closed
		log.marks = slices.Clip(log.marks)
		l.mu.Unlock()
		if closed {
			yield(Record{}, ErrClosed)
			return
		}
		bad, err := log.stream(l.f, from, yield)
		if bad > log.bad {
			l.store.warnDamaged(l.id, bad)
		}
		if errors.Is(err, fs.ErrClosed) {
			err = ErrClosed
		}
		if err != nil && err != errStop {
			yield(Record{}, err)
		}
	}
}

func (l *fileLedger) Info() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := Info{Records: l.log.records, Bytes: l.log.end, Folder: l.folder}
	if i.Records > 0 {
		i.Checksum = string(l.log.sum[:])
	}
	return i
}

func (l *fileLedger) Close() error {
	l.ending.Do(func() {
		l.deleteErr = ErrClosed
		l.stop()
		l.closeErr = errors.Join(l.drain(), l.f.Close())
		l.release()
	})
	return l.closeErr
}

func (l *fileLedger) Delete() error {
	l.ending.Do(func() {
		l.stop()
		l.deleteErr = l.store.remove(l.id, func() {
			_ = l.f.Close() // nothing in it is wanted any more
			_ = l.lock.Unlock()
		})
	})
	return l.deleteErr
}

// stop lets nothing be appended any more.
func (l *fileLedger) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// drain is the last Sync.
func (l *fileLedger) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing != nil {
		l.wait()
	}
	if l.syncErr == nil && l.synced < l.log.end {
		l.syncOnce()
	}
	return l.syncErr
}

// release gives the lock up. The holder goes first: it speaks of a lock that is held.
func (l *fileLedger) release() {
	_ = l.store.disk.removeAll(filepath.Join(l.folder, holderFile))
	_ = l.lock.Unlock()
}

// repair cuts a torn tail off a log that has just been opened, and says what is
// wrong with the rest.
func (l *fileLedger) repair(size int64) error {
	if torn := size - l.log.end; torn > 0 {
		if err := l.cut(); err != nil {
			return err
		}
		if err := l.f.Sync(); err != nil {
			return err
		}
		l.synced = l.log.end
		l.store.Logger.Warn("the end of a session's log was torn and is cut off",
			slog.String("session", l.id), slog.Int64("bytes", torn))
	}
	if l.log.bad > 0 {
		l.store.warnDamaged(l.id, l.log.bad)
	}
	return nil
}
