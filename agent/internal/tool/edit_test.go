package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/simplifiedchinese"
	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

func TestEditFile(t *testing.T) {
	const program = "package a\n\nfunc f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 1\n}\n"
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("// 打开文件，读取数据，返回错误信息\r\nx = 1\r\n")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, args string // args without the path
		old        *string
		want       string
		line       int
		text       string
	}{
		{"one", `"old_string":"func g() {\n\treturn 1","new_string":"func g() {\n\treturn 2"`, new(program), strings.Replace(program, "1\n}\n\nfunc g() {\n\treturn 1", "1\n}\n\nfunc g() {\n\treturn 2", 1), 8, "Edited f.txt: 1 replacement, at line 8."},
		{"all", `"old_string":"return 1","new_string":"return","replace_all":true`, new(program), strings.ReplaceAll(program, "return 1", "return"), 4, "Edited f.txt: 2 replacements, the first at line 4."},
		{"delete", `"old_string":"b\n","new_string":""`, new("a\nb\nc"), "a\nc", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"all that there is", `"old_string":"a","new_string":""`, new("a"), "", 1, "Edited f.txt: 1 replacement, at line 1."},
		{"null", `"old_string":"a","new_string":"b","replace_all":null`, new("a"), "b", 1, "Edited f.txt: 1 replacement, at line 1."},
		{"no newline at the end", `"old_string":"b","new_string":"c"`, new("a\nb"), "a\nc", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"CRLF", `"old_string":"b\nc","new_string":"x\ny"`, new("a\r\nb\r\nc\r\n"), "a\r\nx\r\ny\r\n", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"CRLF given", `"old_string":"b\r\nc","new_string":"x\r\ny\nz"`, new("a\r\nb\r\nc\r\n"), "a\r\nx\r\ny\r\nz\r\n", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"CRLF given, LF there", `"old_string":"b\r\nc","new_string":"x\r\ny"`, new("a\nb\nc\n"), "a\nx\ny\n", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"CRLF in the new text only", `"old_string":"b","new_string":"x\r\ny"`, new("a\nb\n"), "a\nx\ny\n", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"mixed, in the CRLF part", `"old_string":"b\nc","new_string":"x\ny"`, new("a\nb\r\nc\n"), "a\nx\r\ny\n", 2, "Edited f.txt: 1 replacement, at line 2."},
		{"mixed, in the LF part", `"old_string":"a\nb","new_string":"x\ny"`, new("a\nb\r\nc\n"), "x\ny\r\nc\n", 1, "Edited f.txt: 1 replacement, at line 1."},
		{"byte order mark", `"old_string":"a","new_string":"b"`, new("\ufeffa\n"), "\ufeffb\n", 1, "Edited f.txt: 1 replacement, at line 1."},
		{"new file", `"old_string":"","new_string":"a\n"`, nil, "a\n", 0, "Created f.txt (2 bytes)."},
		{"Latin-1", `"old_string":"x","new_string":"y é"`, new("caf\xe9 x\n"), "caf\xe9 y \xe9\n", 1, "Edited f.txt: 1 replacement, at line 1."},
		{"GBK", `"old_string":"x = 1","new_string":"x = 2"`, &gbk, strings.Replace(gbk, "1", "2", 1), 2, "Edited f.txt: 1 replacement, at line 2."},
		{"UTF-16", `"old_string":"b","new_string":"é"`, new("\xff\xfea\x00\r\x00\n\x00b\x00"), "\xff\xfea\x00\r\x00\n\x00\xe9\x00", 2, "Edited f.txt: 1 replacement, at line 2."},
	}
	for _, test := range tests {
		for _, tool := range []string{"edit_file", "multi_edit"} {
			t.Run(test.name+"/"+tool, func(t *testing.T) {
				ws := open(t, nil)
				if test.old != nil {
					put(t, ws, "f.txt", *test.old)
				}
				edit, args := EditFile(ws), `{"path":"f.txt",`+test.args+`}`
				if tool == "multi_edit" {
					edit, args = MultiEdit(ws), `{"path":"f.txt","edits":[{`+test.args+`}]}`
				}
				path := filepath.Join(ws.Root(), "f.txt")
				inv, err := prepare(t, edit, args)
				if err != nil {
					t.Fatal(err)
				}
				if inv.Title != "Edit f.txt" || len(inv.Locations) != 1 || inv.Locations[0] != (Location{path, test.line}) ||
					!cmp.Equal(inv.Access, permission.Access{Kind: permission.Edit, Paths: []string{path}}) {
					t.Errorf("invocation %+v", inv)
				}
				out, err := inv.Run(t.Context())
				if err != nil || out.Text != test.text || !cmp.Equal(out.Diffs, inv.Diffs) {
					t.Errorf("output %+v, %v", out, err)
				}
				if got := get(t, ws, "f.txt"); got != test.want {
					t.Errorf("the file has %q, want %q", got, test.want)
				}
				d := inv.Diffs[0]
				if text, err := ws.ReadText(path); err != nil || text != d.New || d.Path != path || (d.Old == nil) != (test.old == nil) {
					t.Errorf("the diff is %+v, the file reads %q, %v", d, text, err)
				}
			})
		}
	}
}

