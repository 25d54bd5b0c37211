package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/ignore"
)

const (
	maxEntries = 500_000 // that one walk looks at
	maxDepth   = 200     // folders below one another; each costs a descriptor
	maxIgnore  = 1 << 20 // bytes of a .gitignore
	readAtOnce = 1024    // names, between two looks at the context
)

// Entry is one name in a folder. It is valid only while List or Walk hands it out.
type Entry struct {
	Path string      // below the folder that is listed or walked, with slashes; "" for that one itself
	Type fs.FileMode // its type bits; a symlink is a symlink

	root *os.Root // the folder that has the entry
	name string   // its name there
	top  string   // what is listed or walked, as Show has it
}

// Shown is the path as a person reads it, and as the model can give it to other tools.
func (e *Entry) Shown() string {
	switch {
	case e.Path == "":
		return e.top
	case e.top == ".":
		return e.Path
	case filepath.IsAbs(e.top):
		return filepath.Join(e.top, filepath.FromSlash(e.Path))
	}
	return e.top + "/" + e.Path
}

// Info describes the entry itself, not what a symlink leads to.
func (e *Entry) Info() (fs.FileInfo, error) { return e.root.Lstat(e.name) }

// Target is what a symlink says.
func (e *Entry) Target() (string, error) { return e.root.Readlink(e.name) }

// Read reads a regular file of at most MaxText bytes into buf, which it makes larger when needed, and returns the part that
// holds the content. ok is false for any other file.
func (e *Entry) Read(buf []byte) (data []byte, ok bool, err error) {
	if e.Type != 0 {
		return buf[:0], false, nil
	}
	f, info, err := openListed(e.root, e.name, e.Shown())
	if err != nil {
		return buf[:0], false, err
	}
	defer f.Close()
	if info.Size() > MaxText {
		return buf[:0], false, nil
	}
	if buf = buf[:0]; cap(buf) <= int(info.Size()) {
		buf = make([]byte, 0, max(int(info.Size())+1, 2*cap(buf)))
	}
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		switch buf = buf[:len(buf)+n]; {
		case err == io.EOF:
			return buf, true, nil
		case err != nil:
			return buf, false, explain(e.Shown(), err)
		case len(buf) > MaxText:
			return buf[:0], false, nil
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, cap(buf))
		}
	}
}

// List hands out what a folder holds, sorted by name. The path is one that Resolve returned.
func (w *Workspace) List(ctx context.Context, abs string, visit func(*Entry) error) error {
	dir, err := w.openFolder(abs)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := readFolder(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return explain(w.Show(abs), err)
	}
	top := w.Show(abs)
	for _, entry := range entries {
		e := Entry{Path: entry.Name(), Type: entry.Type(), root: dir, name: entry.Name(), top: top}
		if err := visit(&e); err != nil {
			return err
		}
	}
	return nil
}

// Left says what a walk has left out although it was not told to.
type Left struct {
	Denied int  // folders that could not be read
	Deep   int  // folders that lie too deep
	Full   bool // there is more than one walk looks at
}

// Walk hands out everything below a folder, each folder before what it holds and sorted by name, but for what .gitignore
// files leave out (those of the folder, of folders below it and of the folders between it and the root of the workspace),
// and .git. Symlinks are handed out and not followed. When visit returns fs.SkipDir for a folder, that is not entered;
// fs.SkipAll ends the walk. A file, or an ignored folder, that is named itself is walked all the same. The path is one
// that Resolve returned. Walk ends soon after ctx.
func (w *Workspace) Walk(ctx context.Context, abs string, visit func(*Entry) error) (Left, error) {
	k := walk{ctx: ctx, w: w, abs: abs, shown: w.Show(abs), visit: visit}
	err := k.from()
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return k.left, err
}

type walk struct {
	ctx   context.Context
	w     *Workspace
	abs   string
	shown string // abs, as Show has it
	above string // the path of abs below the top that the rules count from, "" or with a slash at the end
	visit func(*Entry) error
	seen  int
	left  Left
}

