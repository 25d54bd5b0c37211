package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockFile   = "lock"
	holderFile = "holder"
)

// errHeld is a lock that somebody else has.
var errHeld = errors.New("held")

// tryLock takes the lock at path, without waiting. The kernel gives it back when
// its process dies, so a dead holder needs no care. fs.ErrNotExist is the error
// when the folder is gone, errHeld when somebody has the lock.
func tryLock(path string) (*flock.Flock, error) {
	for range 3 {
		l := flock.New(path, flock.SetPermissions(0o600))
		switch ok, err := l.TryLock(); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, errHeld
		}
		// The folder may have been deleted, and made anew, between open and lock.
		mine, err := l.Stat()
		if err == nil {
			var there fs.FileInfo
			if there, err = os.Stat(path); err == nil && os.SameFile(mine, there) {
				return l, nil
			}
		}
		_ = l.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return nil, errHeld
}

// holder is the companion of a lock: who has it, for people.
type holder struct {
	Owner   string    `json:"owner"`
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
}

func defaultOwner() string {
	return fmt.Sprintf("%s (pid %d)", program(), os.Getpid())
}

func program() string { return filepath.Base(os.Args[0]) }

// writeHolder is best effort: the lock does not depend on it.
func writeHolder(d disk, folder, owner string, now time.Time) {
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{owner, os.Getpid(), program(), host, now.UTC().Truncate(time.Millisecond)})
	if err == nil {
		_ = replaceFile(d, filepath.Join(folder, holderFile), append(text, '\n'))
	}
}

// heldError reads who holds the session in folder.
func heldError(folder string) error {
	var h holder
	text, err := os.ReadFile(filepath.Join(folder, holderFile))
	if err != nil || json.Unmarshal(text, &h) != nil || h.Owner == "" {
		return &HeldError{Holder: "another process"}
	}
	if here, err := os.Hostname(); err == nil && h.Host != "" && h.Host != here {
		h.Owner += " on " + h.Host
	}
	return &HeldError{Holder: h.Owner}
}

// replaceFile writes a file under another name and renames it. The name is
// always the same one, so that a killed process leaves at most one behind; the
// caller holds the lock that keeps others away. It does not sync: what is lost
// in a power cut is made again.
func replaceFile(d disk, path string, text []byte) error {
	temp := path + ".new"
	f, err := d.openFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(temp, path)
	}
	if err != nil {
		_ = d.removeAll(temp)
	}
	return err
}