func TestMultiEdit(t *testing.T) {
	ws := open(t, map[string]string{"f.txt": "a\nb\nc\n"})
	out, err := run(t, MultiEdit(ws), `{"path":"f.txt","edits":[{"old_string":"c","new_string":"d"},{"old_string":"d\n","new_string":"e\nb"},{"old_string":"b","new_string":"x","replace_all":true}]}`)
	if err != nil || out.Text != "Edited f.txt: 4 replacements, the first at line 2." || get(t, ws, "f.txt") != "a\nx\ne\nx" {
		t.Errorf("%q, %v; the file has %q", out.Text, err, get(t, ws, "f.txt"))
	}
	out, err = run(t, MultiEdit(ws), `{"path":"sub/new.txt","edits":[{"old_string":"","new_string":"one two"},{"old_string":"two","new_string":"three"}]}`)
	if err != nil || out.Text != "Created sub/new.txt (9 bytes)." || get(t, ws, "sub/new.txt") != "one three" {
		t.Errorf("creating: %q, %v", out.Text, err)
	}
}

func TestEditErrors(t *testing.T) {
	files := map[string]string{
		"a.go":   "package a\n\nfunc first() {\n\treturn one\n}\n\nfunc second() {\n\treturn one\n}\n",
		"aaa":    "aaa",
		"empty":  "",
		"many":   strings.Repeat("x\n", 20),
		"nul":    "\x00",
		"latin":  "caf\xe9\n",
		"broken": "\xdd\xf2\xee \xf2\xe5\xf1\xf2",
	}
	ws := open(t, files)
	if err := os.Chmod(filepath.Join(ws.Root(), "many"), 0o444); err != nil {
		t.Fatal(err)
	}
	one := func(path, old, new string) string {
		args, _ := json.Marshal(map[string]any{"path": path, "old_string": old, "new_string": new})
		return string(args)
	}
	edit, multi := EditFile(ws), MultiEdit(ws)
	tests := []struct {
		tool       Tool
		args, want string
	}{
		{edit, `{"old_string":"a","new_string":"b"}`, "path is missing"},
		{edit, `{"path":"a.go","new_string":"b"}`, "old_string is missing"},
		{edit, `{"path":"a.go","old_string":"b"}`, "new_string is missing"},
		{edit, `{"path":"a.go","old_string":1,"new_string":"b"}`, "old_string must be a string"},
		{edit, `{"path":"a.go","old_string":"a","new_string":"b","replace_all":"yes"}`, "replace_all must be true or false"},
		{edit, one("none", "a", "b"), "none does not exist; to create it, leave old_string empty"},
		{edit, one("a.go", "", "b"), "a.go exists, so old_string must not be empty"},
		{edit, one("empty", "", "b"), "empty exists, so old_string must not be empty"},
		{edit, one("empty", "a", "b"), "old_string was not found in empty"},
		{edit, one("a.go", "first", "first"), "old_string and new_string are the same"},
		{edit, one("a.go", "return one", "return two"), "old_string was found 2 times in a.go (lines 4, 8); add lines around it until it is unique, or set replace_all"},
		{edit, one("many", "x", "y"), "old_string was found 20 times in many (lines 1, 2, 3, 4, 5, 6, 7, 8, …); add lines around it until it is unique, or set replace_all"},
		{edit, one("aaa", "aa", "b"), "old_string was found 2 times in aaa (lines 1, 1); add lines around it until it is unique, or set replace_all"},
		{edit, one("a.go", "func second() {\n    return one\n", "x"), `old_string was not found in a.go; line 7 differs from it only in white space: "func second() {"`},
		{edit, one("a.go", "func secnd() {", "x"), `old_string was not found in a.go; the nearest is line 7: "func second() {"`},
		{edit, one("a.go", "func second() {\n\treturn two", "x"), `old_string was not found in a.go; its line "func second() {" stands at line 7, but the lines around it differ`},
		{edit, one("a.go", "     4\t\treturn one", "x"), "old_string was not found in a.go; it seems to contain the line numbers that read_file puts in front"},
		{edit, one("a.go", "zzzzzz", "x"), "old_string was not found in a.go"},
		{edit, one("nul", "a", "b"), "nul is not a text file: it contains NUL characters"},
		{edit, one("broken", "a", "b"), "broken is not UTF-8 text, and it is not certain which other character set it has"},
		{edit, one("latin", "caf", "→ caf"), "latin cannot be written: line 1 has the character '→' (U+2192), which Windows-1252, the character set of the file, lacks"},
		{edit, one("aaa", "aaa", "\x00"), "aaa is not a text file: it contains NUL characters"},
		{edit, one("a.go", "first", strings.Repeat("x", workspace.MaxText)), "a.go is larger than 10 MiB"},
		{edit, one(".", "a", "b"), ". is a directory"},
		{edit, `{"path":"many","old_string":"x","new_string":"y","replace_all":true}`, "many is read-only"},
		{multi, `{"path":"a.go"}`, "edits is missing"},
		{multi, `{"path":"a.go","edits":[]}`, "edits is empty"},
		{multi, `{"path":"a.go","edits":{}}`, "edits must be an array of objects"},
		{multi, `{"path":"a.go","edits":["x"]}`, "edits must be an array of objects"},
		{multi, `{"path":"a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"a"}]}`, "edits[1]: new_string is missing"},
		{multi, `{"path":"a.go","edits":[{"old_string":"first","new_string":"1st"},{"old_string":"first","new_string":"x"}]}`, "edit 2 of 2: old_string was not found in a.go (no edit was made)"},
		{multi, `{"path":"a.go","edits":[{"old_string":"first","new_string":"1st"},{"old_string":"1st","new_string":"first"}]}`, "the edits leave a.go as it is"},
	}
	for _, test := range tests {
		if _, err := prepare(t, test.tool, test.args); err == nil || err.Error() != test.want {
			t.Errorf("%s %.100s:\n%v\nwant\n%s", test.tool.Name, test.args, err, test.want)
		}
	}
	for name, want := range files {
		if got := get(t, ws, name); got != want {
			t.Errorf("%s now has %q", name, got)
		}
	}
}

