package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

func open(t *testing.T, files map[string]string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, ws, name, text)
	}
	return ws
}

func put(t *testing.T, ws *workspace.Workspace, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(ws.Root(), name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, ws *workspace.Workspace, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(ws.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// prepare goes the way of a turn: from the raw arguments to the invocation.
func prepare(t *testing.T, tool Tool, args string) (Invocation, error) {
	t.Helper()
	parsed, err := ParseArgs(json.RawMessage(args))
	if err != nil {
		return Invocation{}, err
	}
	return tool.Prepare(t.Context(), parsed)
}

func run(t *testing.T, tool Tool, args string) (Output, error) {
	t.Helper()
	inv, err := prepare(t, tool, args)
	if err != nil {
		return Output{}, err
	}
	return inv.Run(t.Context())
}

func TestReadFile(t *testing.T) {
	ws := open(t, map[string]string{
		"README.md": "# Title\n\nText\n",
		"crlf.txt":  "a\r\nb\r\n",
		"open.txt":  "one\ntwo",
		"empty.txt": "",
		"long.txt":  strings.Repeat("é", 1001) + "\n",
		"blank.txt": "\n",
	})
	tests := []struct{ args, want string }{
		{`{"path":"README.md"}`, "     1\t# Title\n     2\t\n     3\tText\n"},
		{`{"path":"./README.md","offset":null,"limit":10.0,"extra":1}`, "     1\t# Title\n     2\t\n     3\tText\n"},
		{`{"path":"README.md","offset":1,"limit":1}`, "     2\t\n(lines left: 1; continue with offset 2)\n"},
		{`{"path":"README.md","offset":2}`, "     3\tText\n"},
		{`{"path":"README.md","offset":3}`, "(the file has 3 lines; nothing is left after offset 3)"},
		{`{"path":"crlf.txt"}`, "     1\ta\n     2\tb\n"},
		{`{"path":"open.txt"}`, "     1\tone\n     2\ttwo\n"},
		{`{"path":"empty.txt"}`, "(the file is empty)"},
		{`{"path":"blank.txt"}`, "     1\t\n"},
		{`{"path":"long.txt"}`, "     1\t" + strings.Repeat("é", 1000) + "…\n"},
	}
	for _, test := range tests {
		out, err := run(t, ReadFile(ws), test.args)
		if err != nil || out.Text != test.want || out.Diffs != nil {
			t.Errorf("%s: %q, %v; want %q", test.args, out.Text, err, test.want)
		}
	}
}

func TestReadFileInParts(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	ws := open(t, map[string]string{"many.txt": strings.Repeat(line, 5000)})
	lines, offset := 0, 0
	for parts := 0; offset < 5000 && parts < 50; parts++ {
		args, _ := json.Marshal(map[string]any{"path": "many.txt", "offset": offset})
		out, err := run(t, ReadFile(ws), string(args))
		if err != nil || len(out.Text) > 64<<10 {
			t.Fatalf("offset %d: %d bytes, %v", offset, len(out.Text), err)
		}
		n := strings.Count(out.Text, line)
		if n == 0 {
			t.Fatalf("offset %d: no line in %q", offset, out.Text)
		}
		lines, offset = lines+n, offset+n
	}
	if lines != 5000 {
		t.Errorf("%d lines in all parts, want 5000", lines)
	}
}

func TestReadFileInvocation(t *testing.T) {
	ws := open(t, map[string]string{"README.md": "x\n"})
	path := filepath.Join(ws.Root(), "README.md")
	tests := []struct {
		args string
		want Invocation
	}{
		{`{"path":"README.md"}`, Invocation{Title: "Read README.md", Locations: []Location{{Path: path}}, Access: permission.Access{Kind: permission.Read, Paths: []string{path}}}},
		{`{"path":"` + path + `","offset":9}`, Invocation{Title: "Read README.md from line 10", Locations: []Location{{path, 10}}, Access: permission.Access{Kind: permission.Read, Paths: []string{path}}}},
		{`{"path":"a\nb"}`, Invocation{Title: "Read a?b", Locations: []Location{{Path: filepath.Join(ws.Root(), "a\nb")}}, Access: permission.Access{Kind: permission.Read, Paths: []string{filepath.Join(ws.Root(), "a\nb")}}}},
	}
	for _, test := range tests {
		inv, err := prepare(t, ReadFile(ws), test.args)
		if err != nil || inv.Run == nil {
			t.Errorf("%s: %v", test.args, err)
		}
		inv.Run = nil
		if d := cmp.Diff(test.want, inv); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.args, d)
		}
	}
}

func TestErrors(t *testing.T) {
	ws := open(t, map[string]string{"a.txt": "a\n", "nul": "\x00"})
	read, write, todo := ReadFile(ws), WriteFile(ws), TodoWrite()
	tests := []struct {
		tool              Tool
		args, want, title string // the title that is known in spite of the error
	}{
		{read, `{"path":`, "the arguments are not valid JSON: unexpected end of JSON input", ""},
		{read, `[]`, "the arguments are not a JSON object", ""},
		{read, `"x"`, "the arguments are not a JSON object", ""},
		{read, `{} {}`, "the arguments are not valid JSON: invalid character '{' after top-level value", ""},
		{read, ``, "path is missing", ""},
		{read, `null`, "path is missing", ""},
		{read, `{"Path":"a.txt"}`, "path is missing", ""},
		{read, `{"path":null}`, "path is missing", ""},
		{read, `{"path":7}`, "path must be a string", ""},
		{read, `{"path":""}`, "path is empty", ""},
		{read, `{"path":"a.txt","offset":-1}`, "offset must be at least 0", "Read a.txt"},
		{read, `{"path":"a.txt","offset":"1"}`, "offset must be a whole number", "Read a.txt"},
		{read, `{"path":"a.txt","offset":1e300}`, "offset must be a whole number", "Read a.txt"},
		{read, `{"path":"a.txt","limit":0}`, "limit must be at least 1", "Read a.txt"},
		{read, `{"path":"a.txt","limit":1.5}`, "limit must be a whole number", "Read a.txt"},
		{write, `{"content":"x"}`, "path is missing", ""},
		{write, `{"path":"a.txt"}`, "content is missing", "Write a.txt"},
		{write, `{"path":"a.txt","content":["x"]}`, "content must be a string", "Write a.txt"},
		{write, `{"path":"nul","content":""}`, "nul is not a text file: it contains NUL characters", "Write nul"},
		{write, `{"path":"new","content":"\u0000"}`, "new is not a text file: it contains NUL characters", "Write new"},
		{write, `{"path":".","content":""}`, ". is a directory", "Write ."},
		{todo, `{}`, "todos is missing", "Update the plan"},
		{todo, `{"todos":"x"}`, `todos must be an array of objects like {"content": "…", "status": "pending"}`, "Update the plan"},
		{todo, `{"todos":["x"]}`, `todos must be an array of objects like {"content": "…", "status": "pending"}`, "Update the plan"},
	}
	for _, test := range tests {
		inv, err := prepare(t, test.tool, test.args)
		if err == nil || err.Error() != test.want || inv.Title != test.title {
			t.Errorf("%s %s: title %q, error %v; want %q, %q", test.tool.Name, test.args, inv.Title, err, test.title, test.want)
		}
	}
	if _, err := run(t, read, `{"path":"none.txt"}`); err == nil || err.Error() != "none.txt does not exist" {
		t.Errorf("reading a missing file: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	tests := []struct {
		name, args string
		old        *string
		want       string
		text       string
	}{
		{"new", `{"path":"f.txt","content":"hello\n"}`, nil, "hello\n", "Created f.txt (6 bytes)."},
		{"empty", `{"path":"f.txt","content":""}`, nil, "", "Created f.txt (0 bytes)."},
		{"replace", `{"path":"f.txt","content":"new"}`, new("old\n"), "new", "Replaced f.txt (3 bytes)."},
		{"keeps CRLF", `{"path":"f.txt","content":"a\nc\n"}`, new("a\r\nb\r\n"), "a\r\nc\r\n", "Replaced f.txt (6 bytes)."},
		{"CRLF given", `{"path":"f.txt","content":"a\r\nc\n"}`, new("a\r\nb\r\n"), "a\r\nc\n", "Replaced f.txt (5 bytes)."},
		{"mixed line ends", `{"path":"f.txt","content":"a\nc\n"}`, new("a\r\nb\n"), "a\nc\n", "Replaced f.txt (4 bytes)."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ws := open(t, nil)
			if test.old != nil {
				put(t, ws, "f.txt", *test.old)
			}
			path := filepath.Join(ws.Root(), "f.txt")
			inv, err := prepare(t, WriteFile(ws), test.args)
			if err != nil {
				t.Fatal(err)
			}
			diffs := []Diff{{Path: path, Old: test.old, New: test.want}}
			want := Invocation{Title: "Write f.txt", Locations: []Location{{Path: path}}, Access: permission.Access{Kind: permission.Edit, Paths: []string{path}}, Diffs: diffs}
			run := inv.Run
			inv.Run = nil
			if d := cmp.Diff(want, inv); d != "" {
				t.Errorf("invocation (-want +got):\n%s", d)
			}
			if _, err := os.Stat(path); (err == nil) != (test.old != nil) {
				t.Error("preparing has touched the file")
			}
			out, err := run(t.Context())
			if d := cmp.Diff(Output{Text: test.text, Diffs: diffs}, out); err != nil || d != "" {
				t.Errorf("output %v (-want +got):\n%s", err, d)
			}
			if got := get(t, ws, "f.txt"); got != test.want {
				t.Errorf("the file has %q, want %q", got, test.want)
			}
		})
	}
}

func TestWriteFileThatChangedMeanwhile(t *testing.T) {
	const args = `{"path":"f.txt","content":"mine"}`
	tests := map[string]struct{ before, meanwhile *string }{
		"edited":    {new("old"), new("theirs")},
		"appeared":  {nil, new("theirs")},
		"vanished":  {new("old"), nil},
		"same size": {new("old"), new("new")},
	}
	for name, test := range tests {
		ws := open(t, nil)
		path := filepath.Join(ws.Root(), "f.txt")
		if test.before != nil {
			put(t, ws, "f.txt", *test.before)
		}
		inv, err := prepare(t, WriteFile(ws), args)
		if err != nil {
			t.Fatal(err)
		}
		if os.Remove(path); test.meanwhile != nil {
			put(t, ws, "f.txt", *test.meanwhile)
		}
		if _, err := inv.Run(t.Context()); err == nil || err.Error() != "f.txt has changed meanwhile; read it again" {
			t.Errorf("%s: %v", name, err)
		}
		if test.meanwhile != nil && get(t, ws, "f.txt") != *test.meanwhile {
			t.Errorf("%s: the file was overwritten", name)
		}
	}
}

func TestWriteFileCancelled(t *testing.T) {
	ws := open(t, nil)
	inv, err := prepare(t, WriteFile(ws), `{"path":"f.txt","content":"x"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := inv.Run(ctx); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(ws.Root(), "f.txt")); err == nil {
		t.Error("the file was written")
	}
}

func TestTodoWrite(t *testing.T) {
	tests := []struct {
		args  string
		plan  []PlanEntry
		title string
		text  string
	}{
		{
			`{"todos":[{"content":"a","status":"completed","priority":"low"},{"content":"b","status":"in_progress","level":1},{"content":"c","status":"pending","level":0},{"content":" "}]}`,
			[]PlanEntry{{"a", "low", "completed"}, {"b", "medium", "in_progress"}, {"c", "high", "pending"}},
			"Update the plan (1 of 3 done)", "The plan has 3 steps, 1 of them completed.",
		},
		{
			`{"todos":[{"content":"a","status":"doing","priority":"urgent"},{"content":"b","status":5,"priority":[],"level":{}}]}`,
			[]PlanEntry{{"a", "high", "pending"}, {"b", "medium", "pending"}},
			"Update the plan (0 of 2 done)", "The plan has 2 steps, 0 of them completed.",
		},
		{`{"todos":[]}`, nil, "Update the plan (0 of 0 done)", "The plan has 0 steps, 0 of them completed."},
	}
	for _, test := range tests {
		inv, err := prepare(t, TodoWrite(), test.args)
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		out, err := inv.Run(t.Context())
		if err != nil || out.Text != test.text {
			t.Errorf("%s: output %q, %v", test.args, out.Text, err)
		}
		inv.Run = nil
		if d := cmp.Diff(Invocation{Title: test.title, Plan: test.plan, Access: permission.Access{}}, inv); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.args, d)
		}
	}
}

func TestSet(t *testing.T) {
	ws := open(t, nil)
	set := NewSet(ReadFile(ws), WriteFile(ws), EditFile(ws), MultiEdit(ws), MoveFile(ws), Ls(ws), Glob(ws), Grep(ws), WebFetch(FetchOptions{}), TodoWrite())
	var names []string
	for _, tool := range set.All() {
		names = append(names, tool.Name)
		var schema struct {
			Type       string
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(tool.Params, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: parameters %s, %v", tool.Name, tool.Params, err)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s: required %q is no property", tool.Name, name)
			}
		}
		if found, ok := set.Find(tool.Name); !ok || found.Name != tool.Name {
			t.Errorf("%s is not found", tool.Name)
		}
	}
	if d := cmp.Diff([]string{"read_file", "write_file", "edit_file", "multi_edit", "move_file", "ls", "glob", "grep", "web_fetch", "todo_write"}, names); d != "" {
		t.Error(d)
	}
	if _, ok := set.Find("Read_File"); ok {
		t.Error("found by another name")
	}
}
