package config

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"
)

// TestWrite plays testdata/write: `provider` is a NewProvider as JSON with `Key`
// as a text and `MakeDefault`, and the want sections are the two files after it.
func TestWrite(t *testing.T) {
	golden(t, "testdata/write/*.txtar", func(t *testing.T, files map[string]string, root string) map[string]string {
		home := filepath.Join(root, "home")
		var in struct {
			Name, Kind, BaseURL, Default, APIKeyEnv, Key string
			Models                                       []string
			MakeDefault                                  bool
		}
		if err := json.Unmarshal([]byte(files["provider"]), &in); err != nil {
			t.Fatal(err)
		}
		err := WriteProvider(home, NewProvider{
			Name: in.Name, Kind: in.Kind, BaseURL: in.BaseURL, Models: in.Models, Default: in.Default,
			APIKeyEnv: in.APIKeyEnv, Key: NewSecret(in.Key),
		}, in.MakeDefault)
		if err != nil {
			for _, name := range []string{userFile, envFile} {
				if after := get(t, filepath.Join(home, name)); after != files["home/"+name] {
					t.Errorf("%s was changed to %q", name, after)
				}
			}
			return map[string]string{"want-error": err.Error() + "\n"}
		}
		noLeftovers(t, home)
		if _, err := Load(Options{Home: home}); err != nil {
			t.Error(err)
		}
		return map[string]string{
			"want/config.toml": get(t, filepath.Join(home, userFile)),
			"want/.env":        get(t, filepath.Join(home, envFile)),
		}
	})
}

