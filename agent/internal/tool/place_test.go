package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// beside makes a workspace and a folder that is outside of it.
func beside(t *testing.T) (ws *workspace.Workspace, out string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(base, "out")
	for name, text := range map[string]string{"in/a.txt": "inside\n", "out/a.txt": "outside\n", "out/nul": "\x00"} {
		file := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if ws, err = workspace.Open(filepath.Join(base, "in")); err != nil {
		t.Fatal(err)
	}
	return ws, out
}

// A path outside the workspace is the policy's affair; what is allowed then happens there.
func TestOutside(t *testing.T) {
	ws, out := beside(t)
	a, made := filepath.Join(out, "a.txt"), filepath.Join(out, "x/y/new.txt")
	if err := os.Symlink(a, filepath.Join(ws.Root(), "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		tool       Tool
		args, path string
		kind       permission.Kind
		text       string
	}{
		{ReadFile(ws), `{"path":"../out/a.txt"}`, a, permission.Read, "     1\toutside\n"},
		{ReadFile(ws), `{"path":"link"}`, a, permission.Read, "     1\toutside\n"},
		{EditFile(ws), `{"path":"` + a + `","old_string":"outside","new_string":"edited"}`, a, permission.Edit, "Edited " + a + ": 1 replacement, at line 1."},
		{MultiEdit(ws), `{"path":"link","edits":[{"old_string":"edited","new_string":"again"}]}`, a, permission.Edit, "Edited " + a + ": 1 replacement, at line 1."},
		{WriteFile(ws), `{"path":"../out/a.txt","content":"new\n"}`, a, permission.Edit, "Replaced " + a + " (4 bytes)."},
		{WriteFile(ws), `{"path":"` + made + `","content":"made"}`, made, permission.Edit, "Created " + made + " (4 bytes)."},
	}
	for _, test := range tests {
		inv, err := prepare(t, test.tool, test.args)
		if err != nil {
			t.Errorf("%s %s: %v", test.tool.Name, test.args, err)
			continue
		}
		want := permission.Access{Kind: test.kind, Paths: []string{test.path}, Outside: []string{test.path}}
		if d := cmp.Diff(want, inv.Access); d != "" || inv.Locations[0].Path != test.path || !strings.HasSuffix(inv.Title, test.path) {
			t.Errorf("%s %s: %+v", test.tool.Name, test.args, inv)
		}
		if out, err := inv.Run(t.Context()); err != nil || out.Text != test.text {
			t.Errorf("%s %s: %q, %v", test.tool.Name, test.args, out.Text, err)
		}
	}
	for file, want := range map[string]string{a: "new\n", made: "made"} {
		if got, err := os.ReadFile(file); string(got) != want {
			t.Errorf("%s has %q, %v", file, got, err)
		}
	}
}

// Before the user has answered, the model does not learn what is in a file outside, nor whether it is there.
func TestOutsideTellsNothingBefore(t *testing.T) {
	ws, out := beside(t)
	tests := []struct {
		tool       Tool
		args, want string
	}{
		{ReadFile(ws), `{"path":"../out/none"}`, "does not exist"},
		{ReadFile(ws), `{"path":"../out"}`, "is a directory"},
		{EditFile(ws), `{"path":"../out/none","old_string":"a","new_string":"b"}`, "does not exist"},
		{EditFile(ws), `{"path":"../out/a.txt","old_string":"Outside","new_string":"b"}`, `the nearest is line 1: "outside"`},
		{MultiEdit(ws), `{"path":"../out/nul","edits":[{"old_string":"a","new_string":"b"}]}`, "NUL"},
		{WriteFile(ws), `{"path":"../out/nul","content":""}`, "NUL"},
		{WriteFile(ws), `{"path":"/proc/self/comm","content":"x"}`, "the kernel makes it up"},
		{ReadFile(ws), `{"path":"/proc/version"}`, "the kernel makes it up"},
		{ReadFile(ws), `{"path":"/dev/null"}`, "is not a regular file"},
	}
	for _, test := range tests {
		inv, err := prepare(t, test.tool, test.args)
		if err != nil || len(inv.Access.Outside) != 1 || inv.Diffs != nil {
			t.Errorf("%s %s: %+v, %v", test.tool.Name, test.args, inv, err)
			continue
		}
		if _, err := inv.Run(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %s", test.tool.Name, test.args, err, test.want)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(out, "a.txt")); string(got) != "outside\n" {
		t.Errorf("the file has %q", got)
	}
}

// While the user thinks, the approved path comes to lead elsewhere.
func TestOutsideThatMovesAway(t *testing.T) {
	for _, swapped := range []string{"a.txt", "."} {
		ws, out := beside(t)
		secret := filepath.Join(filepath.Dir(out), "secret")
		if err := errors.Join(os.Mkdir(secret, 0o777), os.WriteFile(filepath.Join(secret, "a.txt"), []byte("outside\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		write, err := prepare(t, WriteFile(ws), `{"path":"../out/a.txt","content":"x"}`)
		if err != nil {
			t.Fatal(err)
		}
		read, err := prepare(t, ReadFile(ws), `{"path":"../out/a.txt"}`)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(out, swapped)
		if err := errors.Join(os.RemoveAll(name), os.Symlink(filepath.Join(secret, swapped), name)); err != nil {
			t.Fatal(err)
		}
		for _, inv := range []Invocation{read, write} {
			if _, err := inv.Run(t.Context()); !errors.Is(err, workspace.ErrOutside) && (err == nil || !strings.Contains(err.Error(), "now leads to")) {
				t.Errorf("%s, %s: %v", swapped, inv.Title, err)
			}
		}
		if got, _ := os.ReadFile(filepath.Join(secret, "a.txt")); string(got) != "outside\n" {
			t.Errorf("%s: the secret is now %q", swapped, got)
		}
	}
}
