package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tree makes a workspace "in" beside a folder "out", both below one temporary folder with resolved symlinks.
func tree(t *testing.T) (w *Workspace, base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"in/sub/deep", "out"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put(t, base, "in/file.txt", "inside\n")
	put(t, base, "out/secret.txt", "secret\n")
	if w, err = Open(filepath.Join(base, "in")); err != nil {
		t.Fatal(err)
	}
	return w, base
}

func put(t *testing.T, base, name, text string) {
	t.Helper()
	file := filepath.Join(base, name)
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chmod(file, 0o644)); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

func link(t *testing.T, base, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	_, base := tree(t)
	link(t, base, "alias", "in")
	w, err := Open(filepath.Join(base, "alias") + "/")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(base, "in"); w.Root() != want {
		t.Errorf("root %s, want %s", w.Root(), want)
	}
	for path, want := range map[string]string{
		"in":                                "is not an absolute path",
		"":                                  "is not an absolute path",
		filepath.Join(base, "none"):         "does not exist",
		filepath.Join(base, "in/file.txt"):  "is not a directory",
		filepath.Join(base, "in/file.txt/"): "is not a directory",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v, want %q", path, err, want)
		}
	}
	if _, err := Open(filepath.Join(base, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v does not wrap fs.ErrNotExist", err)
	}
}

func TestResolve(t *testing.T) {
	w, base := tree(t)
	link(t, base, "in/up", "..")
	link(t, base, "in/abs-in", filepath.Join(base, "in/sub"))
	link(t, base, "in/abs-out", filepath.Join(base, "out"))
	link(t, base, "in/dangling-in", "sub/new.txt")
	link(t, base, "in/dangling-out", "../out/new.txt")
	link(t, base, "in/chain", "abs-in/deep")
	link(t, base, "in/deep-link", "sub/deep")
	link(t, base, "out/back", filepath.Join(base, "in"))
	link(t, base, "alias", "in")

	tests := []struct {
		path, want string // want is below base
		inside     bool
	}{
		{"file.txt", "in/file.txt", true},
		{"./sub//deep/", "in/sub/deep", true},
		{".", "in", true},
		{"new/a/b.txt", "in/new/a/b.txt", true},
		{"sub/../file.txt", "in/file.txt", true},
		{"none/../file.txt", "in/file.txt", true},
		{"file.txt/x", "in/file.txt/x", true},
		{"...", "in/...", true},
		{"..", "", false},
		{"../in/file.txt", "in/file.txt", true},
		{"../out/secret.txt", "out/secret.txt", false},
		{"../in2/file.txt", "in2/file.txt", false},
		{"sub/../../out", "out", false},
		{"up", "", false},
		{"up/out/secret.txt", "out/secret.txt", false},
		{"up/in/file.txt", "in/file.txt", true},
		{"abs-in/x", "in/sub/x", true},
		{"abs-out/secret.txt", "out/secret.txt", false},
		{"abs-out/new/x", "out/new/x", false},
		{"abs-out/back/file.txt", "in/file.txt", true},
		{"abs-out/..", "", false},
		{"dangling-in", "in/sub/new.txt", true},
		{"dangling-out", "out/new.txt", false},
		{"dangling-out/x", "out/new.txt/x", false},
		{"chain/x", "in/sub/deep/x", true},
		{"deep-link/../x", "in/sub/x", true}, // the parent of the target, as for the kernel
	}
	for _, test := range tests {
		for _, path := range []string{test.path, filepath.Join(base, "in") + "/" + test.path, filepath.Join(base, "alias") + "/" + test.path} {
			abs, inside, err := w.Resolve(path)
			if err != nil {
				t.Errorf("Resolve(%q): %v", path, err)
				continue
			}
			if want := filepath.Join(base, test.want); abs != want || inside != test.inside {
				t.Errorf("Resolve(%q) = %s, %t; want %s, %t", path, abs, inside, want, test.inside)
			}
		}
	}
}

func TestResolveErrors(t *testing.T) {
	w, base := tree(t)
	link(t, base, "in/loop", "loop")
	link(t, base, "in/ping", "pong")
	link(t, base, "in/pong", "ping")
	link(t, base, "in/odd", "bad\xff")
	for path, want := range map[string]string{
		"":                        "path is empty",
		"a\x00b":                  "NUL",
		"loop":                    "too many symlinks",
		"ping/x":                  "too many symlinks",
		"odd":                     "not UTF-8",
		strings.Repeat("a/", 4e3): "longer than",
		strings.Repeat("n", 300):  "file name too long",
	} {
		if abs, _, err := w.Resolve(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%.20q) = %q, %v; want %q", path, abs, err, want)
		}
	}
}

