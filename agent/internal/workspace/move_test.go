package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestResolveName(t *testing.T) {
	w, base := tree(t)
	link(t, base, "in/link", "../out/secret.txt")
	link(t, base, "in/loop", "loop")
	link(t, base, "in/folder", "sub")
	link(t, base, "in/away", "../out")
	link(t, base, "out/back", "../in/file.txt")
	tests := []struct {
		path, want string
		inside     bool
	}{
		{"file.txt", "in/file.txt", true},
		{"link", "in/link", true},
		{"./link", "in/link", true},
		{"loop", "in/loop", true},
		{"folder/", "in/folder", true},
		{"folder/x", "in/sub/x", true},
		{"away/secret.txt", "out/secret.txt", false},
		{"../out/back", "out/back", false},
		{"folder/..", "in", true},
		{".", "in", true},
		{"../in", "in", true},
		{filepath.Join(base, "in/link"), "in/link", true},
	}
	for _, test := range tests {
		abs, inside, err := w.ResolveName(test.path)
		if err != nil || abs != filepath.Join(base, test.want) || inside != test.inside {
			t.Errorf("%s: %s, %t, %v", test.path, abs, inside, err)
		}
		if again, _, err := w.ResolveName(abs); again != abs || err != nil {
			t.Errorf("%s: %s resolves to %s, %v", test.path, abs, again, err)
		}
	}
	for path, want := range map[string]string{"": "empty", "a\x00b": "NUL", "loop/x": "too many symlinks", strings.Repeat("x/", maxPath): "longer than"} {
		if _, _, err := w.ResolveName(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", path, err, want)
		}
	}
}

// mover moves by the paths of a call.
func mover(t *testing.T, w *Workspace, ctx context.Context, source, destination string) error {
	t.Helper()
	from, _, err := w.ResolveName(source)
	if err != nil {
		t.Fatal(err)
	}
	to, _, err := w.ResolveName(destination)
	if err != nil {
		t.Fatal(err)
	}
	return w.Move(ctx, from, to)
}

