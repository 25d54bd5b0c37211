package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// rename moves a name from one folder to another in one step, and fails with fs.ErrExist when the new name is taken.
func rename(from *os.Root, old string, to *os.Root, new string) error {
	source, err := from.Open(filepath.Dir(old))
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.Open(filepath.Dir(new))
	if err != nil {
		return err
	}
	defer target.Close()
	err = unix.Renameat2(int(source.Fd()), filepath.Base(old), int(target.Fd()), filepath.Base(new), unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EXDEV):
		return errOtherDevice
	case errors.Is(err, unix.EEXIST):
		return fs.ErrExist
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS): // this file system or kernel cannot
		return renameIfFree(from, old, to, new)
	}
	return err
}
