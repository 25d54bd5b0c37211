package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ResolveName is Resolve for a name that is meant itself: when it is a symlink, that link and not what it leads to. The
// folders before it are resolved.
func (w *Workspace) ResolveName(path string) (abs string, inside bool, err error) {
	trimmed := strings.TrimRightFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	cut := len(trimmed)
	for cut > 0 && !os.IsPathSeparator(trimmed[cut-1]) {
		cut--
	}
	dir, name := trimmed[:cut], trimmed[cut:]
	if name == "" || name == "." || name == ".." || filepath.VolumeName(trimmed) == trimmed || len(path) > maxPath || strings.ContainsRune(path, 0) {
		return w.Resolve(path)
	}
	if dir == "" {
		dir = "."
	}
	parent, _, err := w.Resolve(dir)
	if err != nil {
		return "", false, err
	}
	abs = filepath.Join(parent, name)
	root, rel, inside := w.within(abs)
	if inside {
		abs = filepath.Join(root, rel)
	}
	return abs, inside, nil
}

// CheckMove reports why Move would refuse these paths as they are now, and moves nothing.
func (w *Workspace) CheckMove(source, destination string) error {
	m, err := w.openMove(source, destination)
	if err != nil {
		return err
	}
	m.close()
	return nil
}

// Move gives a file, a symlink or a folder with all that is in it another name, also on another file system. The paths are
// ones that ResolveName returned. What exists is not overwritten, and missing folders on the way to the destination are
// made. When it fails, the source is as it was, but for one on another file system that could be copied and not removed.
func (w *Workspace) Move(ctx context.Context, source, destination string) error {
	m, err := w.openMove(source, destination)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.to.MkdirAll(filepath.Dir(m.new), 0o777); err != nil {
		return explain(w.Show(filepath.Dir(destination)), err)
	}
	if m.respelled {
		err = m.from.Rename(m.old, filepath.Join(filepath.Dir(m.old), filepath.Base(m.new)))
	} else {
		err = rename(m.from, m.old, m.to, m.new)
	}
	if errors.Is(err, errOtherDevice) {
		err = m.copyAndRemove(ctx)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(w.Show(destination))
	case err != nil && err == ctx.Err():
		return err
	case err != nil:
		return fmt.Errorf("%s was not moved: %w", w.Show(source), explain(w.Show(destination), err))
	}
	return nil
}

// errOtherDevice is what rename returns when only a copy helps.
var errOtherDevice = errors.New("on another file system")

func exists(name string) error { return fmt.Errorf("%s exists; it is not overwritten", name) }

// move is a move that has been checked.
type move struct {
	from, to  *os.Root
	old, new  string // below them
	info      fs.FileInfo
	respelled bool // the destination is the source in other letters, on a disk that does not tell them apart
}

func (m *move) close() {
	m.from.Close()
	m.to.Close()
}

func (w *Workspace) openMove(source, destination string) (_ *move, err error) {
	if source == destination {
		return nil, fmt.Errorf("source and destination are both %s", w.Show(source))
	}
	if info, err := os.Lstat(source); err == nil && info.IsDir() {
		for _, root := range w.Roots() {
			if _, holds := below(source, root); holds {
				return nil, fmt.Errorf("%s is or holds the workspace", w.Show(source))
			}
		}
	}
	m := &move{}
	if m.from, m.old, err = w.openBy(source, w.ResolveName); err != nil {
		return nil, err
	}
	if m.to, m.new, err = w.openBy(destination, w.ResolveName); err != nil {
		m.from.Close()
		return nil, err
	}
	if err := m.check(w, source, destination); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *move) check(w *Workspace, source, destination string) (err error) {
	if m.info, err = m.from.Lstat(m.old); err != nil {
		return explain(w.Show(source), err)
	}
	switch m.info.Mode().Type() {
	case 0, fs.ModeDir, fs.ModeSymlink:
	default:
		return fmt.Errorf("%s is neither a file nor a folder", w.Show(source))
	}
	if rel, err := filepath.Rel(source, destination); m.info.IsDir() && err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%s cannot be moved into itself", w.Show(source))
	}
	there, err := m.to.Lstat(m.new)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return explain(w.Show(destination), err)
	}
	if os.SameFile(m.info, there) && filepath.Dir(source) == filepath.Dir(destination) && !m.listed() {
		m.respelled = true
		return nil
	}
	return exists(w.Show(destination))
}

// listed reports whether the folder has an entry that is spelled like the destination.
func (m *move) listed() bool {
	f, err := m.to.Open(filepath.Dir(m.new))
	if err != nil {
		return true
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		if name == filepath.Base(m.new) {
			return true
		}
	}
	return false
}

// copyAndRemove copies beside the destination, so that it appears there at once, and removes the source last.
func (m *move) copyAndRemove(ctx context.Context) error {
	temp := temporary(m.new)
	err := copyTree(ctx, m.from, m.old, m.to, temp)
	if err == nil {
		err = rename(m.to, temp, m.to, m.new)
	}
	if err != nil {
		return errors.Join(err, m.to.RemoveAll(temp))
	}
	return m.from.RemoveAll(m.old)
}

// copyTree copies a file, a symlink or a folder, with mode and time of change.
func copyTree(ctx context.Context, from *os.Root, old string, to *os.Root, new string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := from.Lstat(old)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		target, err := from.Readlink(old)
		if err != nil {
			return err
		}
		return to.Symlink(target, new)
	case fs.ModeDir:
		err = copyFolder(ctx, from, old, to, new)
	case 0:
		err = copyFile(ctx, from, old, to, new)
	default:
		return fmt.Errorf("%s is neither a file nor a folder", old)
	}
	if err == nil {
		err = to.Chmod(new, info.Mode().Perm())
	}
	if err == nil {
		err = to.Chtimes(new, info.ModTime(), info.ModTime())
	}
	return err
}

func copyFolder(ctx context.Context, from *os.Root, old string, to *os.Root, new string) error {
	if err := to.Mkdir(new, 0o700); err != nil {
		return err
	}
	dir, err := from.Open(old)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, name := range names {
		if err := copyTree(ctx, from, filepath.Join(old, name), to, filepath.Join(new, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, from *os.Root, old string, to *os.Root, new string) error {
	in, _, err := openRegular(from, old, old)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(new, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &untilDone{ctx, in})
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// untilDone reads until the context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// renameIfFree looks and renames, for systems that cannot do both in one step.
func renameIfFree(from *os.Root, old string, to *os.Root, new string) error {
	if _, err := to.Lstat(new); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, err := from.Stat(".")
	if err != nil {
		return err
	}
	target, err := to.Stat(".")
	if err != nil {
		return err
	}
	if os.SameFile(source, target) {
		err = from.Rename(old, new)
	} else { // os.Root renames only below one folder; both names were just resolved, and their folders are open
		err = os.Rename(filepath.Join(from.Name(), old), filepath.Join(to.Name(), new))
	}
	if errors.Is(err, syscall.EXDEV) {
		return errOtherDevice
	}
	return err
}
