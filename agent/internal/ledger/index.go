package ledger

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-faster/jx"
	"github.com/gofrs/flock"
)

const (
	indexFile   = "index"
	indexLock   = "index.lock"
	indexFormat = "reasonix-acp-index"
	indexNumber = 1

	// unprompted sessions live this long.
	unpromptedLife = 30 * 24 * time.Hour
	// unfinished is the age at which a folder without a log is nobody's work.
	unfinished = time.Minute
)

// cached is a summary with the state of the log that it was made from.
type cached struct {
	Summary
	mtime int64 // Unix nanoseconds; the size is Summary.Bytes
}

func (c *cached) fits(log fs.FileInfo) bool {
	return c.Bytes == log.Size() && c.mtime == log.ModTime().UnixNano()
}

func (s *files) List() ([]Summary, error) {
	entries, err := os.ReadDir(s.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.sweep(entries)
	index, known := s.readIndex()
	stale := !known
	list := make([]cached, 0, len(entries))
	for _, e := range entries {
		id := e.Name()
		if !ValidID(id) || !e.IsDir() {
			continue
		}
		c, fresh, ok := s.entry(id, index)
		stale = stale || fresh
		if ok {
			list = append(list, c)
		}
	}
	if stale || len(list) != len(index) {
		s.writeIndex(list)
	}
	out := make([]Summary, len(list))
	for i := range list {
		out[i] = list[i].Summary
	}
	return out, nil
}

// entry is one session of the list: from the index, or made anew.
func (s *files) entry(id string, index map[string]cached) (c cached, fresh, ok bool) {
	path := s.sessions() + string(filepath.Separator) + id + string(filepath.Separator) + logFile
	log, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.removeUnfinished(id)
		return c, false, false
	case err == nil && !log.Mode().IsRegular():
		return c, false, false
	}
	if err == nil {
		if c, ok = index[id]; !ok || !c.fits(log) {
			fresh = true
			c, err = s.summarize(id, path)
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Logger.Warn("a session is left out of the list", slog.String("session", id), slog.Any("error", err))
		}
		return c, false, false
	}
	if s.old(&c, log.ModTime()) && s.prune(id, &c) {
		return c, true, false
	}
	return c, fresh, true
}