func TestMove(t *testing.T) {
	_, base := tree(t)
	if err := os.Mkdir(filepath.Join(base, "second"), 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := Open(filepath.Join(base, "in"), filepath.Join(base, "second"))
	if err != nil {
		t.Fatal(err)
	}
	plant(t, base, map[string]string{"in/a": "a", "in/dir/x/y": "y", "in/B": "B", "in/locked": "l"})
	if err := os.Chmod(filepath.Join(base, "in/locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	link(t, base, "in/link", "../out/secret.txt")
	link(t, base, "in/dangling", "none")
	tests := []struct{ source, destination, file, content string }{
		{"a", "b", "in/b", "a"},
		{"b", "new/folder/c", "in/new/folder/c", "a"},
		{"dir", "new/dir", "in/new/dir/x/y", "y"},
		{"B", "../second/deep/b", "second/deep/b", "B"},
		{filepath.Join(base, "second/deep"), "deep", "in/deep/b", "B"},
		{"locked", "unlocked", "in/unlocked", "l"},
		{"link", "sub/renamed", "", ""},
		{"dangling", "sub/dangling", "", ""},
	}
	for _, test := range tests {
		if err := mover(t, w, t.Context(), test.source, test.destination); err != nil {
			t.Errorf("%s to %s: %v", test.source, test.destination, err)
			continue
		}
		if test.file != "" {
			if got, err := os.ReadFile(filepath.Join(base, test.file)); string(got) != test.content {
				t.Errorf("%s: %q, %v", test.file, got, err)
			}
		}
		if abs, _, _ := w.ResolveName(test.source); abs != "" {
			if _, err := os.Lstat(abs); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", test.source, err)
			}
		}
	}
	for name, want := range map[string]string{"in/sub/renamed": "../out/secret.txt", "in/sub/dangling": "none"} {
		if target, err := os.Readlink(filepath.Join(base, name)); target != want {
			t.Errorf("%s says %q, %v", name, target, err)
		}
	}
	if info, err := os.Stat(filepath.Join(base, "in/unlocked")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestMoveErrors(t *testing.T) {
	w, base := tree(t)
	plant(t, base, map[string]string{"in/a": "a", "in/b": "b"})
	if err := os.Link(filepath.Join(base, "in/a"), filepath.Join(base, "in/A")); err != nil { // one file, two names
		t.Fatal(err)
	}
	link(t, base, "in/away", "../out")
	link(t, base, "in/dangling", "none")
	tests := []struct{ source, destination, want string }{
		{"none", "x", "none does not exist"},
		{"none", "new/x", "none does not exist"},
		{"a", "a", "source and destination are both a"},
		{"a", "b", "b exists; it is not overwritten"},
		{"a", "A", "A exists; it is not overwritten"},
		{"a", "sub", "sub exists; it is not overwritten"},
		{"a", "sub/", "sub exists; it is not overwritten"},
		{"a", "dangling", "dangling exists; it is not overwritten"},
		{"sub", "sub/x", "sub cannot be moved into itself"},
		{"sub", "sub/deep/x/y", "sub cannot be moved into itself"},
		{"a", "b/x", "b/x: not a directory"},
		{".", "x", ". is or holds the workspace"},
		{"a", "../out/a", "outside the workspace"},
		{"../out/secret.txt", "mine", "outside the workspace"},
		{"away/secret.txt", "mine", "outside the workspace"},
		{"a", "away/a", "outside the workspace"},
		{"..", "x", "is or holds the workspace"},
	}
	for _, test := range tests {
		if err := mover(t, w, t.Context(), test.source, test.destination); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s to %s: %v, want %s", test.source, test.destination, err, test.want)
		}
	}
	for name, want := range map[string]string{"in/a": "a", "in/A": "a", "in/b": "b", "out/secret.txt": "secret\n"} {
		if got, err := os.ReadFile(filepath.Join(base, name)); string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(base, "in/new")); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// A parent folder that becomes a symlink between the question and the move.
func TestMoveThatNowLeadsElsewhere(t *testing.T) {
	w, base := tree(t)
	from, _, _ := w.ResolveName("file.txt")
	to, _, _ := w.ResolveName("sub/deep/x")
	if err := os.Remove(filepath.Join(base, "in/sub/deep")); err != nil {
		t.Fatal(err)
	}
	link(t, base, "in/sub/deep", "../../out")
	if err := w.Move(t.Context(), from, to); !errors.Is(err, ErrOutside) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(base, "out/x")); err == nil {
		t.Error("it was moved out")
	}
}

func TestRenameDoesNotOverwrite(t *testing.T) {
	_, base := tree(t)
	plant(t, base, map[string]string{"in/a": "a", "in/b": "b"})
	root, err := os.OpenRoot(filepath.Join(base, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, f := range map[string]func(*os.Root, string, *os.Root, string) error{"rename": rename, "renameIfFree": renameIfFree} {
		if err := f(root, "a", root, "b"); err != fs.ErrExist {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(f(root, "a", root, "c"), f(root, "c", root, "a")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a move to another file system does.
func TestCopyAndRemove(t *testing.T) {
	_, base := tree(t)
	plant(t, base, map[string]string{"in/dir/run.sh": "#!", "in/dir/sub/x": strings.Repeat("x", 100000)})
	link(t, base, "in/dir/link", "../../out/secret.txt")
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, mode := range map[string]fs.FileMode{"in/dir/run.sh": 0o751, "in/dir/sub/x": 0o400, "in/dir/sub": 0o500} {
		if err := errors.Join(os.Chmod(filepath.Join(base, name), mode), os.Chtimes(filepath.Join(base, name), then, then)); err != nil {
			t.Fatal(err)
		}
	}
	from, err := os.OpenRoot(filepath.Join(base, "in"))
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenRoot(filepath.Join(base, "out"))
	if err != nil {
		t.Fatal(err)
	}
	m := move{from: from, to: to, old: "dir", new: "moved"}
	defer m.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.copyAndRemove(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	noTemporaryFiles(t, base)
	if err := m.copyAndRemove(t.Context()); err != nil {
		t.Fatal(err)
	}
	noTemporaryFiles(t, base)
	for name, mode := range map[string]fs.FileMode{"out/moved/run.sh": 0o751, "out/moved/sub/x": 0o400, "out/moved/sub": 0o500} {
		if info, err := os.Lstat(filepath.Join(base, name)); err != nil || info.Mode().Perm() != mode || !info.ModTime().Equal(then) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(base, "out/moved/sub/x")); len(data) != 100000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if target, err := os.Readlink(filepath.Join(base, "out/moved/link")); target != "../../out/secret.txt" {
		t.Errorf("the link says %q, %v", target, err)
	}
	if _, err := os.Lstat(filepath.Join(base, "in/dir")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the source: %v", err)
	}
	m.old, m.new = "file.txt", "secret.txt"
	if err := m.copyAndRemove(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
	noTemporaryFiles(t, base)
}