func TestEditThatChangedMeanwhile(t *testing.T) {
	ws := open(t, map[string]string{"f.txt": "a\n"})
	inv, err := prepare(t, EditFile(ws), `{"path":"f.txt","old_string":"a","new_string":"b"}`)
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws, "f.txt", "a\nmore\n")
	if _, err := inv.Run(t.Context()); err == nil || err.Error() != "f.txt has changed meanwhile; read it again" || get(t, ws, "f.txt") != "a\nmore\n" {
		t.Errorf("%v; the file has %q", err, get(t, ws, "f.txt"))
	}
}

// A hard link to the file keeps the old text, as any editor that replaces files has it.
func TestEditHardLink(t *testing.T) {
	ws := open(t, map[string]string{"f.txt": "a\n"})
	if err := os.Link(filepath.Join(ws.Root(), "f.txt"), filepath.Join(ws.Root(), "other")); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, EditFile(ws), `{"path":"f.txt","old_string":"a","new_string":"b"}`); err != nil || get(t, ws, "f.txt") != "b\n" || get(t, ws, "other") != "a\n" {
		t.Errorf("%v: %q, %q", err, get(t, ws, "f.txt"), get(t, ws, "other"))
	}
}

// Whatever the text and the edit: it is made when the piece stands there once, with every byte around it as it was, and
// refused otherwise.
func TestEditProperty(t *testing.T) {
	ws := open(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "line end")
		bom := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(rt, "mark")
		draw := func(label string, max int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", " ", "\n"}), 0, max).Draw(rt, label), "")
		}
		text, old, new := draw("text", 30), draw("old", 4), draw("new", 4)
		if old == "" {
			old = "a"
		}
		all := rapid.Bool().Draw(rt, "all")
		disk := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
		file := filepath.Join(ws.Root(), "f.txt")
		if err := os.WriteFile(file, []byte(bom+disk(text)), 0o666); err != nil {
			rt.Fatal(err)
		}
		args, _ := json.Marshal(map[string]any{"path": "f.txt", "old_string": old, "new_string": new, "replace_all": all})
		parsed, _ := ParseArgs(args)
		inv, err := EditFile(ws).Prepare(rt.Context(), parsed)
		if err == nil {
			_, err = inv.Run(rt.Context())
		}
		places := 0
		for i := range text {
			if strings.HasPrefix(text[i:], old) {
				places++
			}
		}
		want := text
		if ok := old != new && (places == 1 || places > 0 && all); ok != (err == nil) {
			rt.Fatalf("%d places, all %t: %v", places, all, err)
		} else if ok {
			want = strings.ReplaceAll(text, old, new)
		}
		if strings.Contains(text, "\n") {
			want = disk(want)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != bom+want {
			rt.Errorf("%q - %q + %q = %q, want %q", bom+disk(text), old, new, got, bom+want)
		}
	})
}
