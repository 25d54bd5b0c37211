package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func plant(t *testing.T, base string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, base, name, text)
	}
}

// walked are the paths of a walk, folders with a slash.
func walked(t *testing.T, w *Workspace, path string) []string {
	t.Helper()
	abs, inside, err := w.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	if !inside {
		w = w.Approved(abs)
	}
	names := []string{}
	left, err := w.Walk(t.Context(), abs, func(e *Entry) error {
		name := e.Path
		if e.Type == fs.ModeDir {
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	if err != nil || left != (Left{}) {
		t.Errorf("%s: %+v, %v", path, left, err)
	}
	return names
}

func TestWalk(t *testing.T) {
	w, base := tree(t)
	plant(t, base, map[string]string{
		"in/.gitignore":     "*.log\n/build/\nsub/only.txt\n",
		"in/a.log":          "",
		"in/.hidden":        "",
		"in/build/made":     "",
		"in/build/keep.log": "",
		"in/.git/config":    "",
		"in/sub/.git":       "gitdir: elsewhere",
		"in/sub/.gitignore": "!b.log\n",
		"in/sub/a.log":      "",
		"in/sub/b.log":      "",
		"in/sub/only.txt":   "",
		"out/.gitignore":    "x\n",
		"out/x":             "",
		"out/a.log":         "",
	})
	link(t, base, "in/sub/loop", "..")
	link(t, base, "in/self", "self")
	link(t, base, "in/away", "../out")
	tests := []struct {
		path string
		want []string
	}{
		{".", []string{".gitignore", ".hidden", "away", "file.txt", "self", "sub/", "sub/.gitignore", "sub/b.log", "sub/deep/", "sub/loop"}},
		{"sub", []string{".gitignore", "b.log", "deep/", "loop"}},
		{"sub/deep", []string{}},
		{"build", []string{"keep.log", "made"}}, // was asked for
		{"a.log", []string{""}},
		{"file.txt", []string{""}},
		{"../out", []string{".gitignore", "a.log", "secret.txt"}},
	}
	for _, test := range tests {
		if d := cmp.Diff(test.want, walked(t, w, test.path)); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, d)
		}
	}
}

func TestWalkOutsideNeedsApproval(t *testing.T) {
	w, base := tree(t)
	out := filepath.Join(base, "out")
	visit := func(*Entry) error { t.Error("visited"); return nil }
	if _, err := w.Walk(t.Context(), out, visit); err == nil || !strings.Contains(err.Error(), "outside the workspace") {
		t.Errorf("walk: %v", err)
	}
	if err := w.List(t.Context(), out, visit); err == nil || !strings.Contains(err.Error(), "outside the workspace") {
		t.Errorf("list: %v", err)
	}
	if err := w.Approved(filepath.Join(out, "sub")).List(t.Context(), out, visit); err == nil {
		t.Error("the approval of a folder was taken for one of its parent")
	}
}

func TestWalkEnds(t *testing.T) {
	w, _ := tree(t)
	var seen []string
	_, err := w.Walk(t.Context(), w.Root(), func(e *Entry) error {
		seen = append(seen, e.Path)
		if e.Path == "sub" {
			return fs.SkipDir
		}
		return nil
	})
	if d := cmp.Diff([]string{"file.txt", "sub"}, seen); d != "" || err != nil {
		t.Error(d, err)
	}
	n := 0
	if _, err := w.Walk(t.Context(), w.Root(), func(*Entry) error { n++; return fs.SkipAll }); n != 1 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	if _, err := w.Walk(ctx, w.Root(), func(*Entry) error { n++; cancel(); return nil }); n != 1 || err != context.Canceled {
		t.Errorf("cancelled: %d entries, %v", n, err)
	}
}

// A .gitignore that is a symlink or a pipe is not read.
func TestWalkOddIgnore(t *testing.T) {
	w, base := tree(t)
	put(t, base, "out/rules", "*\n")
	link(t, base, "in/.gitignore", "../out/rules")
	if d := cmp.Diff([]string{".gitignore", "file.txt", "sub/", "sub/deep/"}, walked(t, w, ".")); d != "" {
		t.Error(d)
	}
}

func TestWalkBigTree(t *testing.T) {
	w, base := tree(t)
	for i := range 100 {
		dir := filepath.Join(base, fmt.Sprintf("in/many/%02d", i))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(dir, "f")
		if err := os.WriteFile(first, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for j := range 999 { // links are made faster than files
			if err := os.Link(first, fmt.Sprintf("%s%03d", first, j)); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := walked(t, w, "many")
	if len(names) != 100*1001 {
		t.Errorf("%d entries", len(names))
	}
	if !slices.IsSorted(names) {
		t.Error("not sorted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := w.Walk(ctx, w.Root(), func(*Entry) error {
		if n++; n == 50000 {
			cancel()
		}
		return nil
	})
	if n != 50000 || err != context.Canceled {
		t.Errorf("cancelled after %d entries: %v", n, err)
	}
}

func TestWalkDeepTree(t *testing.T) {
	w, base := tree(t)
	if err := os.MkdirAll(filepath.Join(base, "in", strings.Repeat("d/", maxDepth+50)), 0o777); err != nil {
		t.Fatal(err)
	}
	n := 0
	left, err := w.Walk(t.Context(), w.Root(), func(*Entry) error { n++; return nil })
	if err != nil || left != (Left{Deep: 1}) || n < maxDepth {
		t.Errorf("%d entries, %+v, %v", n, left, err)
	}
}

func TestEntryRead(t *testing.T) {
	w, base := tree(t)
	plant(t, base, map[string]string{"in/r/a": "", "in/r/b": "text", "in/r/c": strings.Repeat("x", 5000), "in/r/d": strings.Repeat("x", MaxText), "in/r/e": strings.Repeat("x", MaxText+1), "in/r/f": "end"})
	link(t, base, "in/r/z", "../../out/secret.txt")
	var buf []byte
	sizes := map[string]int{}
	_, err := w.Walk(t.Context(), filepath.Join(w.Root(), "r"), func(e *Entry) error {
		data, ok, err := e.Read(buf)
		if err != nil && e.Path != "z" {
			t.Error(err)
		}
		buf = data
		if sizes[e.Path] = len(data); !ok {
			sizes[e.Path] = -1
		}
		return nil
	})
	if d := cmp.Diff(map[string]int{"a": 0, "b": 4, "c": 5000, "d": MaxText, "e": -1, "f": 3, "z": -1}, sizes); d != "" || err != nil {
		t.Error(d, err)
	}
}
