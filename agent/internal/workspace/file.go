package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// MaxText is the size up to which a file is read or written as text.
const MaxText = 10 << 20

// ReadText reads a UTF-8 text file inside the workspace. The path is one that Resolve returned.
// A missing file is an error that wraps fs.ErrNotExist.
func (w *Workspace) ReadText(abs string) (string, error) {
	root, rel, err := w.open(abs)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := filepath.ToSlash(rel)
	if _, err := regular(root, rel); err != nil { // before opening: a pipe would block
		return "", err
	}
	f, err := root.Open(rel)
	if err != nil {
		return "", explain(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	if err != nil {
		return "", explain(name, err)
	}
	text := string(data)
	return text, CheckText(name, text)
}

// WriteText replaces or creates a text file inside the workspace, with its parent folders. The path is one that Resolve
// returned. The new content appears at once or not at all, and an existing file keeps its permission bits; hard links to
// it keep the old content.
func (w *Workspace) WriteText(abs, text string) error {
	root, rel, err := w.open(abs)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.ToSlash(rel)
	if err := CheckText(name, text); err != nil {
		return err
	}
	info, err := regular(root, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := root.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
			return explain(filepath.ToSlash(filepath.Dir(rel)), err)
		}
	case err != nil:
		return err
	case info.Mode().Perm()&0o200 == 0: // a rename would not notice
		return fmt.Errorf("%s is read-only", name)
	}
	if err := replace(root, rel, text, info); err != nil {
		return explain(name, err)
	}
	return nil
}

// open opens the root and gives the path below it. Between Resolve and now someone may have put a symlink in the way:
// then the path no longer resolves to itself. What changes after that, os.Root keeps inside.
func (w *Workspace) open(abs string) (root *os.Root, rel string, err error) {
	now, inside, err := w.Resolve(abs)
	switch {
	case err != nil:
		return nil, "", err
	case !inside:
		return nil, "", fmt.Errorf("%s is %w", abs, ErrOutside)
	case now != abs:
		return nil, "", fmt.Errorf("%s now leads to %s", w.Show(abs), w.Show(now))
	}
	top, rel, _ := w.within(abs)
	root, err = os.OpenRoot(top)
	if err != nil {
		return nil, "", explain(top, err)
	}
	return root, rel, nil
}

func regular(root *os.Root, rel string) (fs.FileInfo, error) {
	name := filepath.ToSlash(rel)
	info, err := root.Stat(rel)
	switch {
	case err != nil:
		return nil, explain(name, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return info, nil
}

// replace writes a temporary file beside the target, syncs it and renames it. Rename replaces the name itself, so it
// never writes through a symlink that was put there meanwhile.
func replace(root *os.Root, rel, text string, old fs.FileInfo) (err error) {
	temp := filepath.Join(filepath.Dir(rel), ".acpkit-"+rand.Text()+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			root.Remove(temp)
		}
	}()
	_, err = f.WriteString(text)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return root.Rename(temp, rel)
}

// CheckText reports why the content of the file called name is not text that this package reads and writes.
func CheckText(name, text string) error {
	switch {
	case len(text) > MaxText:
		return fmt.Errorf("%s is larger than %d MiB", name, MaxText>>20)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("%s is not a text file: it contains NUL characters", name)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not UTF-8 text", name)
	}
	return nil
}