func (k *walk) from() error {
	root, rel, err := k.w.open(k.abs)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return explain(k.shown, err)
	}
	if !info.IsDir() {
		return k.visit(&Entry{Type: info.Mode().Type(), root: root, name: rel, top: k.shown})
	}
	_, _, inside := k.w.within(k.abs)
	var rules *ignore.Rules
	if inside && rel != "." {
		k.above = filepath.ToSlash(rel)
		rules = rulesAbove(root, k.above)
		k.above += "/"
	}
	dir, err := root.OpenRoot(rel)
	if err != nil {
		return explain(k.shown, err)
	}
	defer dir.Close()
	return k.folder(dir, "", rules, !inside)
}

// rulesAbove are the rules that hold in a folder of the workspace, none when they would leave that folder out: it was
// asked for by name.
func rulesAbove(root *os.Root, rel string) *ignore.Rules {
	rules := (*ignore.Rules)(nil).In("", readIgnore(root, ".gitignore"))
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		dir := rel[:i]
		if rules.Ignored(dir, true) {
			return nil
		}
		if i < len(rel) {
			rules = rules.In(dir, readIgnore(root, path.Join(dir, ".gitignore")))
		}
	}
	return rules
}

// readIgnore is the text of a .gitignore, "" if there is none. Like Git it follows no symlink there.
func readIgnore(root *os.Root, rel string) string {
	rel = filepath.FromSlash(rel)
	info, err := root.Lstat(rel)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return ""
	}
	f, _, err := openRegular(root, rel, rel)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxIgnore))
	return string(data)
}

// folder walks a folder; at is its path, "" or with a slash at the end.
func (k *walk) folder(dir *os.Root, at string, rules *ignore.Rules, outside bool) error {
	entries, err := readFolder(k.ctx, dir)
	switch {
	case k.ctx.Err() != nil:
		return k.ctx.Err()
	case err != nil && at == "":
		return explain(k.shown, err)
	case err != nil:
		k.left.Denied++
		return nil
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" && e.Type().IsRegular() }) {
		rules = rules.In(strings.TrimSuffix(k.above+at, "/"), readIgnore(dir, ".gitignore"))
	}
	for _, entry := range entries {
		if err := k.entry(dir, at, entry, rules, outside); err != nil {
			return err
		}
	}
	return nil
}

func (k *walk) entry(dir *os.Root, at string, entry fs.DirEntry, rules *ignore.Rules, outside bool) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	name := entry.Name()
	if name == ".git" || rules.Ignored(k.above+at+name, entry.IsDir()) {
		return nil
	}
	if k.seen++; k.seen > maxEntries {
		k.left.Full = true
		return fs.SkipAll
	}
	e := Entry{Path: at + name, Type: entry.Type(), root: dir, name: name, top: k.shown}
	err := k.visit(&e)
	switch {
	case !entry.IsDir():
		if err == fs.SkipDir {
			err = nil
		}
		return err
	case err == fs.SkipDir:
		return nil
	case err != nil:
		return err
	case strings.Count(e.Path, "/") >= maxDepth:
		k.left.Deep++
		return nil
	case outside && pseudo(filepath.Join(k.abs, filepath.FromSlash(e.Path))):
		return nil
	}
	sub, err := dir.OpenRoot(name)
	if err != nil { // denied, or no folder any more
		k.left.Denied++
		return nil
	}
	defer sub.Close()
	return k.folder(sub, e.Path+"/", rules, outside)
}

// openFolder opens a folder itself.
func (w *Workspace) openFolder(abs string) (*os.Root, error) {
	root, rel, err := w.open(abs)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := w.Show(abs)
	info, err := root.Stat(rel)
	if err != nil {
		return nil, explain(name, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	dir, err := root.OpenRoot(rel)
	if err != nil {
		return nil, explain(name, err)
	}
	return dir, nil
}

// readFolder reads the names in a folder, sorted.
func readFolder(ctx context.Context, dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fs.DirEntry
	for len(all) <= maxEntries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := f.ReadDir(readAtOnce)
		all = append(all, some...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
