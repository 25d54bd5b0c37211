package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/acpkit/acpkit/agent/internal/charset"
)

// MaxText is the size up to which a file is read or written as text, in bytes on the disk and in memory.
const MaxText = 10 << 20

// ErrChanged is the error of a change to a file that has changed meanwhile.
var ErrChanged = errors.New("has changed meanwhile; read it again")

// ReadText reads a text file, whatever its charset, without its byte order mark. The path is one that Resolve returned.
// A missing file is an error that wraps fs.ErrNotExist; bytes that are not surely text are refused.
func (w *Workspace) ReadText(abs string) (string, error) {
	root, rel, err := w.open(abs)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := read(root, rel, w.Show(abs))
	return f.text, err
}

// WriteText replaces or creates a text file, with its parent folders. The path is one that Resolve returned. The new
// content appears at once or not at all. An existing file keeps its charset, its byte order mark and its permission bits;
// hard links to it keep the old content.
func (w *Workspace) WriteText(abs, text string) error {
	return w.write(abs, text, true, func(*file) error { return nil })
}

// Change is WriteText for a file that must still have the text old, or, when old is nil, must not exist: otherwise the
// error wraps ErrChanged.
func (w *Workspace) Change(abs string, old *string, text string) error {
	return w.write(abs, text, true, func(now *file) error {
		if (now == nil) != (old == nil) || now != nil && now.text != *old {
			return fmt.Errorf("%s %w", w.Show(abs), ErrChanged)
		}
		return nil
	})
}

// CheckWrite reports why WriteText would refuse this text, and writes nothing.
func (w *Workspace) CheckWrite(abs, text string) error {
	return w.write(abs, text, false, func(*file) error { return nil })
}

func (w *Workspace) write(abs, text string, really bool, check func(now *file) error) error {
	root, rel, err := w.open(abs)
	if err != nil {
		return err
	}
	defer root.Close()
	name := w.Show(abs)
	now, err := read(root, rel, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		now = nil
	case err != nil:
		return err
	}
	if err := check(now); err != nil {
		return err
	}
	var data []byte
	var info fs.FileInfo
	if now == nil {
		data, err = encode(name, charset.UTF8, text)
	} else {
		info = now.info
		data, err = encode(name, now.charset, text)
	}
	switch {
	case err != nil:
		return err
	case info != nil && info.Mode().Perm()&0o200 == 0: // a rename would not notice
		return fmt.Errorf("%s is read-only", name)
	case !really:
		return nil
	case info == nil:
		if err := root.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
			return explain(w.Show(filepath.Dir(abs)), err)
		}
	}
	if err := replace(root, rel, data, info); err != nil {
		return explain(name, err)
	}
	return nil
}

func encode(name string, c charset.Charset, text string) ([]byte, error) {
	data, err := c.Encode(text)
	var lacks *charset.Unencodable
	switch {
	case len(text) > MaxText || len(data) > MaxText:
		return nil, tooLarge(name)
	case errors.Is(err, charset.ErrBinary) || errors.Is(err, charset.ErrUnsure):
		return nil, fmt.Errorf("%s is %w", name, err)
	case errors.As(err, &lacks):
		return nil, fmt.Errorf("%s cannot be written: %w", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be written as %v: %w", name, c, err)
	}
	return data, nil
}

func tooLarge(name string) error { return fmt.Errorf("%s is larger than %d MiB", name, MaxText>>20) }

// file is a text file as it was found.
type file struct {
	text    string
	charset charset.Charset
	info    fs.FileInfo
}

// read reads a text file. With an error the file is empty but not nil.
func read(root *os.Root, rel, name string) (*file, error) {
	none := new(file)
	f, info, err := openRegular(root, rel, name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	switch {
	case err != nil:
		return none, explain(name, err)
	case len(data) > MaxText:
		return none, tooLarge(name)
	}
	text, c, err := charset.Decode(data)
	switch {
	case err != nil:
		return none, fmt.Errorf("%s is %w", name, err)
	case len(text) > MaxText:
		return none, tooLarge(name)
	}
	return &file{text, c, info}, nil
}

// openRegular opens a file for reading. It looks before, since opening a device can do something, and after, since a pipe
// may have been put there.
func openRegular(root *os.Root, rel, name string) (*os.File, fs.FileInfo, error) {
	if info, err := root.Stat(rel); err != nil {
		return nil, nil, explain(name, err)
	} else if err := regular(info, name); err != nil {
		return nil, nil, err
	}
	return openListed(root, rel, name)
}

// openListed is openRegular for what a listing has just called a regular file.
func openListed(root *os.Root, rel, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		err = explain(name, err)
	} else {
		err = regular(info, name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func regular(info fs.FileInfo, name string) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	}
	return nil
}

// replace writes a temporary file beside the target, syncs it and renames it. Rename replaces the name itself, so it
// never writes through a symlink that was put there meanwhile.
func replace(root *os.Root, rel string, data []byte, old fs.FileInfo) (err error) {
	temp := temporary(rel)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			root.Remove(temp)
		}
	}()
	_, err = f.Write(data)
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

// temporary is a new name beside the path.
func temporary(rel string) string {
	return filepath.Join(filepath.Dir(rel), ".acpkit-"+rand.Text()+".tmp")
}