// get reads a file; one that does not exist is empty.
func get(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func noLeftovers(t testing.TB, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What an archive cannot hold: unclosed lines, Windows newlines, byte order marks.
func TestEditKeepsTheKindOfText(t *testing.T) {
	p := NewProvider{Name: "b", Kind: KindOpenAI, BaseURL: "http://localhost", Models: []string{"m"}}
	const block = "[[providers]]\nname = \"b\"\nkind = \"openai\"\nbase_url = \"http://localhost\"\nmodels = [\"m\"]\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "default_model = \"b/m\"\n\n" + block},
		"mark only":      {"\ufeff", "\ufeffdefault_model = \"b/m\"\n\n" + block},
		"unclosed key":   {"x = 1", "x = 1\ndefault_model = \"b/m\"\n\n" + block},
		"unclosed note":  {"# x", "default_model = \"b/m\"\n\n# x\n\n" + block},
		"unclosed table": {"\ufeff[x] # y", "\ufeffdefault_model = \"b/m\"\n\n[x] # y\n\n" + block},
		"windows": {
			"# x\r\ndefault_model = 'b' # y\r\n\r\n[[providers]]\r\nname = 'b'\r\nbase_url = 'http://localhost'\r\n# z\r\ndefault = 'n'",
			"# x\r\ndefault_model = 'b' # y\r\n\r\n[[providers]]\r\nname = \"b\"\r\nkind = \"openai\"\r\nmodels = [\"m\"]\r\nbase_url = \"http://localhost\"\r\n# z\r\n",
		},
		"name comes last": {
			"default_model = 'b'\n[[providers]]\nbase_url = 'http://localhost'\nname = 'b'",
			"default_model = 'b'\n[[providers]]\nbase_url = \"http://localhost\"\nname = \"b\"\nkind = \"openai\"\nmodels = [\"m\"]",
		},
	} {
		doc, err := parseDocument(userFile, c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := editConfig(doc, p, false)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var deepseek = NewProvider{
	Name: "deepseek", BaseURL: "https://api.deepseek.com", Models: []string{"m"},
	APIKeyEnv: "DEEPSEEK_API_KEY", Key: NewSecret("sk-1"),
}

func TestWriteProviderModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for _, old := range []bool{false, true} {
		home := filepath.Join(t.TempDir(), "a", "b")
		if old {
			put(t, filepath.Join(home, userFile), "")
			put(t, filepath.Join(home, envFile), "A=1\n")
			if err := os.Chmod(home, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteProvider(home, deepseek, false); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{"": 0o700, userFile: 0o600, envFile: 0o600} {
			info, err := os.Stat(filepath.Join(home, path))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("old=%t %q: mode %v, %v", old, path, info.Mode(), err)
			}
		}
	}
}

func TestWriteProviderFollowsLinks(t *testing.T) {
	dotfiles := homeWith(t, map[string]string{"rx.toml": "# kept\n"})
	home := t.TempDir()
	if err := os.Symlink(filepath.Join(dotfiles, "rx.toml"), filepath.Join(home, userFile)); err != nil {
		t.Skip(err)
	}
	if err := WriteProvider(home, deepseek, false); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(home, userFile)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if text := get(t, filepath.Join(dotfiles, "rx.toml")); !strings.HasPrefix(text, "default_model") || !strings.Contains(text, "# kept\n") {
		t.Error(text)
	}
	noLeftovers(t, dotfiles)
}

// Whatever goes wrong, neither file is half written.
func TestWriteProviderAllOrNothing(t *testing.T) {
	const config = "# mine\n"
	for name, breakIt := range map[string]func(home string) error{
		".env is a folder":   func(home string) error { return os.Mkdir(filepath.Join(home, envFile), 0o700) },
		".env is a loop":     func(home string) error { return os.Symlink(envFile, filepath.Join(home, envFile)) },
		".env leads nowhere": func(home string) error { return os.Symlink("gone/x", filepath.Join(home, envFile)) },
		".env is not text":   func(home string) error { return os.WriteFile(filepath.Join(home, envFile), []byte{0xff}, 0o600) },
		".env is large": func(home string) error {
			return os.WriteFile(filepath.Join(home, envFile), make([]byte, maxFile+1), 0o600)
		},
		"home cannot be made":  nil,
		"config.toml is large": func(home string) error { return os.Truncate(filepath.Join(home, userFile), maxFile-10) },
	} {
		t.Run(name, func(t *testing.T) {
			home := homeWith(t, map[string]string{userFile: config})
			if breakIt == nil {
				home = filepath.Join(home, userFile, "below-a-file")
			} else if err := breakIt(home); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(filepath.Join(home, userFile))
			if err := WriteProvider(home, deepseek, true); err == nil {
				t.Fatal("no error")
			}
			after, _ := os.ReadFile(filepath.Join(home, userFile))
			if string(after) != string(before) {
				t.Errorf("config.toml became %q", after)
			}
			noLeftovers(t, home)
		})
	}
}

func TestWriteProviderRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(p *NewProvider)
		want   string
	}{
		{func(p *NewProvider) { p.Name = "" }, "the name must start"},
		{func(p *NewProvider) { p.Name = "Deep" }, "the name must start"},
		{func(p *NewProvider) { p.Name = "1x" }, "the name must start"},
		{func(p *NewProvider) { p.Name = "a/b" }, "the name must start"},
		{func(p *NewProvider) { p.Name = "a\n" }, "the name must start"},
		{func(p *NewProvider) { p.Name = "offline" }, "the name must start"},
		{func(p *NewProvider) { p.Name = strings.Repeat("a", 300) }, "the name must start"},
		{func(p *NewProvider) { p.Kind = "scripted" }, `unknown kind "scripted"; use "openai"`},
		{func(p *NewProvider) { p.BaseURL = "" }, "base URL: expected an http or https URL"},
		{func(p *NewProvider) { p.BaseURL = "ftp://x" }, "base URL: expected an http or https URL"},
		{func(p *NewProvider) { p.BaseURL = "http://x\n" }, "base URL: expected an http or https URL"},
		{func(p *NewProvider) { p.BaseURL = "http://x/\xff" }, "base URL: it is not UTF-8"},
		{func(p *NewProvider) { p.BaseURL = "http://u:hunter2@x" }, "base URL: the URL holds a user name or password"},
		{func(p *NewProvider) { p.Models = []string{""} }, "a model id is empty"},
		{func(p *NewProvider) { p.Models = []string{"a\nb"} }, "a model id is empty"},
		{func(p *NewProvider) { p.Models = []string{"\xff"} }, "a model id is empty"},
		{func(p *NewProvider) { p.Default = "\x00" }, "a model id is empty"},
		{func(p *NewProvider) { p.Default = "other" }, `the default "other" is not one of the models`},
		{func(p *NewProvider) { p.APIKeyEnv = "" }, "a key needs the name of its variable"},
		{func(p *NewProvider) { p.APIKeyEnv = "sk-hunter2" }, "the variable's name must consist of"},
		{func(p *NewProvider) { p.Key = NewSecret("hunter2\n") }, "the key holds a newline"},
		{func(p *NewProvider) { p.Key = NewSecret("hunter2\x1b") }, "the key holds a newline"},
		{func(p *NewProvider) { p.Key = NewSecret("hunter2\xff") }, "the key holds a newline"},
	} {
		home := filepath.Join(t.TempDir(), "home")
		p := deepseek
		c.change(&p)
		err := WriteProvider(home, p, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if _, err := os.Stat(home); err == nil {
			t.Error("the folder was made")
		}
	}
}

func drawProvider(t *rapid.T) NewProvider {
	text := rapid.StringMatching(`[^\pC]{1,20}`)
	p := NewProvider{
		Name:    rapid.StringMatching(`[a-z][a-z0-9_-]{0,8}`).Filter(func(s string) bool { return s != OfflineProvider }).Draw(t, "name"),
		BaseURL: "https://host/" + rapid.StringMatching(`[a-z0-9'"#=\[\]é-]{0,20}`).Draw(t, "path"),
		Models:  rapid.SliceOfNDistinct(text, 0, 4, rapid.ID[string]).Draw(t, "models"),
	}
	if len(p.Models) == 0 {
		p.Models = nil
		p.Default = rapid.OneOf(rapid.Just(""), text).Draw(t, "default")
	} else if rapid.Bool().Draw(t, "has default") {
		p.Default = rapid.SampledFrom(p.Models).Draw(t, "default")
	}
	if rapid.Bool().Draw(t, "has key") {
		p.APIKeyEnv = rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,8}`).Draw(t, "env")
		p.Key = NewSecret(rapid.OneOf(text, rapid.StringMatching("['\"$`\\\\ #=a]{1,8}")).Draw(t, "key"))
	}
	return p
}

// What is written comes back, one after the other, and the earlier ones stay.
func TestWriteProviderRoundTrip(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		home := filepath.Join(root, fmt.Sprint(n))
		want := map[string]NewProvider{}
		keys := map[string]Secret{}
		for range rapid.IntRange(1, 4).Draw(t, "providers") {
			p := drawProvider(t)
			makeDefault := rapid.Bool().Draw(t, "make default")
			if err := WriteProvider(home, p, makeDefault); err != nil {
				t.Fatal(err)
			}
			want[p.Name] = p
			if p.APIKeyEnv != "" {
				keys[p.APIKeyEnv] = p.Key
			}
			c, err := Load(Options{Home: home, Getenv: func(string) string { return "" }})
			if err != nil {
				t.Fatal(err)
			}
			if makeDefault && c.DefaultModel != p.ref() || c.DefaultModel == "" {
				t.Fatalf("default_model is %q", c.DefaultModel)
			}
			if len(c.Providers) != len(want) || len(c.Warnings) > 0 {
				t.Fatalf("got %+v, warnings %q", c.Providers, c.Warnings)
			}
			for _, got := range c.Providers {
				w := want[got.Name]
				wp := Provider{Name: w.Name, Kind: KindOpenAI, BaseURL: w.BaseURL, Models: w.Models, Default: w.Default, APIKeyEnv: w.APIKeyEnv}
				if diff := cmp.Diff(wp, got, cmpopts.IgnoreUnexported(Provider{}), cmpopts.IgnoreFields(Provider{}, "Source")); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
			for env, key := range keys {
				if got, err := c.Secret(env); err != nil || !got.Equal(key) {
					t.Fatalf("key %q came back as %q, %v", key.Reveal(), got.Reveal(), err)
				}
			}
		}
	})
}

