package config

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestLoad plays testdata/load: the files below home/ and project/ are laid out,
// `env` is the environment, `refs` are resolved, and `want` is what comes out.
func TestLoad(t *testing.T) {
	golden(t, "testdata/load/*.txtar", func(t *testing.T, files map[string]string, root string) map[string]string {
		env := map[string]string{}
		for line := range strings.Lines(files["env"]) {
			k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
			env[k] = v
		}
		c, err := Load(Options{
			Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project"),
			Getenv: func(k string) string { return env[k] },
		})
		if err != nil {
			return map[string]string{"want": "error: " + err.Error() + "\n"}
		}
		return map[string]string{"want": render(c, strings.Fields(files["refs"]))}
	})
}

// golden runs one test per archive in its own folder and compares the sections
// that run returns, in which the folder is written $ROOT.
func golden(t *testing.T, pattern string, run func(t *testing.T, files map[string]string, root string) map[string]string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
				if strings.Contains(f.Name, "/") && !strings.HasPrefix(f.Name, "want/") {
					put(t, filepath.Join(root, f.Name), string(f.Data))
				}
			}
			got := run(t, files, root)
			for name, text := range got {
				got[name] = strings.ReplaceAll(text, root, "$ROOT")
			}
			if *update {
				rewrite(t, path, archive, got)
				return
			}
			for name := range files {
				if _, ok := got[name]; !ok && strings.HasPrefix(name, "want") {
					t.Errorf("section %s was not produced", name)
				}
			}
			for name, text := range got {
				if diff := cmp.Diff(files[name], text); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func rewrite(t *testing.T, path string, archive *txtar.Archive, got map[string]string) {
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want") })
	for _, name := range slices.Sorted(maps.Keys(got)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	put(t, path, string(txtar.Format(archive)))
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// render is a Config as text, one thing a line.
func render(c *Config, references []string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("default_model %q", c.DefaultModel)
	line("agent coalesce=%t max_steps=%d", c.Agent.Coalesce, c.Agent.MaxSteps)
	if a := c.Agent; a.TaskTime != 0 || a.TaskTokens != 0 || a.Retry != time.Minute {
		line("  task_time=%v task_tokens=%d retry=%v", a.TaskTime, a.TaskTokens, a.Retry)
	}
	for _, p := range c.Providers {
		line("provider %s kind=%s base_url=%s models=%q default=%q key=%s file=%s from %s",
			p.Name, p.Kind, p.BaseURL, p.Models, p.Default, p.APIKeyEnv, p.File, filepath.Base(p.Source))
		if p.Window != 0 || p.MaxOutput != 0 {
			line("  window=%d max_output=%d", p.Window, p.MaxOutput)
		}
		for _, name := range slices.Sorted(maps.Keys(p.ExtraBody)) {
			line("  body %s: %s", name, p.ExtraBody[name])
		}
		for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
			line("  header %s: %s", h, p.Headers[h].Reveal())
		}
	}
	for _, w := range c.Warnings {
		line("warning: %s", w)
	}
	for _, ref := range references {
		if ref == "default" {
			ref = ""
		}
		m, err := c.Resolve(ref)
		if err != nil {
			line("%q: error: %v", ref, err)
			continue
		}
		if err := c.CheckReady(m); err != nil {
			line("%q: %s, not ready: %v", ref, m, err)
			continue
		}
		p, _ := c.Provider(m.Provider)
		key, _ := c.Secret(p.APIKeyEnv)
		line("%q: %s, ready, key %q", ref, m, key.Reveal())
	}
	return b.String()
}

func TestLoadRefusesFilesThatAreNotText(t *testing.T) {
	for name, c := range map[string]struct {
		make       func(path string) error
		want, mend string
		line       int
	}{
		"folder": {
			make: func(p string) error { return os.Mkdir(p, 0o700) },
			want: "is not a regular file", mend: "move it away",
		},
		"large": {
			make: func(p string) error { return os.WriteFile(p, make([]byte, maxFile+1), 0o600) },
			want: "is larger than 1048576 bytes", mend: "shorten it or move it away",
		},
		"latin-1": {
			make: func(p string) error { return os.WriteFile(p, []byte("# ok\n# caf\xe9\n"), 0o600) },
			want: "is not UTF-8", mend: "save it as UTF-8, or mend the file or move it away", line: 2,
		},
		"utf-16": {
			make: func(p string) error { return os.WriteFile(p, []byte("\xff\xfea\x00"), 0o600) },
			want: "is not UTF-8", mend: "save it as UTF-8, or mend the file or move it away", line: 1,
		},
		"link to nowhere": {
			make: func(p string) error { return os.Symlink(p+".gone", p) },
		},
		"link to itself": {
			make: func(p string) error { return os.Symlink(p, p) },
			want: "cannot be read: too many levels of symbolic links", mend: "check its permissions or move it away",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, which := range []string{"home/config.toml", "project/reasonix.toml"} {
				root := t.TempDir()
				file := filepath.Join(root, which)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := c.make(file); err != nil {
					t.Fatal(err)
				}
				_, err := Load(Options{Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project")})
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				got := asFileError(t, err)
				want := FileError{File: file, Line: c.line, Message: c.want, Mend: c.mend, Err: got.Err}
				if *got != want {
					t.Errorf("got %+v, want %+v", *got, want)
				}
			}
		})
	}
}

func TestLoadUnreadable(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, userFile)
	if err := os.Mkdir(file, 0o700); err != nil { // modes stop nothing when the tests run as root
		t.Fatal(err)
	}
	_, err := Load(Options{Home: home})
	if e := asFileError(t, err); e.File != file {
		t.Error(err)
	}
}

func TestSyntaxErrorPosition(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, userFile), "a = 1\n\nb = = 2\n")
	_, err := Load(Options{Home: home})
	e := asFileError(t, err)
	if e.Line != 3 || e.Col != 5 {
		t.Errorf("got line %d, column %d, want 3, 5", e.Line, e.Col)
	}
}

