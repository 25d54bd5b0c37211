package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadText(t *testing.T) {
	w, base := tree(t)
	put(t, base, "in/empty", "")
	put(t, base, "in/nul", "a\x00b")
	put(t, base, "in/cyrillic", "\xdd\xf2\xee \xf2\xe5\xf1\xf2")
	put(t, base, "in/latin", "caf\xe9\n")
	put(t, base, "in/marked", "\xef\xbb\xbfx")
	put(t, base, "in/big", strings.Repeat("x", MaxText+1))
	put(t, base, "in/full", strings.Repeat("x", MaxText))
	link(t, base, "in/inner", filepath.Join(base, "in/file.txt"))
	tests := []struct {
		path, text, err string
	}{
		{"file.txt", "inside\n", ""},
		{"inner", "inside\n", ""},
		{"empty", "", ""},
		{"full", strings.Repeat("x", MaxText), ""},
		{"none", "", "none does not exist"},
		{"sub/none", "", "sub/none does not exist"},
		{"sub", "", "sub is a directory"},
		{".", "", ". is a directory"},
		{"file.txt/x", "", "file.txt/x: not a directory"},
		{"nul", "", "nul is not a text file: it contains NUL characters"},
		{"cyrillic", "", "cyrillic is not UTF-8 text, and it is not certain which other character set it has"},
		{"latin", "café\n", ""},
		{"marked", "x", ""},
		{"big", "", "big is larger than 10 MiB"},
		{"../out/secret.txt", "", "outside the workspace"},
	}
	for _, test := range tests {
		abs, _, err := w.Resolve(test.path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := w.ReadText(abs)
		switch {
		case test.err == "" && (err != nil || text != test.text):
			t.Errorf("%s: %.20q, %v", test.path, text, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, want %q", test.path, err, test.err)
		}
	}
	if _, err := w.ReadText(filepath.Join(w.Root(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v does not wrap fs.ErrNotExist", err)
	}
}

func TestWriteText(t *testing.T) {
	w, base := tree(t)
	put(t, base, "in/script.sh", "old")
	if err := os.Chmod(filepath.Join(base, "in/script.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	link(t, base, "in/to-file", "file.txt")
	link(t, base, "in/to-new", "sub/made.txt")
	tests := []struct {
		path, file string // the file below in/ that then has the text
		mode       fs.FileMode
	}{
		{"file.txt", "file.txt", 0o644},
		{"new.txt", "new.txt", 0},
		{"a/b/c.txt", "a/b/c.txt", 0},
		{"script.sh", "script.sh", 0o751},
		{"to-file", "file.txt", 0o644},
		{"to-new", "sub/made.txt", 0},
	}
	for _, test := range tests {
		text := "text of " + test.path + "\n"
		abs, _, err := w.Resolve(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteText(abs, text); err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		file := filepath.Join(base, "in", test.file)
		if got, err := os.ReadFile(file); string(got) != text {
			t.Errorf("%s: the file has %q, %v", test.path, got, err)
		}
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || test.mode != 0 && info.Mode() != test.mode && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want mode %v", test.path, info, err, test.mode)
		}
	}
	if info, err := os.Lstat(filepath.Join(base, "in/to-file")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the symlink was replaced: %v, %v", info, err)
	}
	noTemporaryFiles(t, base)
}

func TestWriteTextErrors(t *testing.T) {
	w, base := tree(t)
	put(t, base, "in/fixed", "keep")
	if err := os.Chmod(filepath.Join(base, "in/fixed"), 0o444); err != nil {
		t.Fatal(err)
	}
	link(t, base, "in/escape", filepath.Join(base, "out/secret.txt"))
	link(t, base, "in/escape-new", filepath.Join(base, "out/new.txt"))
	link(t, base, "in/folder", filepath.Join(base, "out"))
	tests := []struct{ path, text, err string }{
		{"escape", "x", "outside the workspace"},
		{"escape-new", "x", "outside the workspace"},
		{"folder/x", "x", "outside the workspace"},
		{"../out/x", "x", "outside the workspace"},
		{"sub", "x", "sub is a directory"},
		{"file.txt/x", "x", "not a directory"},
		{"fixed", "x", "fixed is read-only"},
		{"file.txt", "a\x00", "NUL"},
		{"file.txt", "\xff", "not UTF-8"},
		{"file.txt", strings.Repeat("x", MaxText+1), "larger than"},
	}
	for _, test := range tests {
		abs, _, err := w.Resolve(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteText(abs, test.text); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.path, err, test.err)
		}
	}
	for file, want := range map[string]string{"out/secret.txt": "secret\n", "in/file.txt": "inside\n", "in/fixed": "keep"} {
		if got, err := os.ReadFile(filepath.Join(base, file)); string(got) != want {
			t.Errorf("%s now has %.20q, %v", file, got, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(base, "out")); len(entries) != 1 {
		t.Errorf("out has %v, %v", entries, err)
	}
	noTemporaryFiles(t, base)
}

// A symlink that is put in place between the question and the write.
func TestPathThatNowLeadsElsewhere(t *testing.T) {
	w, base := tree(t)
	inner, _, _ := w.Resolve("sub/a.txt")
	other, _, _ := w.Resolve("b.txt")
	link(t, base, "in/sub/a.txt", "../../out/secret.txt")
	link(t, base, "in/b.txt", "file.txt")
	if err := w.WriteText(inner, "x"); !errors.Is(err, ErrOutside) {
		t.Errorf("leading out: %v", err)
	}
	if err := w.WriteText(other, "x"); err == nil || err.Error() != "b.txt now leads to file.txt" {
		t.Errorf("leading elsewhere inside: %v", err)
	}
	if _, err := w.ReadText(other); err == nil {
		t.Error("reading was not refused")
	}
}

// A folder that takes the target's place after the check.
func TestReplaceCleansUp(t *testing.T) {
	_, base := tree(t)
	root, err := os.OpenRoot(filepath.Join(base, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := replace(root, "sub", []byte("x"), nil); err == nil {
		t.Error("replaced a folder")
	}
	noTemporaryFiles(t, base)
}

// A parent folder that becomes a symlink after the check: what os.Root is for.
func TestReplaceStaysInside(t *testing.T) {
	_, base := tree(t)
	link(t, base, "in/way", "../out")
	root, err := os.OpenRoot(filepath.Join(base, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := replace(root, "way/secret.txt", []byte("x"), nil); err == nil {
		t.Error("wrote through a symlink that leaves the root")
	}
	if got, _ := os.ReadFile(filepath.Join(base, "out/secret.txt")); string(got) != "secret\n" {
		t.Errorf("the secret is now %q", got)
	}
}

func noTemporaryFiles(t *testing.T, base string) {
	t.Helper()
	filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".tmp") {
			t.Errorf("left behind: %s, %v", path, err)
		}
		return nil
	})
}
