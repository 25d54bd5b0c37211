package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// garden is a workspace to search in.
func garden(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws, _ := beside(t)
	for name, text := range map[string]string{
		".gitignore":       "*.log\n/vendor/\n",
		"main.go":          "package main\n\n// TODO: all\nfunc main() {}\n",
		"src/a.go":         "package src\r\n// todo: a\r\n",
		"src/deep/b_x.go":  "package deep // TODO\n",
		"src/deep/c.ts":    "let x = 1 // TODO\n",
		"src/run.log":      "TODO\n",
		"vendor/v.go":      "// TODO\n",
		"node/.gitignore":  "*\n!keep.go\n",
		"node/keep.go":     "// TODO keep\n",
		"node/drop.go":     "// TODO drop\n",
		"bin":              "TODO\x00",
		"latin.txt":        "TODO caf\xe9\n",
		"cyrillic.txt":     "TODO \xdd\xf2\xee \xf2\xe5\xf1\xf2\n",
		"utf16.txt":        "\xff\xfeT\x00O\x00D\x00O\x00\n\x00",
		"long.txt":         strings.Repeat("é", 400) + "TODO" + strings.Repeat("x", 400) + "\n" + "TODO" + strings.Repeat("y", 400),
		"bad\xff.txt":      "TODO\n",
		"new\nline/é.txt":  "TODO\n",
		".git/config":      "TODO\n",
		"src/.hidden/h.go": "// TODO h\n",
	} {
		file := filepath.Join(ws.Root(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("..", filepath.Join(ws.Root(), "src/loop")), os.Symlink("../out/a.txt", filepath.Join(ws.Root(), "away"))); err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestLs(t *testing.T) {
	ws := garden(t)
	tests := []struct{ args, want string }{
		{`{"path":"src"}`, ".hidden/\na.go (25)\ndeep/\nloop -> ..\nrun.log (5)"},
		{`{"path":"vendor"}`, "v.go (8)"},
		{`{}`, ".git/\n.gitignore (15)\na.txt (7)\naway -> ../out/a.txt\n\"bad\\xff.txt\" (5)\nbin (5)\ncyrillic.txt (14)\nlatin.txt (10)\nlong.txt (1609)\nmain.go (42)\n\"new\\nline\"/\nnode/\nsrc/\nutf16.txt (12)\nvendor/"},
		{`{"path":""}`, ".git/\n.gitignore (15)\na.txt (7)\naway -> ../out/a.txt\n\"bad\\xff.txt\" (5)\nbin (5)\ncyrillic.txt (14)\nlatin.txt (10)\nlong.txt (1609)\nmain.go (42)\n\"new\\nline\"/\nnode/\nsrc/\nutf16.txt (12)\nvendor/"},
		{`{"path":"../out"}`, "a.txt (8)\nnul (1)"},
	}
	for _, test := range tests {
		if out, err := run(t, Ls(ws), test.args); err != nil || out.Text != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.args, err, out.Text, test.want)
		}
	}
	empty := open(t, nil)
	if out, err := run(t, Ls(empty), `{}`); err != nil || out.Text != "(the folder is empty)" {
		t.Errorf("%q, %v", out.Text, err)
	}
	for i := range maxNames + 5 {
		put(t, empty, fmt.Sprintf("f%04d", i), "")
	}
	out, err := run(t, Ls(empty), `{}`)
	if lines := strings.Split(out.Text, "\n"); err != nil || len(lines) != maxNames+1 || lines[0] != "f0000 (0)" || lines[maxNames] != "(5 more names)" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestGlob(t *testing.T) {
	ws := garden(t)
	tests := []struct{ args, want string }{
		{`{"pattern":"*.go"}`, "main.go\nnode/keep.go\nsrc/.hidden/h.go\nsrc/a.go\nsrc/deep/b_x.go"},
		{`{"pattern":"src/**/*.{go,ts}"}`, "src/.hidden/h.go\nsrc/a.go\nsrc/deep/b_x.go\nsrc/deep/c.ts"},
		{`{"pattern":"./src/*"}`, "src/.hidden/\nsrc/a.go\nsrc/deep/\nsrc/loop"},
		{`{"pattern":"deep/*","path":"src"}`, "src/deep/b_x.go\nsrc/deep/c.ts"},
		{`{"pattern":"?_[a-z].go"}`, "src/deep/b_x.go"},
		{`{"pattern":"deep/"}`, "src/deep/"},
		{`{"pattern":"*.log"}`, "(nothing matches)"},
		{`{"pattern":"*.go","path":"vendor"}`, "vendor/v.go"},
		{`{"pattern":"config"}`, "(nothing matches)"},
		{`{"pattern":"é.txt"}`, `"new\nline/é.txt"`},
		{`{"pattern":"bad*"}`, `"bad\xff.txt"`},
		{`{"pattern":"a.*","path":"../out"}`, filepath.Join(filepath.Dir(ws.Root()), "out/a.txt")},
	}
	for _, test := range tests {
		if out, err := run(t, Glob(ws), test.args); err != nil || out.Text != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.args, err, out.Text, test.want)
		}
	}
	many := open(t, nil)
	for i := range maxNames + 5 {
		put(t, many, fmt.Sprintf("f%04d", i), "")
	}
	out, err := run(t, Glob(many), `{"pattern":"**"}`)
	if lines := strings.Split(out.Text, "\n"); err != nil || len(lines) != maxNames+1 || lines[maxNames] != "(5 more names; narrow the pattern)" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestGrep(t *testing.T) {
	ws := garden(t)
	everywhere := "\"bad\\xff.txt\":1:TODO\ncyrillic.txt:1:TODO \xdd\xf2\xee \xf2\xe5\xf1\xf2\nlatin.txt:1:TODO café\n" +
		"long.txt:1:…" + strings.Repeat("é", 50) + "TODO" + strings.Repeat("x", 196) + "…\n" +
		"long.txt:2:TODO" + strings.Repeat("y", 296) + "…\n" +
		"main.go:3:// TODO: all\n\"new\\nline/é.txt\":1:TODO\nnode/keep.go:1:// TODO keep\nsrc/.hidden/h.go:1:// TODO h\nsrc/deep/b_x.go:1:package deep // TODO\nsrc/deep/c.ts:1:let x = 1 // TODO\nutf16.txt:1:TODO"
	tests := []struct{ args, want string }{
		{`{"pattern":"TODO"}`, everywhere},
		{`{"pattern":"(?i)todo: \\w$"}`, "src/a.go:2:// todo: a"},
		{`{"pattern":"^package","glob":"*.go","path":"src"}`, "src/a.go:1:package src\nsrc/deep/b_x.go:1:package deep // TODO"},
		{`{"pattern":"TODO","glob":"deep/**","path":"src"}`, "src/deep/b_x.go:1:package deep // TODO\nsrc/deep/c.ts:1:let x = 1 // TODO"},
		{`{"pattern":"TODO","path":"main.go"}`, "main.go:3:// TODO: all"},
		{`{"pattern":"TODO","path":"src/run.log","glob":"*.go"}`, "src/run.log:1:TODO"},
		{`{"pattern":"TODO","path":"vendor"}`, "vendor/v.go:1:// TODO"},
		{`{"pattern":"\\Apackage main\\z"}`, "main.go:1:package main"},
		{`{"pattern":"package\\s+//"}`, "(no line matches)"},
		{`{"pattern":"café"}`, "latin.txt:1:TODO café"},
		{`{"pattern":"side","path":"../out"}`, filepath.Join(filepath.Dir(ws.Root()), "out/a.txt") + ":1:outside"},
		{`{"pattern":"side","path":"away"}`, filepath.Join(filepath.Dir(ws.Root()), "out/a.txt") + ":1:outside"},
	}
	for _, test := range tests {
		if out, err := run(t, Grep(ws), test.args); err != nil || out.Text != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.args, err, out.Text, test.want)
		}
	}
	for args, want := range map[string]string{
		`{"pattern":"x","path":"bin"}`:       "bin is not a text file of at most 10 MiB",
		`{"pattern":"x","path":"none"}`:      "none does not exist",
		`{"pattern":"x","path":"/dev/null"}`: "/dev/null is not a regular file",
	} {
		if out, err := run(t, Grep(ws), args); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", args, out.Text, err)
		}
	}
}