func TestShow(t *testing.T) {
	w, base := tree(t)
	for abs, want := range map[string]string{
		filepath.Join(base, "in/sub/x"): "sub/x",
		filepath.Join(base, "in"):       ".",
		filepath.Join(base, "out/x"):    filepath.Join(base, "out/x"),
	} {
		if got := w.Show(abs); got != want {
			t.Errorf("Show(%s) = %s, want %s", abs, got, want)
		}
	}
}

// Another spelling of the root is the same folder. On file systems that tell letter cases apart it is not.
func TestCase(t *testing.T) {
	w, base := tree(t)
	path := filepath.Join(base, "IN", "file.txt")
	_, statErr := os.Stat(path)
	abs, inside, err := w.Resolve(path)
	if err != nil || inside != (statErr == nil) {
		t.Fatalf("Resolve(%s) = %s, %t, %v; the file system opens it: %v", path, abs, inside, err, statErr)
	}
	if inside && abs != filepath.Join(w.Root(), "file.txt") {
		t.Errorf("resolved to %s, not below the root", abs)
	}
}

// Whatever links there are and however a path is written: what counts as inside is what the kernel finds inside, nothing is
// read or written elsewhere, and a resolved path resolves to itself.
func TestResolveProperty(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need rights there")
	}
	name := rapid.SampledFrom([]string{"a", "b", "c", "..", ".", "x.txt"})
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp("", "resolve")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(top)
		if top, err = filepath.EvalSymlinks(top); err != nil {
			rt.Fatal(err)
		}
		// Deep enough for the names below, and a root that no link is made outside of.
		base := filepath.Join(top, "1/2/3/4/5")
		if err := os.MkdirAll(base, 0o777); err != nil {
			rt.Fatal(err)
		}
		root, err := os.OpenRoot(top)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		os.MkdirAll(filepath.Join(base, "in/a/b"), 0o777)
		os.MkdirAll(filepath.Join(base, "out/a"), 0o777)
		os.WriteFile(filepath.Join(base, "out/x.txt"), []byte("secret"), 0o666)
		path := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(name, 1, 5).Draw(rt, "names"), "/")
		})
		for range rapid.IntRange(0, 4).Draw(rt, "links") {
			target := path.Draw(rt, "target")
			if rapid.Bool().Draw(rt, "absolute") {
				target = filepath.Join(base, rapid.SampledFrom([]string{"in", "out", "."}).Draw(rt, "folder")) + "/" + target
			}
			root.Symlink(target, filepath.Join("1/2/3/4/5/in", path.Draw(rt, "link"))) // may fail: then there is one link less
		}
		w, err := Open(filepath.Join(base, "in"))
		if err != nil {
			rt.Fatal(err)
		}
		p := path.Draw(rt, "path")
		abs, inside, err := w.Resolve(p)
		if err != nil {
			return // a loop
		}
		if again, stillInside, err := w.Resolve(abs); again != abs || stillInside != inside || err != nil {
			rt.Errorf("%s resolves to %s, and that to %s, %t, %v", p, abs, again, stillInside, err)
		}
		if kernel, err := filepath.EvalSymlinks(w.Root() + "/" + p); err == nil && kernel != abs {
			rt.Errorf("%s resolves to %s, the kernel finds %s", p, abs, kernel)
		}
		rel, err := filepath.Rel(w.Root(), abs)
		if inside != (err == nil && filepath.IsLocal(rel)) {
			rt.Errorf("%s resolves to %s, inside %t", p, abs, inside)
		}
		writeErr := w.WriteText(abs, "written")
		if !inside && !errors.Is(writeErr, ErrOutside) {
			rt.Errorf("writing %s: %v, want ErrOutside", abs, writeErr)
		}
		filepath.WalkDir(filepath.Join(base, "out"), func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && file != filepath.Join(base, "out/x.txt") {
				rt.Errorf("%s appeared", file)
			}
			return nil
		})
		if secret, _ := os.ReadFile(filepath.Join(base, "out/x.txt")); string(secret) != "secret" {
			rt.Errorf("the secret is now %q", secret)
		}
	})
}
