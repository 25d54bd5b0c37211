// Package workspace is the folder a session works in: where a path really leads, and the files there. It reads and writes
// the disk; what an editor holds unsaved it does not see.
// It asks nobody for permission, offers no tools and knows no host; callers decide what may be touched.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// ErrOutside is the error of a path that leads out of the workspace.
var ErrOutside = errors.New("outside the workspace")

const (
	maxPath  = 4096 // bytes; more than any file system takes
	maxLinks = 255  // symlinks followed in one path, as in the kernel
)

// Workspace is one root folder, and perhaps more of them. It holds no open file, so a session costs no descriptor and needs
// no Close.
type Workspace struct {
	root string   // absolute, without symlinks; the base of relative paths
	more []string // further roots, the same

	approved []string // see Approved
}

// Open takes the working directory of a session and its further roots. A missing directory is an error that wraps
// fs.ErrNotExist.
func Open(cwd string, more ...string) (*Workspace, error) {
	w := &Workspace{}
	var err error
	if w.root, err = openRoot(cwd); err != nil {
		return nil, err
	}
	for _, dir := range more {
		root, err := openRoot(dir)
		if err != nil {
			return nil, err
		}
		w.more = append(w.more, root)
	}
	return w, nil
}

func openRoot(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) {
		return "", fmt.Errorf("%q is not an absolute path", cwd)
	}
	root, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return "", explain(cwd, err)
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", explain(cwd, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", cwd)
	}
	return root, nil
}

// Root is the workspace's folder: absolute, symlinks resolved.
func (w *Workspace) Root() string { return w.root }

// Resolve says where a path leads, relative ones from the root: every symlink is followed first, also in a path whose
// end does not exist yet, and only then is it compared with the root. What Resolve returns resolves to itself.
func (w *Workspace) Resolve(path string) (abs string, inside bool, err error) {
	switch {
	case path == "":
		return "", false, errors.New("path is empty")
	case len(path) > maxPath:
		return "", false, fmt.Errorf("path is longer than %d bytes", maxPath)
	case strings.ContainsRune(path, 0):
		return "", false, errors.New("path contains a NUL character")
	}
	if !filepath.IsAbs(path) {
		if filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0]) { // Windows: C:x and \x depend on the process
			return "", false, fmt.Errorf("%s is neither absolute nor relative to the workspace", path)
		}
		path = w.root + string(filepath.Separator) + path // not Join: a/link/.. is the parent of the link's target
	}
	if abs, err = follow(path); err != nil {
		return "", false, explain(path, err)
	}
	root, rel, inside := w.within(abs)
	if inside {
		abs = filepath.Join(root, rel)
	}
	if !utf8.ValidString(abs) { // a symlink's target; no host could be told about it
		return "", false, fmt.Errorf("%s leads to a name that is not UTF-8", path)
	}
	return abs, inside, nil
}

// Roots are all roots, the base of relative paths first.
func (w *Workspace) Roots() []string { return append([]string{w.root}, w.more...) }

// Show is a resolved path as a person reads it: relative to the root and with slashes when it lies inside.
func (w *Workspace) Show(abs string) string {
	if root, rel, inside := w.within(abs); inside && root == w.root {
		return filepath.ToSlash(rel)
	}
	return abs
}

// within finds the root that a path lies in.
func (w *Workspace) within(abs string) (root, rel string, inside bool) {
	for _, root := range w.Roots() {
		if rel, inside := below(root, abs); inside {
			return root, rel, true
		}
	}
	return "", "", false
}

// below compares names first. Another spelling of the root (letter case, a second mount, a \\?\ prefix) has other names
// but is the same folder, which only the file system can tell.
func below(top, abs string) (rel string, inside bool) {
	if rel, err := filepath.Rel(top, abs); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	root, err := os.Stat(top)
	if err != nil {
		return "", false
	}
	for dir, below := abs, "."; ; {
		if info, err := os.Lstat(dir); err == nil && os.SameFile(info, root) {
			return below, filepath.IsLocal(below)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir, below = parent, filepath.Join(filepath.Base(dir), below)
	}
}

// follow walks an absolute path name by name, as the kernel does, except that nothing needs to exist: a dangling symlink
// leads to its missing target, and ".." behind a missing name takes that name away again.
func follow(path string) (string, error) {
	done, todo := split(path)
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			done = next
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
		default:
			if links++; links > maxLinks {
				return "", errors.New("too many symlinks")
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			root, names := split(target)
			if filepath.IsAbs(target) {
				done = root
			}
			todo = append(names, todo...)
		}
	}
	return done, nil
}

// split parts a path into the root of its volume and the names below it.
func split(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	names = strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	return volume + string(filepath.Separator), names
}

// explain turns an error of the file system into a sentence about the path, keeping what errors.Is finds.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &pathError{path + " does not exist", err}
	case errors.Is(err, fs.ErrPermission):
		return &pathError{path + ": the system denies access", err}
	}
	var ofPath *fs.PathError
	var ofRename *os.LinkError
	if errors.As(err, &ofPath) {
		err = ofPath.Err
	} else if errors.As(err, &ofRename) {
		err = ofRename.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

type pathError struct {
	text  string
	cause error
}

func (e *pathError) Error() string { return e.text }
func (e *pathError) Unwrap() error { return e.cause }
