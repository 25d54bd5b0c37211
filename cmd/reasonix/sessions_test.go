package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/host"
)

// command runs the command line in this process, without a terminal. out nil is a file.
func command(t *testing.T, out *os.File, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	file := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(t.TempDir(), name), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	outFile, errFile := file("stdout"), file("stderr")
	if out == nil {
		out = outFile
	}
	code = run(args, stdio{file("stdin"), out, errFile})
	read := func(f *os.File) string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return code, read(outFile), read(errFile)
}

// TestSessionsHeld: while another process has a session open it is shown and
// exported up to now, and not removed; when that process is killed it is.
func TestSessionsHeld(t *testing.T) {
	t.Setenv("REASONIX_HOME", t.TempDir())
	ctx := t.Context()
	agent := exec.Command(os.Args[0])
	agent.Args = []string{"reasonix", "acp", "--model", "offline/demo"} // TestMain goes by the name
	in, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	h := host.Connect(out, in, host.Config{})
	if _, err := h.Initialize(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewSession(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(ctx, "Say hello"); err != nil {
		t.Fatal(err)
	}
	id := string(s.ID)
	if code, out, log := command(t, nil, "sessions", "show", id[:10]); code != 0 || !strings.Contains(out, "\nSay hello\n") || !strings.Contains(out, "*Turn ended: end_turn*") || log != "" {
		t.Errorf("show: exit %d, stderr %q\n%s", code, log, out)
	}
	if code, out, log := command(t, nil, "sessions", "export", id); code != 0 || !strings.Contains(out, `"data":{"Text":"Say hello"}`) || log != "" {
		t.Errorf("export: exit %d, stderr %q\n%s", code, log, out)
	}
	holder := fmt.Sprintf("reasonix: %s: the session is open in reasonix (pid %d); close it there\n", id, agent.Process.Pid)
	if code, out, log := command(t, nil, "sessions", "rm", "--force", id); code != 1 || out != "" || log != holder {
		t.Errorf("rm: exit %d, stdout %q, stderr %q; want %q", code, out, log, holder)
	}
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.Close()
	_ = agent.Wait() // it was killed
	if code, out, log := command(t, nil, "sessions", "rm", "--force", id); code != 0 || out != "removed "+id+"\n" || log != "" {
		t.Errorf("rm after the kill: exit %d, stdout %q, stderr %q", code, out, log)
	}
	if code, out, _ := command(t, nil, "sessions", "list", "--json"); code != 0 || out != "" {
		t.Errorf("list after rm: exit %d, %q", code, out)
	}
}

// TestReplace: a failed write leaves what was there, and nothing beside it; a good
// one keeps mode and link; and what is no file is refused.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	check := func(when, want string, mode os.FileMode, names ...string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s: %q, %v", when, got, info.Mode())
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, e := range entries {
			found = append(found, e.Name())
		}
		if strings.Join(found, " ") != strings.Join(names, " ") {
			t.Errorf("%s: the folder has %q, want %q", when, found, names)
		}
	}
	if err := replace(path, text("one")); err != nil {
		t.Fatal(err)
	}
	check("new", "one", 0o600, "file")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := replace(path, func(w io.Writer) error { return errors.Join(text("tw")(w), broken) }); !errors.Is(err, broken) {
		t.Errorf("a failed write: %v", err)
	}
	check("a failed write", "one", 0o644, "file")
	ctx, cancel := context.WithCancel(t.Context())
	if err := replace(path, func(w io.Writer) error {
		w = breakable{ctx, w}
		if err := text("thr")(w); err != nil {
			return err
		}
		cancel()
		return text("ee")(w)
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted write: %v", err)
	}
	check("an interrupted write", "one", 0o644, "file")
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := replace(filepath.Join(dir, "link"), text("two")); err != nil {
		t.Fatal(err)
	}
	check("through a link", "two", 0o644, "file", "link")
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "file" {
		t.Errorf("the link is %q, %v", target, err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for bad, want := range map[string]string{dir: "not a regular file", filepath.Join(dir, "socket"): "not a regular file", filepath.Join(dir, "none", "file"): "none"} {
		if err := replace(bad, func(io.Writer) error { return errors.New("it is written") }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
	check("what is refused", "two", 0o644, "file", "link", "socket")
}

// TestSessionsFullDisk: each command that prints tells that it could not.
func TestSessionsFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // it has /dev/full
	}
	t.Setenv("REASONIX_HOME", t.TempDir())
	if code, _, log := command(t, nil, "run", "--model", "offline/demo", "--cwd", t.TempDir(), "Say hello"); code != 0 {
		t.Fatal(code, log)
	}
	_, list, _ := command(t, nil, "sessions", "list")
	id, _, _ := strings.Cut(list, " ")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{"list", "list --json", "show " + id, "export " + id, "export --format markdown " + id} {
		if code, _, log := command(t, full, append([]string{"sessions"}, strings.Fields(args)...)...); code != 1 || strings.Count(log, "no space left on device") != 1 {
			t.Errorf("%s: exit %d, %q", args, code, log)
		}
	}
}

// TestSessionsListIsHarmless: a folder can have any name, and a terminal does not
// obey it.
func TestSessionsListIsHarmless(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no such names
	}
	t.Setenv("REASONIX_HOME", t.TempDir())
	cwd := filepath.Join(t.TempDir(), "a\x1b[2J\u009b2J\nb\x7f")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, log := command(t, nil, "run", "--model", "offline/demo", "--cwd", cwd, "Say\u009b hello"); code != 0 {
		t.Fatal(code, log)
	}
	for _, args := range [][]string{{"sessions", "list"}, {"sessions", "list", "--json"}, {"sessions", "list", "--json", "--cwd", cwd}} {
		code, out, _ := command(t, nil, args...)
		if code != 0 || strings.Count(out, "\n") != 1 || bytes.ContainsAny([]byte(out), "\x1b\x7f\u009b") {
			t.Errorf("%q: exit %d, %q", args, code, out)
		}
	}
}
