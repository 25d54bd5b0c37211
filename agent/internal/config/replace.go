package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// privateDir makes the folder, or takes it from others. Where it belongs to
// somebody else, as mounted volumes do, the mode of the files has to do.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

type newFile struct{ path, text string }

// replaceFiles writes and syncs all files under temporary names before it
// renames any. It does not use renameio, which has no second step over several
// files, keeps a permissive mode and is not atomic on Windows; os.Rename is.
func replaceFiles(files []newFile) (err error) {
	temps := make([]string, len(files))
	targets := make([]string, len(files))
	defer func() {
		for _, t := range temps {
			if t != "" && err != nil {
				os.Remove(t)
			}
		}
	}()
	for i, f := range files {
		if targets[i], err = linkTarget(f.path); err != nil {
			return err
		}
		if temps[i], err = writeTemp(targets[i], f.text); err != nil {
			return err
		}
	}
	for i := range files {
		if err = os.Rename(temps[i], targets[i]); err != nil {
			return err
		}
		temps[i] = ""
		syncDir(filepath.Dir(targets[i]))
	}
	return nil
}

// linkTarget follows a symbolic link, so that a link into somebody's dotfiles stays one.
func linkTarget(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	return filepath.EvalSymlinks(path)
}

// writeTemp makes a file of mode 0600 beside target.
func writeTemp(target, text string) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// syncDir makes a rename survive a power cut. Windows cannot, and a file system
// that cannot is no reason to fail: the rename has happened.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
