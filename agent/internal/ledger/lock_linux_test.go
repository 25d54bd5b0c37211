package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLockOfADeletedFolder: between open and lock the folder is deleted and made
// anew. A pipe as the first lock file stops the open for as long as that takes.
func TestLockOfADeletedFolder(t *testing.T) {
	for range 100 { // until the open is inside when the folder goes
		dir := filepath.Join(t.TempDir(), "s1")
		path := filepath.Join(dir, lockFile)
		no(t, os.Mkdir(dir, 0o700))
		no(t, syscall.Mkfifo(path, 0o600))
		got := make(chan string)
		go func() {
			l, err := tryLock(path)
			if err != nil {
				got <- err.Error()
				return
			}
			mine, err := l.Stat()
			there, err2 := os.Stat(path)
			if err := errors.Join(err, err2, l.Unlock()); err != nil {
				got <- err.Error()
			} else if !os.SameFile(mine, there) {
				got <- "the lock is of the folder that was deleted"
			} else {
				got <- ""
			}
		}()
		time.Sleep(20 * time.Millisecond)
		gone := dir + ".gone"
		no(t, os.Rename(dir, gone))
		no(t, os.Mkdir(dir, 0o700))
		no(t, os.WriteFile(path, nil, 0o600))
		// Only a pipe that somebody is opening can be opened so.
		w, err := os.OpenFile(filepath.Join(gone, lockFile), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		said := <-got
		if said != "" {
			t.Fatal(said)
		}
		if err == nil {
			no(t, w.Close())
			return
		}
	}
	t.Fatal("the moment never came")
}
