package ledger

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

const (
	logFile = "log"
	newLog  = "log.new" // until it is whole
	deleted = ".deleted-"
)

// files is the store on disk. Processes that share it are kept apart by locks;
// it has no state but what is on the disk.
type files struct {
	dir string
	Options
	disk  disk
	swept atomic.Bool // what killed deletes left has been looked for
}

func (s *files) sessions() string        { return filepath.Join(s.dir, "sessions") }
func (s *files) folder(id string) string { return filepath.Join(s.dir, "sessions", id) }

func (s *files) Create(id string, first ...Record) (Ledger, error) {
	if !ValidID(id) {
		return nil, badID(id)
	}
	text, err := appendLines(appendHead(nil), 0, first, s.Now)
	if err != nil {
		return nil, err
	}
	if err := mkdirAll(s.disk, s.sessions()); err != nil {
		return nil, err
	}
	if !s.swept.Swap(true) {
		s.sweepAll()
	}
	lock, err := s.claim(id)
	if err != nil {
		return nil, err
	}
	l := &fileLedger{store: s, id: id, folder: s.folder(id), lock: lock}
	if err := l.begin(text); err != nil {
		_ = s.remove(id, func() { _ = lock.Unlock() })
		return nil, err
	}
	return l, nil
}

// claim makes the folder of a new session and locks it. A folder without a log
// is that of a session whose creator was killed, or is still at it.
func (s *files) claim(id string) (*flock.Flock, error) {
	folder := s.folder(id)
	for range 200 {
		err := s.disk.mkdir(folder)
		switch {
		case errors.Is(err, fs.ErrExist):
			if !isDir(folder) || exists(filepath.Join(folder, logFile)) {
				return nil, ErrExists
			}
		case err != nil:
			return nil, err
		}
		lock, err := tryLock(filepath.Join(folder, lockFile))
		switch {
		case err == nil && exists(filepath.Join(folder, logFile)):
			_ = lock.Unlock()
			return nil, ErrExists
		case err == nil:
			return lock, nil
		case err != errHeld && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, ErrExists
}

// begin writes the log and makes it, its folder and its name durable.
func (l *fileLedger) begin(text []byte) error {
	d, path := l.store.disk, filepath.Join(l.folder, logFile)
	writeHolder(d, l.folder, l.store.Owner, l.store.Now())
	temp := filepath.Join(l.folder, newLog)
	f, err := d.openFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := d.rename(temp, path); err != nil {
		return err
	}
	if err := errors.Join(d.syncDir(l.folder), d.syncDir(filepath.Dir(l.folder))); err != nil {
		return err
	}
	size, err := l.open(path, nil)
	l.synced = size
	return err
}

// open opens the log at path and surveys it.
func (l *fileLedger) open(path string, each func(Record)) (size int64, err error) {
	if l.f, err = l.store.disk.openFile(path, os.O_RDWR); err != nil {
		return 0, err
	}
	info, err := l.f.Stat()
	if err == nil {
		l.log, err = look(l.f, info.Size(), each)
	}
	if err != nil {
		_ = l.f.Close()
		return 0, err
	}
	return info.Size(), nil
}

func (s *files) Open(id string, each func(Record)) (Ledger, error) {
	path, err := s.logOf(id)
	if err != nil {
		return nil, err
	}
	lock, err := s.hold(id)
	if err != nil {
		return nil, err
	}
	l := &fileLedger{store: s, id: id, folder: s.folder(id), lock: lock}
	writeHolder(s.disk, l.folder, s.Owner, s.Now())
	// synced stays 0: a holder that was killed may not have synced.
	size, err := l.open(path, each)
	if err == nil {
		if err = l.repair(size); err != nil {
			_ = l.f.Close()
		}
	}
	if err != nil {
		l.release()
		return nil, unknown(err)
	}
	return l, nil
}

// logOf returns the path of the log of a stored session. A link is not ours:
// nothing is followed out of the store.
func (s *files) logOf(id string) (string, error) {
	if !ValidID(id) || !isDir(s.folder(id)) {
		return "", ErrUnknown
	}
	path := filepath.Join(s.folder(id), logFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", unknown(err)
	}
	if !info.Mode().IsRegular() {
		return "", ErrUnknown
	}
	return path, nil
}

// hold locks a stored session.
func (s *files) hold(id string) (*flock.Flock, error) {
	lock, err := tryLock(filepath.Join(s.folder(id), lockFile))
	if err == errHeld {
		return nil, heldError(s.folder(id))
	}
	return lock, unknown(err)
}

// unknown turns the error of a file that is not there into ErrUnknown.
func unknown(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrUnknown
	}
	return err
}

func (s *files) Read(id string, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := s.read(id, from, yield); err != nil && err != errStop {
			yield(Record{}, err)
		}
	}
}

func (s *files) read(id string, from uint64, yield func(Record, error) bool) error {
	path, err := s.logOf(id)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return unknown(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	log, err := look(f, info.Size(), nil)
	if err != nil {
		return err
	}
	if log.bad > 0 {
		s.warnDamaged(id, log.bad)
	}
	_, err = log.stream(f, from, yield)
	return err
}

func (s *files) Delete(id string) error {
	if !ValidID(id) || !isDir(s.folder(id)) {
		return nil
	}
	lock, err := s.hold(id)
	if err == ErrUnknown {
		return nil
	}
	if err != nil {
		return err
	}
	return s.remove(id, func() { _ = lock.Unlock() })
}

// remove deletes a session whose lock the caller has; release gives it up. From
// the rename on the session is unknown everywhere. The list forgets it before
// the rest goes, so that a delete that was killed leaves a sign until all is done.
func (s *files) remove(id string, release func()) error {
	trash, err := s.discard(id, release)
	if trash == "" {
		return err
	}
	s.forget(func(c cached) bool { return c.ID == id })
	return errors.Join(err, s.disk.removeAll(trash))
}

// discard renames the folder of a session out of the way and returns its new path.
func (s *files) discard(id string, release func()) (trash string, err error) {
	trash = filepath.Join(s.sessions(), deleted+rand.Text())
	if runtime.GOOS == "windows" {
		release() // a folder with an open file in it cannot be renamed there
		err = s.disk.rename(s.folder(id), trash)
	} else {
		err = s.disk.rename(s.folder(id), trash)
		release()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var ofRename *os.LinkError
	if errors.As(err, &ofRename) { // where it would have gone is nobody's business
		err = &fs.PathError{Op: "delete", Path: s.folder(id), Err: ofRename.Err}
	}
	if err != nil {
		return "", err
	}
	return trash, s.disk.syncDir(s.sessions())
}

// sweepAll ends the deletes that were killed.
func (s *files) sweepAll() {
	if entries, err := os.ReadDir(s.sessions()); err == nil && s.sweep(entries) {
		s.forget(func(c cached) bool { return !isDir(s.folder(c.ID)) })
	}
}

// sweep removes what deletes left behind and says whether there was something.
func (s *files) sweep(entries []os.DirEntry) (found bool) {
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), deleted) {
			found = true
			_ = s.disk.removeAll(filepath.Join(s.sessions(), e.Name()))
		}
	}
	return found
}

func (s *files) warnDamaged(id string, lines uint64) {
	s.Logger.Warn("damaged lines in a session's log are skipped", slog.String("session", id), slog.Uint64("lines", lines))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isDir says whether path is a folder and no link to one.
func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
