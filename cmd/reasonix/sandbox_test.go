package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSandboxCommand: the hidden command confines with our own binary, by each
// engine, and leaves stdout and the exit code to the command.
func TestSandboxCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there is no launcher
	}
	bin := filepath.Join(t.TempDir(), "reasonix")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	base, err := os.MkdirTemp("/var/tmp", "reasonix-test")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	for _, dir := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for engine, confined := range map[string]bool{"bubblewrap": true, "landlock": true, "none": false} {
		cmd := exec.Command(bin, "sandbox", "--engine", engine, "--write", base+"/in", "--", "sh", "-c", `echo x > in/`+engine+`; echo x > out/`+engine+`; echo said; exit 7`)
		cmd.Dir = base
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != 7 || string(out) != "said\n" {
			t.Errorf("%s: exit code %d, stdout %q", engine, cmd.ProcessState.ExitCode(), out)
		}
		if _, err := os.Stat(filepath.Join(base, "in", engine)); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
		if _, err := os.Stat(filepath.Join(base, "out", engine)); (err != nil) != confined {
			t.Errorf("%s: outside: %v", engine, err)
		}
	}
	out, err := exec.Command(bin, "sandbox", "nonsense").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "reasonix sandbox: ") {
		t.Errorf("%v %s", err, out)
	}
}
