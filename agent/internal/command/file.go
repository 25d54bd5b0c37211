package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read.
const (
	maxFile    = 256 << 10 // bytes of one file
	maxFiles   = 1000      // of one kind in one folder
	maxFolders = 250       // below commands
	maxDepth   = 8         // folders below commands
)

// source is a file that is read again whenever its text is needed.
type source struct {
	dir string // the folder of its origin
	rel string // below dir
}

func (s source) path() string { return filepath.Join(s.dir, s.rel) }

// text is the body of the file: its text without front matter, trimmed.
func (s source) text() (string, error) {
	f := &folder{Folder: Folder{Dir: s.dir}}
	if err := f.open(); err != nil {
		return "", fmt.Errorf("%s: %w", s.path(), err)
	}
	defer f.close()
	d, err := f.read(s.rel)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.path(), err)
	}
	return d.body, nil
}

// folder is a Folder that is being read.
type folder struct {
	Folder
	log  *slog.Logger
	real string   // Dir without symbolic links
	root *os.Root // of real; nil when there is nothing to read
}

func openFolder(o Folder, log *slog.Logger) *folder {
	f := &folder{Folder: o, log: log}
	if abs, err := filepath.Abs(f.Dir); err == nil {
		f.Dir = abs
	}
	if err := f.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.warn("", err)
	}
	return f
}

func (f *folder) open() (err error) {
	if f.real, err = filepath.EvalSymlinks(f.Dir); err != nil {
		return cause(err)
	}
	// OpenRoot would wait for the other end of a pipe.
	if info, err := os.Stat(f.real); err != nil || !info.IsDir() {
		return errors.New("is not a folder; move it away")
	}
	if f.root, err = os.OpenRoot(f.real); err != nil {
		return cause(err)
	}
	return nil
}

func (f *folder) close() {
	if f.root != nil {
		f.root.Close()
	}
}

func (f *folder) warn(rel string, reason error) {
	f.log.Warn("command file not used", "path", filepath.Join(f.Dir, rel), "reason", reason.Error())
}

// note is a warning about a file that is used nevertheless.
func (f *folder) note(rel string, reason error) {
	f.log.Warn("command file used without its front matter", "path", filepath.Join(f.Dir, rel), "reason", reason.Error())
}

// resolve follows symbolic links, which must stay inside the folder. Absolute
// ones are followed too, which os.Root alone refuses; the result is opened
// through the root, so that nothing outside is read even if a link changes now.
func (f *folder) resolve(rel string) (string, fs.FileInfo, error) {
	if f.root == nil {
		return "", nil, fs.ErrNotExist
	}
	abs, err := filepath.EvalSymlinks(filepath.Join(f.real, rel))
	if err != nil {
		return "", nil, cause(err)
	}
	inside, err := filepath.Rel(f.real, abs)
	if err != nil || !filepath.IsLocal(inside) {
		return "", nil, fmt.Errorf("is a link that leads out of %s; copy the file instead", f.Dir)
	}
	info, err := f.root.Stat(inside)
	if err != nil {
		return "", nil, cause(err)
	}
	return inside, info, nil
}

// read reads and checks one file. A broken front matter is not an error: it is
// the document's flaw.
func (f *folder) read(rel string) (document, error) {
	inside, info, err := f.resolve(rel)
	if err != nil {
		return document{}, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return document{}, errors.New("is not a regular file")
	}
	file, err := f.root.Open(inside)
	if err != nil {
		return document{}, cause(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return document{}, cause(err)
	case len(data) > maxFile:
		return document{}, fmt.Errorf("is larger than %d KiB; shorten it", maxFile>>10)
	case !utf8.Valid(data):
		return document{}, errors.New("is not UTF-8; save it as UTF-8")
	}
	d := parseDocument(string(data))
	if d.body == "" {
		return document{}, errors.New("has no text")
	}
	return d, nil
}

// list lists a folder without hidden entries, sorted. One that does not exist is empty.
func (f *folder) list(rel string) []fs.DirEntry {
	inside, info, err := f.resolve(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("is not a folder; move it away")
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = fs.ReadDir(f.root.FS(), filepath.ToSlash(inside))
	}
	if err != nil {
		f.warn(rel, cause(err))
		return nil
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
}

// bound drops what is too much, with one warning.
func (f *folder) bound(rel string, files []string) []string {
	if len(files) > maxFiles {
		f.warn(rel, fmt.Errorf("holds more than %d files; those after %s are not read", maxFiles, files[maxFiles-1]))
		files = files[:maxFiles]
	}
	return files
}

// markdown reads the name of a Markdown file without its extension.
func markdown(file string) (string, bool) {
	ext := filepath.Ext(file)
	return strings.TrimSuffix(file, ext), strings.EqualFold(ext, ".md")
}

// tree lists the Markdown files below rel, depth first.
func (f *folder) tree(rel string) []string {
	w := walk{folder: f}
	w.visit(rel, nil)
	if w.deep != "" {
		f.warn(w.deep, fmt.Errorf("is more than %d folders deep; what is in it or as deep is not read", maxDepth))
	}
	if w.folders > maxFolders {
		f.warn(rel, fmt.Errorf("holds more than %d folders, counting links; the rest is not read", maxFolders))
	}
	return f.bound(rel, w.files)
}

type walk struct {
	*folder
	files   []string
	folders int    // visited; links can make very many of a few
	deep    string // the first that is too deep
}

// visit adds a folder. above holds the real folders on the way down, so that a
// link to one of them ends.
func (w *walk) visit(rel string, above []string) {
	inside, _, err := w.resolve(rel)
	if err == nil && slices.Contains(above, inside) {
		return
	}
	if w.folders++; w.folders > maxFolders {
		return
	}
	above = append(slices.Clip(above), inside)
	for _, e := range w.list(rel) {
		if w.folders > maxFolders {
			return
		}
		path := filepath.Join(rel, e.Name())
		if _, ok := markdown(e.Name()); ok {
			w.files = append(w.files, path) // whatever it is: read says so
			continue
		}
		if e.Type().IsRegular() {
			continue
		}
		if _, info, err := w.resolve(path); err != nil || !info.IsDir() {
			continue
		}
		if len(above) > maxDepth {
			if w.deep == "" {
				w.deep = path
			}
			continue
		}
		w.visit(path, above)
	}
}

// cause drops the path that the message names anyway.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
