package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExitCodes: 2 is a bad flag and leaves stdout alone; the others stand in
// the help of run.
func TestExitCodes(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("REASONIX_HOME", home)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.toml", "[agent]\nretry_seconds = 0\n[[providers]]\nname = \"ok\"\nkind = \"scripted\"\nfile = \"ok.jsonl\"\n[[providers]]\nname = \"cut\"\nkind = \"scripted\"\nfile = \"cut.jsonl\"\n")
	write("ok.jsonl", `{"text":"ok"}`)
	write("cut.jsonl", `{"text":"ok","finish":"length"}`)
	for _, c := range []struct {
		name string
		args []string
		code int
		out  bool // something on stdout
	}{
		{"bad flag", []string{"acp", "--nope"}, 2, false},
		{"no command", nil, 2, false},
		{"bad choice", []string{"run", "--permission", "perhaps", "x"}, 2, false},
		{"help", []string{"--help"}, 0, true},
		{"version", []string{"version"}, 0, true},
		{"end of input", []string{"acp"}, 0, false},
		{"turn ends", []string{"run", "--model", "ok/m", "--cwd", work, "x"}, 0, true},
		{"turn is cut", []string{"run", "--model", "cut/m", "--cwd", work, "x"}, 3, true},
		{"no such workspace", []string{"run", "--model", "ok/m", "--cwd", filepath.Join(work, "no"), "x"}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := func(name string) *os.File {
				f, err := os.OpenFile(filepath.Join(t.TempDir(), name), os.O_CREATE|os.O_RDWR, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			}
			out := file("stdout")
			if code := run(c.args, stdio{file("stdin"), out, file("stderr")}); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if data, err := os.ReadFile(out.Name()); err != nil || len(data) > 0 != c.out {
				t.Errorf("stdout is %q, %v", data, err)
			}
		})
	}
}