func TestGrepBounds(t *testing.T) {
	ws := open(t, map[string]string{"a": strings.Repeat("hit\n", maxMatches), "b": "hit\n"})
	out, err := run(t, Grep(ws), `{"pattern":"hit"}`)
	if lines := strings.Split(out.Text, "\n"); err != nil || len(lines) != maxMatches+1 || lines[maxMatches] != "(stopped after 300 matching lines in 1 files; narrow the search)" {
		t.Errorf("%d lines, %v, %q", len(lines), err, lines[len(lines)-1])
	}
	put(t, ws, "a", strings.Repeat("hit"+strings.Repeat("x", 1000)+"\n", maxMatches))
	if out, err := run(t, Grep(ws), `{"pattern":"hit"}`); err != nil || len(out.Text) > maxRead+1000 || !strings.Contains(out.Text, "stopped after") {
		t.Errorf("%d bytes, %v", len(out.Text), err)
	}
	put(t, ws, "a", "hit\n"+strings.Repeat("x", workspace.MaxText))
	if out, err := run(t, Grep(ws), `{"pattern":"hit"}`); err != nil || out.Text != "b:1:hit" {
		t.Errorf("a file above the bound: %q, %v", out.Text, err)
	}
}

func TestSearchInvocations(t *testing.T) {
	ws := garden(t)
	root, out := ws.Root(), filepath.Join(filepath.Dir(ws.Root()), "out")
	src := filepath.Join(root, "src")
	inside := func(path string) permission.Access {
		return permission.Access{Kind: permission.Read, Paths: []string{path}}
	}
	tests := []struct {
		tool        Tool
		args, title string
		path        string
		access      permission.Access
	}{
		{Ls(ws), `{}`, "List .", root, inside(root)},
		{Ls(ws), `{"path":"src"}`, "List src", src, inside(src)},
		{Ls(ws), `{"path":"../out"}`, "List " + out, out, permission.Access{Kind: permission.Read, Paths: []string{out}, Outside: []string{out}}},
		{Glob(ws), `{"pattern":"*.go"}`, `Find "*.go"`, root, inside(root)},
		{Glob(ws), `{"pattern":"*.go","path":"src/loop/src"}`, `Find "*.go" in src`, src, inside(src)},
		{Grep(ws), `{"pattern":"TODO","path":"src"}`, `Search "TODO" in src`, src, inside(src)},
		{Grep(ws), `{"pattern":"a\nb"}`, `Search "a?b"`, root, inside(root)},
		{Grep(ws), `{"pattern":"x","path":"../out"}`, `Search "x" in ` + out, out, permission.Access{Kind: permission.Read, Paths: []string{out}, Outside: []string{out}}},
	}
	for _, test := range tests {
		inv, err := prepare(t, test.tool, test.args)
		if err != nil || inv.Run == nil {
			t.Errorf("%s %s: %v", test.tool.Name, test.args, err)
		}
		inv.Run = nil
		if d := cmp.Diff(Invocation{Title: test.title, Locations: []Location{{Path: test.path}}, Access: test.access}, inv); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.tool.Name, test.args, d)
		}
	}
}

