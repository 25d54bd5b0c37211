package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEnvLines(t *testing.T) {
	for _, c := range []struct {
		line string
		want envLine
	}{
		{"", envLine{}},
		{"  \t\r\n", envLine{}},
		{"# KEY=VALUE", envLine{}},
		{"KEY=value\n", envLine{key: "KEY", value: "value"}},
		{"KEY=value\r\n", envLine{key: "KEY", value: "value"}},
		{"  KEY = value  ", envLine{key: "KEY", value: "value"}},
		{"KEY=", envLine{key: "KEY"}},
		{"KEY=\"\"", envLine{key: "KEY"}},
		{"_k9=v", envLine{key: "_k9", value: "v"}},
		{"export KEY=value", envLine{export: true, key: "KEY", value: "value"}},
		{"export\tKEY=value", envLine{export: true, key: "KEY", value: "value"}},
		{"export=value", envLine{key: "export", value: "value"}},
		{"exportKEY=value", envLine{key: "exportKEY", value: "value"}},
		{"KEY=a=b==", envLine{key: "KEY", value: "a=b=="}},
		{"KEY=a b", envLine{key: "KEY", value: "a b"}},
		{"KEY=a#b", envLine{key: "KEY", value: "a#b"}},
		{"KEY=a #b", envLine{key: "KEY", value: "a"}},
		{"KEY= # only a comment", envLine{key: "KEY"}},
		{"KEY='a # b' # c", envLine{key: "KEY", value: "a # b"}},
		{`KEY="a # b"# c`, envLine{key: "KEY", value: "a # b"}},
		{`KEY='a\n$B"'`, envLine{key: "KEY", value: `a\n$B"`}},
		{`KEY="a\n\r\t\"\\\$\` + "`" + `\z$B'"`, envLine{key: "KEY", value: "a\n\r\t\"\\$`\\z$B'"}},
		{"KEY=$OTHER", envLine{key: "KEY", value: "$OTHER"}},
		{"KEY=it's", envLine{key: "KEY", value: "it's"}},
		{"KEY='open", envLine{bad: true}},
		{`KEY="open\"`, envLine{bad: true}},
		{`KEY="open\`, envLine{bad: true}},
		{"KEY='a' b", envLine{bad: true}},
		{"KEY: value", envLine{bad: true}},
		{"KEY", envLine{bad: true}},
		{"=value", envLine{bad: true}},
		{"9KEY=value", envLine{bad: true}},
		{"MY-KEY=value", envLine{bad: true}},
		{"export KEY", envLine{bad: true}},
		{"{\"KEY\":\"=\"}", envLine{bad: true}},
	} {
		if diff := cmp.Diff(c.want, parseEnvLine(c.line), cmp.AllowUnexported(envLine{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
	}
}

func TestLookupEnv(t *testing.T) {
	text := "\ufeffFIRST=1\nTWICE=old\n???\nTWICE=new\nLAST=no newline"
	for name, want := range map[string]string{"FIRST": "1", "TWICE": "new", "LAST": "no newline", "NONE": ""} {
		if got, bad := lookupEnv(text, name); got != want || bad != 3 {
			t.Errorf("%s: %q, line %d", name, got, bad)
		}
	}
}

func TestSetEnv(t *testing.T) {
	for _, c := range []struct{ name, text, value, want string }{
		{"new file", "", "v", "KEY=v\n"},
		{"appended", "A=1\n", "v", "A=1\nKEY=v\n"},
		{"unclosed last line", "A=1", "v", "A=1\nKEY=v\n"},
		{"replaced", "# c\n\nKEY = 'old' # mine\nB=2\n", "v", "# c\n\nKEY=v\nB=2\n"},
		{"export stays", "export KEY=old\n", "v", "export KEY=v\n"},
		{"repeated", "KEY=a\nB=2\nKEY=b\n", "v", "KEY=v\nB=2\n"},
		{"windows", "A=1\r\nKEY=old\r\nB=2\r\n", "v", "A=1\r\nKEY=v\r\nB=2\r\n"},
		{"others with similar names", "KEY2=1\nMY_KEY=2\n#KEY=3\n???\n", "v", "KEY2=1\nMY_KEY=2\n#KEY=3\n???\nKEY=v\n"},
		{"quoted", "", "a b", "KEY='a b'\n"},
		{"both quotes", "", `a'b"$c\` + "`", "KEY=\"a'b\\\"\\$c\\\\\\`\"\n"},
		{"comment sign", "", "a #b", "KEY='a #b'\n"},
	} {
		if got := setEnv(c.text, "KEY", c.value); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEnvRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[^\r]{0,40}`).Draw(t, "text")
		value := rapid.StringMatching(`[ -~é€]{0,20}`).Draw(t, "value")
		edited := setEnv(text, "KEY", value)
		if got, _ := lookupEnv(edited, "KEY"); got != value {
			t.Fatalf("%q became %q in %q", value, got, edited)
		}
		if again := setEnv(edited, "KEY", value); again != edited {
			t.Fatalf("not stable: %q, %q", edited, again)
		}
	})
}

// People also source .env in a shell.
func TestEnvValuesMeanTheSameInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	for _, value := range []string{"plain", "a b", "it's", `it's "$HOME" \n ` + "`x`", `$HOME`, `\`, "#", "é", "~", "a;b", "*"} {
		home := homeWith(t, map[string]string{envFile: setEnv("", "KEY", value)})
		out, err := exec.Command(sh, "-c", `. "$1"; printf %s "$KEY"`, "sh", filepath.Join(home, envFile)).CombinedOutput()
		if err != nil || string(out) != value {
			t.Errorf("%q: %q, %v", value, out, err)
		}
	}
}

func TestSecretIsReadAnew(t *testing.T) {
	home := homeWith(t, map[string]string{envFile: "KEY=one\n"})
	c, err := Load(Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		put(t, filepath.Join(home, envFile), "KEY="+want+"\n")
		if got, err := c.Secret("KEY"); err != nil || got.Reveal() != want {
			t.Errorf("got %q, %v, want %q", got.Reveal(), err, want)
		}
	}
	if got, err := c.Secret(""); err != nil || !got.IsZero() {
		t.Errorf("empty name: %v, %v", got, err)
	}
}

func TestSecretReportsABrokenFile(t *testing.T) {
	home := homeWith(t, map[string]string{envFile: "A=1\n\xff=2\n"})
	c, err := Load(Options{Home: home, Getenv: func(k string) string {
		return map[string]string{"SET": "v"}[k]
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Secret("SET"); err != nil || s.Reveal() != "v" {
		t.Errorf("the environment needs no file: %v, %v", s, err)
	}
	_, err = c.Secret("A")
	if e := asFileError(t, err); e.File != filepath.Join(home, envFile) || e.Line != 2 || e.Mend == "" {
		t.Error(err)
	}
}

func TestNothingPrintsASecret(t *testing.T) {
	home := homeWith(t, map[string]string{
		envFile: "KEY=hush-file\n",
		userFile: "[[providers]]\nname = 'p'\nbase_url = 'http://localhost'\nmodels = ['m']\napi_key_env = 'KEY'\n" +
			"api_key = 'hush-literal'\nheaders = { X-Key = 'hush-header' }\n",
	})
	c, err := Load(Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Secret("KEY")
	if err != nil || key.Reveal() != "hush-file" {
		t.Fatal(key.Reveal(), err)
	}
	p, _ := c.Provider("p")
	if p.Headers["X-Key"].Reveal() != "hush-header" {
		t.Error("the header is lost")
	}
	// fmt does not call the methods of unexported fields.
	hidden := struct{ key Secret }{key}
	written := NewProvider{Name: "p", Key: key}
	var out bytes.Buffer
	for _, v := range []any{c, *c, p, &p, key, &key, hidden, &hidden, written, []Secret{key}, map[string]Secret{"k": key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
	}
	data, err := json.Marshal([]any{p, key, written})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	for _, text := range []string{"hush", fmt.Sprintf("%x", "hush"), fmt.Sprintf("%X", "hush"), fmt.Sprint([]byte("hush"))[1:10]} {
		if strings.Contains(out.String(), text) {
			t.Errorf("the output contains %q:\n%s", text, out.String())
		}
	}
	if !strings.Contains(out.String(), redacted) || (Secret{}).String() != "" || !(Secret{}).IsZero() || !NewSecret("").IsZero() {
		t.Error("a set secret prints as [redacted], an unset one as nothing")
	}
	if !key.Equal(NewSecret("hush-file")) || key.Equal(Secret{}) {
		t.Error("Equal compares texts")
	}
}

func TestErrorsAreTold(t *testing.T) {
	home := homeWith(t, map[string]string{
		userFile: "[[providers]]\nname = 'p'\nbase_url = 'http://localhost'\nmodels = ['m']\napi_key_env = 'KEY'\n",
	})
	project := homeWith(t, map[string]string{
		projectFile: "[[providers]]\nname = 'q'\nbase_url = 'http://elsewhere'\napi_key_env = 'KEY'\n",
	})
	c, err := Load(Options{Home: home, Project: project, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	var missing *ErrNoKey
	if err := c.CheckReady(Model{"p", "m"}); !errors.As(err, &missing) || missing.Provider != "p" || missing.Env != "KEY" || missing.Withheld != "" {
		t.Errorf("missing key: %v", err)
	}
	if err := c.CheckReady(Model{"q", "x"}); !errors.As(err, &missing) || missing.Provider != "q" || missing.Env != "KEY" ||
		missing.Withheld != filepath.Join(project, projectFile) {
		t.Errorf("withheld key: %v", err)
	}
	var ref *RefError
	if err := c.CheckReady(Model{"gone", "m"}); !errors.As(err, &ref) || ref.Ref != "gone/m" || errors.Is(err, ErrNoProvider) {
		t.Errorf("provider that is gone: %v", err)
	}
	empty := &Config{}
	for _, name := range []string{"", "x", "x/y"} {
		if _, err := empty.Resolve(name); !errors.Is(err, ErrNoProvider) {
			t.Errorf("%q without providers: %v", name, err)
		}
	}
	long := strings.Repeat("é", 1<<20)
	if _, err := c.Resolve(long); !errors.As(err, &ref) || len(err.Error()) > 500 || ref.Ref != strings.Repeat("é", 100)+"…" {
		t.Errorf("a long reference makes an error of %d bytes", len(err.Error()))
	}
}
