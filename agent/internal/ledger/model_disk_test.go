package ledger

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// modelDisk does everything on the real disk and notes what of it would be left
// after a power cut at its worst: of a file what was there at its last Sync, of
// a folder the names that were there at its last syncDir. It can also fail.
type modelDisk struct {
	osDisk
	root *node
	path string // of root

	mu    sync.Mutex
	did   []string               // one line an operation
	fault func(op string) error  // nil: none
	write func(b []byte) (n int) // how much of a write is done before its fault
	step  func(op string)        // after each operation
}

// node is a file or a folder. What is live is not on the disk yet.
type node struct {
	dir           bool
	live, durable map[string]*node
	content, safe []byte
}

func newNode(dir bool) *node {
	return &node{dir: dir, live: map[string]*node{}, durable: map[string]*node{}}
}

func newModelDisk(t *testing.T) *modelDisk {
	return &modelDisk{root: newNode(true), path: t.TempDir()}
}

// op runs one operation on both disks, unless it is to fail.
func (d *modelDisk) op(op, path string, real func() error, noted func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	rel, _ := filepath.Rel(d.path, path)
	name := op + " " + rel
	d.did = append(d.did, name)
	if d.fault != nil {
		if err := d.fault(name); err != nil {
			return err
		}
	}
	err := real()
	if err == nil {
		noted()
	}
	if d.step != nil {
		d.step(name)
	}
	return err
}

func (d *modelDisk) find(path string) (parent *node, name string) {
	rel, _ := filepath.Rel(d.path, path)
	parts := strings.Split(rel, string(filepath.Separator))
	parent = d.root
	for _, p := range parts[:len(parts)-1] {
		parent = parent.live[p]
	}
	return parent, parts[len(parts)-1]
}

func (d *modelDisk) at(path string) *node {
	if path == d.path {
		return d.root
	}
	parent, name := d.find(path)
	return parent.live[name]
}

func (d *modelDisk) mkdir(path string) error {
	return d.op("mkdir", path, func() error { return d.osDisk.mkdir(path) }, func() {
		parent, name := d.find(path)
		parent.live[name] = newNode(true)
	})
}

func (d *modelDisk) rename(from, to string) error {
	return d.op("rename", to, func() error { return d.osDisk.rename(from, to) }, func() {
		parent, name := d.find(from)
		n := parent.live[name]
		delete(parent.live, name)
		parent, name = d.find(to)
		parent.live[name] = n
	})
}

func (d *modelDisk) removeAll(path string) error {
	return d.op("remove", path, func() error { return d.osDisk.removeAll(path) }, func() {
		if parent, name := d.find(path); parent != nil {
			delete(parent.live, name)
		}
	})
}

func (d *modelDisk) syncDir(path string) error {
	return d.op("syncdir", path, func() error { return d.osDisk.syncDir(path) }, func() {
		n := d.at(path)
		n.durable = maps.Clone(n.live)
	})
}

func (d *modelDisk) openFile(path string, flag int) (f file, err error) {
	var n *node
	err = d.op("open", path, func() (err error) {
		f, err = d.osDisk.openFile(path, flag)
		return err
	}, func() {
		parent, name := d.find(path)
		if n = parent.live[name]; n == nil {
			n = newNode(false)
			parent.live[name] = n
		}
		if flag&os.O_TRUNC != 0 {
			n.content = nil
		}
	})
	if err != nil {
		return nil, err
	}
	return &modelFile{file: f, d: d, n: n, path: path}, nil
}

type modelFile struct {
	file
	d    *modelDisk
	n    *node
	path string
}

func (f *modelFile) WriteAt(b []byte, off int64) (done int, err error) {
	put := func(b []byte) {
		f.n.content = append(f.n.content[:off:off], b...)
	}
	err = f.d.op("write", f.path, func() (err error) {
		done, err = f.file.WriteAt(b, off)
		return err
	}, func() { put(b) })
	if err != nil && f.d.write != nil {
		done, _ = f.file.WriteAt(b[:f.d.write(b)], off)
		put(b[:done])
	}
	return done, err
}

func (f *modelFile) Truncate(size int64) error {
	return f.d.op("truncate", f.path, func() error { return f.file.Truncate(size) }, func() {
		f.n.content = f.n.content[:size:size]
	})
}

func (f *modelFile) Sync() error {
	return f.d.op("sync", f.path, f.file.Sync, func() { f.n.safe = f.n.content })
}

// powerCut puts what is left into a new folder and returns a store on it.
func (d *modelDisk) powerCut(t *testing.T) Store {
	t.Helper()
	dir := t.TempDir()
	var put func(n *node, path string)
	put = func(n *node, path string) {
		for name, child := range n.durable {
			p := filepath.Join(path, name)
			if child.dir {
				no(t, os.Mkdir(p, 0o700))
				put(child, p)
			} else {
				no(t, os.WriteFile(p, child.safe, 0o600))
			}
		}
	}
	put(d.root, dir)
	return Files(filepath.Join(dir, "home", "acp"), options())
}

func (d *modelDisk) store() *files {
	return &files{dir: filepath.Join(d.path, "home", "acp"), Options: options().withDefaults(), disk: d}
}

// TestCreateIsDurable: whatever is reported as created is there after a power