// summarize folds the log at path.
func (s *files) summarize(id, path string) (cached, error) {
	f, err := os.Open(path)
	if err != nil {
		return cached{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return cached{}, err
	}
	fold := folder{fold: s.Fold}
	log, err := look(f, info.Size(), fold.take)
	if err != nil {
		return cached{}, err
	}
	return cached{fold.summary(id, log.records, info.Size()), info.ModTime().UnixNano()}, nil
}

// folder makes a summary of records.
type folder struct {
	fold        func(*Summary, Record)
	s           Summary
	first, last time.Time
}

func (f *folder) take(r Record) {
	if f.first.IsZero() {
		f.first = r.Time
	}
	f.last = r.Time
	f.fold(&f.s, r)
}

func (f *folder) summary(id string, records uint64, size int64) Summary {
	s := f.s
	s.ID, s.Records, s.Bytes = id, records, size
	if s.Created.IsZero() {
		s.Created = f.first
	}
	if s.Updated.IsZero() {
		s.Updated = f.last
	}
	// As they come back from the index.
	s.Created, s.Updated = s.Created.UTC().Truncate(time.Millisecond), s.Updated.UTC().Truncate(time.Millisecond)
	return s
}

// old says whether a session was never prompted and is to be pruned.
func (s *files) old(c *cached, modified time.Time) bool {
	if c.Prompted {
		return false
	}
	used := c.Updated
	if used.IsZero() {
		used = modified
	}
	return s.Now().Sub(used) > unpromptedLife
}

// prune deletes a session, unless somebody holds it or has used it meanwhile.
// The index is written by the caller.
func (s *files) prune(id string, c *cached) bool {
	lock, err := s.hold(id)
	if err != nil {
		return false
	}
	log, err := os.Lstat(filepath.Join(s.folder(id), logFile))
	if err != nil || !c.fits(log) {
		_ = lock.Unlock()
		return false
	}
	return s.drop(id, lock)
}

// removeUnfinished removes the folder of a session whose creator was killed.
func (s *files) removeUnfinished(id string) {
	info, err := os.Lstat(s.folder(id))
	if err != nil || s.Now().Sub(info.ModTime()) < unfinished {
		return
	}
	lock, err := s.hold(id)
	if err != nil {
		return
	}
	if exists(filepath.Join(s.folder(id), logFile)) {
		_ = lock.Unlock()
		return
	}
	s.drop(id, lock)
}

func (s *files) drop(id string, lock *flock.Flock) bool {
	trash, err := s.discard(id, func() { _ = lock.Unlock() })
	if trash == "" {
		return err == nil
	}
	_ = s.disk.removeAll(trash) // what is left goes with the next List
	return true
}

// readIndex returns what the index says, and false when there is none to trust.
func (s *files) readIndex() (map[string]cached, bool) {
	text, err := os.ReadFile(filepath.Join(s.dir, indexFile))
	if err != nil {
		return nil, false
	}
	body, ok := whole(bytes.TrimSuffix(text, []byte("\n")))
	if !ok {
		return nil, false
	}
	return decodeIndex(body)
}

// writeIndex is best effort. Sessions that are gone by now stay out: whoever
// deletes one waits for the lock and takes it out of the index then.
func (s *files) writeIndex(list []cached) {
	lock, err := tryLock(filepath.Join(s.dir, indexLock))
	if err != nil {
		return
	}
	defer lock.Unlock()
	entries, err := os.ReadDir(s.sessions())
	if err != nil {
		return
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	kept := list[:0:0]
	for _, c := range list {
		if there[c.ID] {
			kept = append(kept, c)
		}
	}
	_ = replaceFile(s.disk, filepath.Join(s.dir, indexFile), encodeIndex(kept))
}

// forget takes sessions out of the index. When that cannot be, the index goes.
func (s *files) forget(gone func(cached) bool) {
	path := filepath.Join(s.dir, indexFile)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	lock := flock.New(filepath.Join(s.dir, indexLock), flock.SetPermissions(0o600))
	if ok, _ := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		_ = s.disk.removeAll(path)
		return
	}
	defer lock.Unlock()
	_ = s.disk.removeAll(path + ".new") // of a process that was killed
	index, known := s.readIndex()
	if !known {
		_ = s.disk.removeAll(path) // it may hold anything
		return
	}
	kept := make([]cached, 0, len(index))
	for _, c := range index {
		if !gone(c) {
			kept = append(kept, c)
		}
	}
	if len(kept) == len(index) {
		return
	}
	if err := replaceFile(s.disk, path, encodeIndex(kept)); err != nil {
		_ = s.disk.removeAll(path)
	}
}

func encodeIndex(list []cached) []byte {
	e := &jx.Encoder{}
	e.ObjStart()
	e.FieldStart("format")
	e.Str(indexFormat)
	e.FieldStart("version")
	e.Int(indexNumber)
	e.FieldStart("sessions")
	e.ArrStart()
	for i := range list {
		encodeCached(e, &list[i])
	}
	e.ArrEnd()
	e.ObjEnd()
	return seal(append([]byte(blankSum), e.Bytes()...), 0)
}

func encodeCached(e *jx.Encoder, c *cached) {
	e.ObjStart()
	text := func(name, s string) { e.FieldStart(name); e.Str(s) }
	number := func(name string, n int64) { e.FieldStart(name); e.Int64(n) }
	text("id", c.ID)
	number("size", c.Bytes)
	number("mtime", c.mtime)
	text("cwd", c.CWD)
	text("title", c.Title)
	if !c.Created.IsZero() {
		number("created", c.Created.UnixMilli())
	}
	if !c.Updated.IsZero() {
		number("updated", c.Updated.UnixMilli())
	}
	e.FieldStart("prompted")
	e.Bool(c.Prompted)
	e.FieldStart("records")
	e.UInt64(c.Records)
	e.ObjEnd()
}

// decodeIndex returns false for what is not an index of this format.
func decodeIndex(body []byte) (map[string]cached, bool) {
	var format string
	var number int
	index := map[string]cached{}
	err := jx.DecodeBytes(body).ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		switch string(key) {
		case "format":
			format, err = d.Str()
		case "version":
			number, err = d.Int()
		case "sessions":
			err = d.Arr(func(d *jx.Decoder) error {
				c, err := decodeCached(d)
				index[c.ID] = c
				return err
			})
		default:
			err = d.Skip()
		}
		return err
	})
	return index, err == nil && format == indexFormat && number == indexNumber
}

func decodeCached(d *jx.Decoder) (c cached, err error) {
	err = d.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		switch string(key) {
		case "id":
			c.ID, err = d.Str()
		case "size":
			c.Bytes, err = d.Int64()
		case "mtime":
			c.mtime, err = d.Int64()
		case "cwd":
			c.CWD, err = d.Str()
		case "title":
			c.Title, err = d.Str()
		case "created":
			c.Created, err = decodeTime(d)
		case "updated":
			c.Updated, err = decodeTime(d)
		case "prompted":
			c.Prompted, err = d.Bool()
		case "records":
			c.Records, err = d.UInt64()
		default:
			err = d.Skip()
		}
		return err
	})
	return c, err
}

func decodeTime(d *jx.Decoder) (time.Time, error) {
	ms, err := d.Int64()
	return time.UnixMilli(ms).UTC(), err
}