func TestDepthThatIsFine(t *testing.T) {
	for _, text := range []string{
		"[a.a.a.a]\nb.b.b.b = [[{c.c.c.c.c = 1}, {c.c.c.c.c = 1}]]\n",
		"x = [" + strings.Repeat("0.5, ", 100) + "]\n",
		"# " + strings.Repeat("a.", 100) + strings.Repeat("[", 100) + "\nx = '" + strings.Repeat("{.", 100) + "'\n",
	} {
		if _, err := parseDocument("f", text); err != nil {
			t.Error(err)
		}
	}
}

// A project file must not be able to take the memory or the time of the agent.
func TestLoadBoundsHostileFiles(t *testing.T) {
	for name, text := range map[string]string{
		"dotted key":     strings.Repeat("a.", 20000) + "a = 1\n",
		"dotted table":   "[" + strings.Repeat("a.", 20000) + "a]\n",
		"dotted inline":  "x = {" + strings.Repeat("a.", 20000) + "a = 1}\n",
		"arrays":         "x = " + strings.Repeat("[", maxFile-10),
		"inline tables":  "x = " + strings.Repeat("{a = ", 20000),
		"all together":   "[a.a.a.a]\nb.b.b.b = [[{c.c.c.c.c = {d.d = 1}}]]\n",
		"behind strings": "s = \"\"\"\n[[[ \\\"\"\"\"\nx = ''' ]] '''\ny = " + strings.Repeat("[\n", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			put(t, filepath.Join(project, projectFile), text)
			_, err := Load(Options{Home: t.TempDir(), Project: project})
			if e := asFileError(t, err); !strings.Contains(e.Message, "nested more than 16 deep") || e.Line == 0 {
				t.Error(err)
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	home := t.TempDir()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	put(t, filepath.Join(home, userFile), b.String())
	c, err := Load(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Warnings); n != 21 || !strings.HasSuffix(c.Warnings[20], "4980 more warnings are not shown") {
		t.Errorf("%d warnings, last %q", n, c.Warnings[n-1])
	}
}

func TestTooManyProviders(t *testing.T) {
	home := t.TempDir()
	var b strings.Builder
	for i := range maxProviders + 1 {
		fmt.Fprintf(&b, "[[providers]]\nname = 'p%d'\nbase_url = 'http://localhost'\n", i)
	}
	put(t, filepath.Join(home, userFile), b.String())
	_, err := Load(Options{Home: home})
	if e := asFileError(t, err); e.Message != "there are more than 500 providers" {
		t.Error(err)
	}
}

func TestHomeDir(t *testing.T) {
	abs, err := filepath.Abs("rel")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ reasonix, home, want string }{
		{"/x/y", "/home/u", "/x/y"},
		{"", "/home/u", "/home/u/.reasonix"},
		{"~", "/home/u", "/home/u"},
		{"~/rx", "/home/u", "/home/u/rx"},
		{"~other/rx", "/home/u", filepath.Join(filepath.Dir(abs), "~other/rx")},
		{"rel", "", abs},
		{"", "", ""},
		{"~/rx", "", ""},
	} {
		got, err := HomeDir(func(k string) string {
			return map[string]string{"REASONIX_HOME": c.reasonix, "HOME": c.home, "USERPROFILE": c.home}[k]
		})
		if got != c.want {
			t.Errorf("HomeDir(%q, %q) = %q, want %q", c.reasonix, c.home, got, c.want)
		}
		if (err != nil) != (c.want == "") {
			t.Errorf("HomeDir(%q, %q): error %v", c.reasonix, c.home, err)
		}
	}
}

func TestLoadTakesHomeFromTheEnvironment(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, userFile), "default_model = 'a/b'\n")
	c, err := Load(Options{Getenv: func(k string) string { return map[string]string{"REASONIX_HOME": home}[k] }})
	if err != nil || c.DefaultModel != "a/b" || c.Home != home {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Load(Options{Getenv: func(string) string { return "" }}); err == nil {
		t.Error("no home, no error")
	}
}

// FuzzLoad: whatever the bytes, Load answers with a configuration or with an
// error that names the file; nothing panics.
func FuzzLoad(f *testing.F) {
	seeds, _ := filepath.Glob("testdata/load/*.txtar")
	for _, path := range seeds {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Add([]byte("k=\"\"\"\\ a\"\"\""))
	f.Add([]byte("a.b = 1\n[[a.c]]\n['x\".y']\n\"\\e\" = [1,\n{b.c=[]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := t.TempDir()
		for _, name := range []string{userFile, projectFile, envFile} {
			if err := os.WriteFile(filepath.Join(root, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []Options{{Home: root, Project: root}, {Home: filepath.Join(root, "none"), Project: root}} {
			o.Getenv = func(string) string { return "" }
			c, err := Load(o)
			if err != nil {
				if e := asFileError(t, err); e.Mend == "" || !strings.HasPrefix(e.File, root) {
					t.Errorf("no mend or no file: %v", e)
				}
				continue
			}
			for _, m := range c.Models() {
				if again, err := c.Resolve(m.String()); err != nil || again != m {
					t.Errorf("%s resolves to %s, %v", m, again, err)
				}
				_ = c.CheckReady(m)
			}
			_, _ = c.Resolve("")
			_, _ = c.Secret("KEY")
		}
	})
}