func TestSearchErrors(t *testing.T) {
	ws := garden(t)
	ls, glob, grep := Ls(ws), Glob(ws), Grep(ws)
	const malformed = "pattern is malformed: a bracket, brace or backslash is not complete (put a backslash before one that is meant itself)"
	tests := []struct {
		tool              Tool
		args, want, title string
	}{
		{ls, `{"path":1}`, "path must be a string", "List a folder"},
		{glob, `{}`, "pattern is missing", "Find files"},
		{glob, `{"pattern":" "}`, "pattern is empty", `Find " "`},
		{glob, `{"pattern":"/etc/*"}`, "pattern must be relative; name the folder in path", `Find "/etc/*"`},
		{glob, `{"pattern":"../*"}`, `pattern must not contain ".."; name the folder in path`, `Find "../*"`},
		{glob, `{"pattern":"[a"}`, malformed, `Find "[a"`},
		{glob, `{"pattern":"{a,b"}`, malformed, `Find "{a,b"`},
		{glob, `{"pattern":"a","path":[]}`, "path must be a string", `Find "a"`},
		{grep, `{}`, "pattern is missing", "Search"},
		{grep, `{"pattern":""}`, "pattern is empty", `Search ""`},
		{grep, `{"pattern":"a("}`, "pattern is no regular expression of RE2: missing closing ): `a(` (put a backslash before a character that is meant itself)", `Search "a("`},
		{grep, `{"pattern":"a(?=b)"}`, "pattern is no regular expression of RE2: invalid or unsupported Perl syntax: `(?=` (RE2 has no look-around; search for more and sort it out)", `Search "a(?=b)"`},
		{grep, `{"pattern":"(a)\\1"}`, "pattern is no regular expression of RE2: invalid escape sequence: `\\1` (RE2 has no back-references)", `Search "(a)\1"`},
		{grep, `{"pattern":"a","glob":"[a"}`, strings.Replace(malformed, "pattern", "glob", 1), `Search "a"`},
		{grep, `{"pattern":"a","glob":1}`, "glob must be a string", `Search "a"`},
	}
	for _, test := range tests {
		if inv, err := prepare(t, test.tool, test.args); err == nil || err.Error() != test.want || inv.Title != test.title {
			t.Errorf("%s %s: title %q, error %v; want %q, %q", test.tool.Name, test.args, inv.Title, err, test.title, test.want)
		}
	}
	running := []struct {
		tool       Tool
		args, want string
	}{
		{ls, `{"path":"none"}`, "none does not exist"},
		{ls, `{"path":"main.go"}`, "main.go is not a directory"},
		{ls, `{"path":"/proc"}`, "/proc is not on a disk: the kernel makes it up"},
		{glob, `{"pattern":"*","path":"none"}`, "none does not exist"},
		{glob, `{"pattern":"*","path":"main.go"}`, "main.go is not a folder"},
	}
	for _, test := range running {
		if runtime.GOOS != "linux" && strings.Contains(test.args, "/proc") {
			continue
		}
		if out, err := run(t, test.tool, test.args); err == nil || err.Error() != test.want {
			t.Errorf("%s %s: %q, %v; want %q", test.tool.Name, test.args, out.Text, err, test.want)
		}
	}
}

