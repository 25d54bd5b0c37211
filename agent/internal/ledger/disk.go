package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// file is what the log needs of an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// disk is the file system as the store changes it. What only looks calls os.
type disk interface {
	openFile(path string, flag int) (file, error)
	mkdir(path string) error
	rename(from, to string) error
	removeAll(path string) error
	syncDir(path string) error
}

type osDisk struct{}

func (osDisk) openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err // not f: a nil *os.File is no nil file
	}
	return f, nil
}

func (osDisk) mkdir(path string) error      { return os.Mkdir(path, 0o700) }
func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) removeAll(path string) error  { return os.RemoveAll(path) }

// syncDir makes what happened in a folder survive a power cut. Where the system
// has no such thing there is nothing to wait for.
func (osDisk) syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// mkdirAll makes the folder and those above it, each durable in its parent.
func mkdirAll(d disk, dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := mkdirAll(d, parent); err != nil {
			return err
		}
	}
	if err := d.mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncDir(parent)
}