// FuzzEdit: whatever config.toml holds, an edit either refuses and names the
// file, or yields a file with the provider and all the rest.
func FuzzEdit(f *testing.F) {
	for _, pattern := range []string{"testdata/load/*.txtar", "testdata/write/*.txtar"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			for _, file := range archive.Files {
				if strings.HasSuffix(file.Name, ".toml") {
					f.Add(string(file.Data), "deepseek", "https://api.deepseek.com", true)
					f.Add(string(file.Data), "a", "http://localhost", false)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, name, baseURL string, makeDefault bool) {
		doc, err := parseDocument(userFile, text)
		p := NewProvider{Name: name, Kind: KindOpenAI, BaseURL: baseURL, Models: []string{"m"}, APIKeyEnv: "K"}
		if err != nil || p.check() != nil {
			return
		}
		edited, err := editConfig(doc, p, makeDefault)
		if err != nil {
			if e := asFileError(t, err); e.Mend == "" || e.File != userFile {
				t.Errorf("no mend or no file: %v", err)
			}
			return
		}
		again, err := parseDocument(userFile, edited)
		if err != nil {
			t.Fatal(err)
		}
		if rest(again.root, name) != rest(doc.root, name) {
			t.Errorf("the rest changed: %q became %q", text, edited)
		}
		twice, err := editConfig(again, p, makeDefault)
		if err != nil || twice != edited {
			t.Errorf("not stable: %q, then %q, %v", edited, twice, err)
		}
	})
}

// Lines in messages come from our own scan: it has to see every key that the
// library sees, where the library is content with the file.
func FuzzLayout(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data))
		}
	}
	f.Add("a='''\n#'''\n\"b\" = [ #]\n]\n[[c.d]]\n'e.f'.g={h=\"}\"}\r\n")
	f.Add("a = \"\"\"x\\\"\"\"\"\"\nb=''''y'''''\nc=1")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parseDocument("f", text)
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for key := range doc.root {
			line := doc.layout.line(key)
			if strings.ContainsAny(key, "\x00\x01\"'\\") || strings.Contains(text, `\`) {
				continue // a key with escapes may have no line
			}
			if line < 1 || line > lines {
				t.Errorf("key %q is on line %d of %q", key, line, text)
			}
		}
		for _, st := range doc.layout.statements {
			if st.start > st.end || st.end > len(text) || st.kind == pairStatement && (st.value < st.start || st.value > st.end) {
				t.Errorf("statement %+v of %q", st, text)
			}
			if at := strings.Count(text[:st.start], "\n") + 1; at != st.line {
				t.Errorf("statement %+v is on line %d of %q", st, at, text)
			}
		}
	})
}