func TestSearchCancelled(t *testing.T) {
	ws := garden(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range []Tool{Ls(ws), Glob(ws), Grep(ws)} {
		inv, err := prepare(t, tool, `{"pattern":"TODO"}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := inv.Run(ctx); err != context.Canceled {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

func TestMoveFile(t *testing.T) {
	ws, outside := beside(t)
	root := ws.Root()
	tests := []struct {
		source, destination string
		title, text         string
		outside             []string
	}{
		{"a.txt", "sub/b.txt", "Move a.txt to sub/b.txt", "Moved a.txt to sub/b.txt.", nil},
		{"sub", "other", "Move sub to other", "Moved sub to other.", nil},
		{"../out/a.txt", "c.txt", "Move " + outside + "/a.txt to c.txt", "Moved " + outside + "/a.txt to c.txt.", []string{outside + "/a.txt"}},
		{"c.txt", outside + "/x/c.txt", "Move c.txt to " + outside + "/x/c.txt", "Moved c.txt to " + outside + "/x/c.txt.", []string{outside + "/x/c.txt"}},
	}
	for _, test := range tests {
		args, _ := json.Marshal(map[string]any{"source": test.source, "destination": test.destination})
		inv, err := prepare(t, MoveFile(ws), string(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		abs := func(p string) string {
			if filepath.IsAbs(p) {
				return p
			}
			return filepath.Join(root, p)
		}
		paths := []string{abs(test.source), abs(test.destination)}
		want := Invocation{Title: test.title, Locations: []Location{{Path: paths[0]}, {Path: paths[1]}}, Access: permission.Access{Kind: permission.Edit, Paths: paths, Outside: test.outside}}
		run := inv.Run
		if inv.Run = nil; !cmp.Equal(want, inv) {
			t.Errorf("%s (-want +got):\n%s", args, cmp.Diff(want, inv))
		}
		if out, err := run(t.Context()); err != nil || out.Text != test.text {
			t.Errorf("%s: %q, %v", args, out.Text, err)
		}
		if _, err := os.Lstat(paths[1]); err != nil {
			t.Error(err)
		}
	}
	for args, want := range map[string]string{
		`{}`:                                              "source is missing",
		`{"source":"x"}`:                                  "destination is missing",
		`{"source":"x","destination":7}`:                  "destination must be a string",
		`{"source":"x","destination":""}`:                 "destination: path is empty",
		`{"source":"none","destination":"y"}`:             "none does not exist",
		`{"source":"other","destination":"other/x"}`:      "other cannot be moved into itself",
		`{"source":"other/b.txt","destination":"other/"}`: "other exists; it is not overwritten",
		`{"source":".","destination":"x"}`:                ". is or holds the workspace",
	} {
		if _, err := prepare(t, MoveFile(ws), args); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	inv, err := prepare(t, MoveFile(ws), `{"source":"../out/none","destination":"y"}`)
	if err != nil || inv.Run == nil {
		t.Fatalf("what is outside was told before it was allowed: %v", err)
	}
	if _, err := inv.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
}
