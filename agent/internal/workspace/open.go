package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Approved is the workspace as one call may use it that has been approved: these paths, as Resolve or ResolveName returned
// them, and what lies below them, may be touched although they are outside. An approval is for the place, not for the
// name: a path that has come to lead elsewhere is refused.
func (w *Workspace) Approved(abs ...string) *Workspace {
	view := *w
	view.approved = slices.Concat(w.approved, abs)
	return &view
}

func (w *Workspace) approves(abs string) bool {
	return slices.ContainsFunc(w.approved, func(top string) bool {
		rel, err := filepath.Rel(top, abs)
		return err == nil && filepath.IsLocal(rel)
	})
}

// open opens a folder that holds the path and gives the path below it. Between Resolve and now someone may have put a
// symlink in the way: then the path no longer resolves to itself. What changes after that, os.Root keeps inside.
func (w *Workspace) open(abs string) (root *os.Root, rel string, err error) {
	return w.openBy(abs, w.Resolve)
}

func (w *Workspace) openBy(abs string, resolve func(string) (string, bool, error)) (root *os.Root, rel string, err error) {
	check := func() (inside bool, err error) {
		now, inside, err := resolve(abs)
		switch {
		case err != nil:
			return false, err
		case !inside && !w.approves(abs):
			return false, fmt.Errorf("%s is %w", abs, ErrOutside)
		case now != abs:
			return false, fmt.Errorf("%s now leads to %s", w.Show(abs), w.Show(now))
		}
		return inside, nil
	}
	inside, err := check()
	if err != nil {
		return nil, "", err
	}
	if inside {
		top, rel, _ := w.within(abs)
		root, err = os.OpenRoot(top)
		if err != nil {
			return nil, "", explain(top, err)
		}
		return root, rel, nil
	}
	top, rel := nearest(abs)
	if pseudo(abs) || pseudo(top) {
		return nil, "", fmt.Errorf("%s is not on a disk: the kernel makes it up", abs)
	}
	if root, err = os.OpenRoot(top); err != nil {
		return nil, "", explain(top, err)
	}
	// Here no root confines: the folder that was opened must be the one of that name, and the name without symlinks.
	if err = same(root, top); err == nil {
		_, err = check()
	}
	if err != nil {
		root.Close()
		return nil, "", err
	}
	return root, rel, nil
}

func same(root *os.Root, name string) error {
	opened, err := root.Stat(".")
	if err != nil {
		return explain(name, err)
	}
	named, err := os.Lstat(name)
	if err != nil {
		return explain(name, err)
	}
	if !os.SameFile(opened, named) {
		return fmt.Errorf("%s has been replaced meanwhile", name)
	}
	return nil
}

// nearest is the deepest existing folder that holds the path, and the path below it.
func nearest(abs string) (top, rel string) {
	top, rel = filepath.Dir(abs), filepath.Base(abs)
	if top == abs { // the root of the file system
		return top, "."
	}
	for {
		_, err := os.Lstat(top)
		parent := filepath.Dir(top)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || parent == top {
			return top, rel
		}
		top, rel = parent, filepath.Join(filepath.Base(top), rel)
	}
}
