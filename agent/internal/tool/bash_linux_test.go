package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// The test binary is its own launcher.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "sandbox-launcher" {
		code, err := sandbox.Launch(os.Args[:2], os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "sandbox:", err)
		}
		os.Exit(code)
	}
}

// box is a sandbox that must work.
func box(t *testing.T, e sandbox.Engine) *sandbox.Sandbox {
	t.Helper()
	b := sandbox.New(sandbox.Config{Engine: e, Launcher: []string{os.Args[0], "sandbox-launcher"}})
	if b.Engine() != e {
		t.Fatalf("%s does not work on this machine: %v", e, b.Why())
	}
	return b
}

// shell is closed at the end of the test, and then nothing of it may be left.
func shell(t *testing.T, conf ShellConfig) *Shell {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	dir, err := os.MkdirTemp("/var/tmp", "shell-test") // not in /tmp, which bubblewrap replaces
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(dir+"/work", 0o755); err != nil {
		t.Fatal(err)
	}
	if conf.Workspace, err = workspace.Open(dir + "/work"); err != nil {
		t.Fatal(err)
	}
	s := NewShell(conf)
	t.Cleanup(s.Close)
	return s
}

// bash runs a command in the foreground and returns what the model reads.
func bash(t *testing.T, s *Shell, command string, more ...string) (string, error) {
	t.Helper()
	return bashIn(t.Context(), t, s, command, more...)
}

func bashIn(ctx context.Context, t *testing.T, s *Shell, command string, more ...string) (string, error) {
	t.Helper()
	quoted, _ := json.Marshal(command)
	inv, err := prepare(t, Bash(s), `{"command":`+string(quoted)+strings.Join(more, "")+`}`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := inv.Run(ctx)
	return out.Text, err
}

// places are the ways in which a command can run.
func places(t *testing.T, test func(t *testing.T, s *Shell)) {
	for name, conf := range map[string]func(t *testing.T) ShellConfig{
		"bare":     func(*testing.T) ShellConfig { return ShellConfig{} },
		"launcher": func(t *testing.T) ShellConfig { return ShellConfig{Sandbox: box(t, sandbox.None)} },
		"landlock": func(t *testing.T) ShellConfig {
			return ShellConfig{Sandbox: box(t, sandbox.Landlock), Policy: boxed(t)}
		},
		"bubblewrap": func(t *testing.T) ShellConfig {
			return ShellConfig{Sandbox: box(t, sandbox.Bubblewrap), Policy: boxed(t)}
		},
	} {
		t.Run(name, func(t *testing.T) { test(t, shell(t, conf(t))) })
	}
}

func boxed(t *testing.T) *permission.Policy {
	p, err := permission.New(permission.Options{Confined: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	p.SetPreset(permission.WorkspaceWrite)
	return p
}

// sleeper is a number of seconds that nobody else sleeps; processes are found by it.
func sleeper() string { return fmt.Sprintf("8%010d", time.Now().UnixNano()%1e10) }

func sleeping(word string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(data, []byte(word)) {
			continue
		}
		stat, err := os.ReadFile(filepath.Dir(f) + "/stat")
		if err != nil || stat[bytes.LastIndexByte(stat, ')')+2] == 'Z' {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		pids = append(pids, pid)
	}
	return pids
}

func gone(t *testing.T, word string) {
	t.Helper()
	for range 500 {
		if len(sleeping(word)) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range sleeping(word) {
		t.Errorf("process %d lives on", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestBash(t *testing.T) {
	places(t, func(t *testing.T, s *Shell) {
		tests := []struct{ command, want, failure string }{
			{"echo a; echo b >&2; echo c", "a\nb\nc\n", ""},
			{"true", "", ""},
			{"pwd; cd /; pwd", s.conf.Workspace.Root() + "\n/\n", ""},
			{"pwd", s.conf.Workspace.Root() + "\n", ""},
			{"cat; echo end", "end\n", ""},
			{`printf 'a\0b\377c\303'`, "a␀b\uFFFDc\uFFFD", ""},
			{"[[ a == a ]] && echo {1..3}", "1 2 3\n", ""},
			{"echo out; exit 3", "", "exit code 3|out"},
			{"false", "", "exit code 1"},
			{"no-such-program", "", "exit code 127|command not found"},
			{"sh -c 'kill -9 $$'; exit 5", "", "exit code 5"},
			{"echo x > made && cat made && tty", "", "exit code 1|x\nnot a tty"},
			{"if (", "", "syntax error"},
			{"trap 'echo cleaned' EXIT; echo a", "a\ncleaned\n", ""},
		}
		for _, test := range tests {
			text, err := bash(t, s, test.command)
			if text != test.want || (err != nil) != (test.failure != "") {
				t.Errorf("%s: %q, %v; want %q, %q", test.command, text, err, test.want, test.failure)
				continue
			}
			for part := range strings.SplitSeq(test.failure, "|") {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %q, want %q in it", test.command, err, part)
				}
			}
		}
		// The shell itself, as a signal or as what whoever waits for it makes of that.
		if _, err := bash(t, s, "kill -9 $$"); err == nil || !strings.Contains(err.Error(), "SIGKILL") {
			t.Errorf("killed: %v", err)
		}
	})
}

func TestBashPrepare(t *testing.T) {
	s := shell(t, ShellConfig{})
	tests := []struct {
		args, title string
		access      permission.Access
		err         string
	}{
		{`{"command":"ls"}`, "ls", permission.Access{Kind: permission.Execute, Command: "ls"}, ""},
		{`{"command":" a\n\t b ","timeout_ms":5}`, "a b", permission.Access{Kind: permission.Execute, Command: " a\n\t b "}, ""},
		{`{"command":"ls","run_in_background":true}`, "ls (in the background)", permission.Access{Kind: permission.Execute, Command: "ls", Background: true}, ""},
		{`{"command":"ls","unsandboxed":true,"reason":"x"}`, "ls", permission.Access{Kind: permission.Execute, Command: "ls"}, ""}, // nothing confines it
		{`{}`, "", permission.Access{}, "command is missing"},
		{`{"command":"  "}`, "", permission.Access{}, "command is empty"},
		{`{"command":"a\u0000b"}`, "a?b", permission.Access{}, "NUL"},
		{`{"command":"a","timeout_ms":0}`, "a", permission.Access{}, "at least 1"},
		{`{"command":"a","run_in_background":"yes"}`, "a", permission.Access{}, "must be true or false"},
	}
	for _, test := range tests {
		inv, err := prepare(t, Bash(s), test.args)
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.args, err, test.err)
		}
		if d := cmp.Diff(test.access, inv.Access); d != "" || inv.Title != test.title {
			t.Errorf("%s: title %q, access (-want +got):\n%s", test.args, inv.Title, d)
		}
	}
	if inv, _ := prepare(t, Bash(s), `{"command":"`+strings.Repeat("é", 5000)+`"}`); len(inv.Title) > 210 {
		t.Errorf("the title has %d bytes", len(inv.Title))
	}
	for _, tool := range s.Tools() {
		var schema struct{ Type string }
		if err := json.Unmarshal(tool.Params, &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

// TestBigOutput: memory does not follow the output.
func TestBigOutput(t *testing.T) {
	s := shell(t, ShellConfig{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := bash(t, s, "yes é | head -c 100000000")
	runtime.ReadMemStats(&after)
	if err != nil || len(text) > keptHead+keptTail+100 || !strings.HasPrefix(text, "é\né\n") || !strings.HasSuffix(text, "é\n\uFFFD") && !strings.HasSuffix(text, "é\n") && !strings.HasSuffix(text, "é") || !strings.Contains(text, " bytes left out]\n") {
		t.Errorf("%d bytes: %.20q … %q, %v", len(text), text, text[max(0, len(text)-20):], err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
	text, err = bash(t, s, "yes", `,"timeout_ms":300`) // without an end
	if text != "" || err == nil || !strings.HasPrefix(err.Error(), "timed out after 300ms and was killed\ny\ny\n") || len(err.Error()) > keptHead+keptTail+200 {
		t.Errorf("%d bytes, %.80q", len(text), err)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	places(t, func(t *testing.T, s *Shell) {
		for _, script := range []string{
			"sleep WORD", "echo a; sleep WORD & sleep WORD; echo never", "trap '' TERM; sleep WORD; sleep WORD", "sleep WORD | sleep WORD", "(sleep WORD; true)",
		} {
			word := sleeper()
			script := strings.ReplaceAll(script, "WORD", word)
			if text, err := bash(t, s, script, `,"timeout_ms":400`); err == nil || !strings.HasPrefix(err.Error(), "timed out after 400ms and was killed") {
				t.Errorf("%s: %q, %v", script, text, err)
			}
			gone(t, word)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for range 500 { // until it runs
					if len(sleeping(word)) > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				cancel()
			}()
			if text, err := bashIn(ctx, t, s, script); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %q, %v", script, text, err)
			}
			cancel()
			gone(t, word)
		}
	})
}

// A command that leaves processes behind returns, and they end with it, even when they hold the pipe.
func TestLeftovers(t *testing.T) {
	places(t, func(t *testing.T, s *Shell) {
		scripts := []string{"sleep WORD & echo done", "(sleep WORD &); echo done", "nohup sleep WORD & echo done", "trap '' TERM HUP; sleep WORD & echo done"}
		if s.conf.Sandbox != nil { // nothing finds these otherwise
			scripts = append(scripts, "setsid sleep WORD & sleep 0.1; echo done", "(setsid sh -c 'sleep WORD & sleep WORD' &) ; sleep 0.1; echo done")
		}
		for _, script := range scripts {
			word := sleeper()
			if text, err := bash(t, s, strings.ReplaceAll(script, "WORD", word)); err != nil || !strings.Contains(text, "done\n") {
				t.Errorf("%s: %q, %v", script, text, err)
			}
			gone(t, word)
		}
	})
}

// Without a launcher a process in a session of its own escapes, but it does not hold the call.
func TestEscaped(t *testing.T) {
	s := shell(t, ShellConfig{})
	word := sleeper()
	if text, err := bash(t, s, "setsid sleep "+word+" & sleep 0.2; echo done"); err != nil || text != "done\n" {
		t.Errorf("%q, %v", text, err)
	}
	if len(sleeping(word)) == 0 {
		t.Error("the test has lost its subject")
	}
	for _, pid := range sleeping(word) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	gone(t, word)
}

func TestConfined(t *testing.T) {
	for _, engine := range []sandbox.Engine{sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(string(engine), func(t *testing.T) {
			policy := boxed(t)
			s := shell(t, ShellConfig{Sandbox: box(t, engine), Policy: policy, Environ: append(os.Environ(), "MY_KEY=secret"), Env: sandbox.Env{Drop: []string{"PLAIN"}}})
			outside := filepath.Dir(s.conf.Workspace.Root()) + "/outside"
			write := "echo x > in && echo y > $TMPDIR/t && cat $TMPDIR/t && echo z > ../outside"
			if text, err := bash(t, s, write); err == nil || !strings.Contains(err.Error(), "confined by "+string(engine)) || !strings.Contains(err.Error(), "\ny\n") {
				t.Errorf("%q, %v", text, err)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it was written outside")
			}
			if text, err := bash(t, s, "cat $TMPDIR/t; env"); err != nil || !strings.HasPrefix(text, "y\n") || strings.Contains(text, "secret") {
				t.Errorf("%q, %v", text, err)
			}
			policy.SetPlan(true)
			if text, err := bash(t, s, "cat in; echo x > in2"); err == nil || !strings.Contains(err.Error(), "writes only in $TMPDIR") {
				t.Errorf("in plan mode: %q, %v", text, err)
			}
			policy.SetPlan(false)
			inv, err := prepare(t, Bash(s), `{"command":"echo x > ../outside","unsandboxed":true,"reason":"to see"}`)
			want := permission.Access{Kind: permission.Execute, Command: "echo x > ../outside", Unconfined: true, Reason: "to see"}
			if d := cmp.Diff(want, inv.Access); err != nil || d != "" {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
			if _, err := inv.Run(t.Context()); err != nil {
				t.Errorf("unsandboxed: %v", err)
			}
			if err := os.Remove(outside); err != nil {
				t.Error(err)
			}
			policy.SetPreset(permission.FullAccess)
			if text, err := bash(t, s, "echo x > ../outside"); err != nil {
				t.Errorf("full access: %q, %v", text, err)
			}
			temp := s.temp
			s.Close()
			if _, err := os.Stat(temp); err == nil || temp == "" {
				t.Errorf("the folder %q for temporary files is still there", temp)
			}
			policy.SetPreset(permission.WorkspaceWrite)
			if _, err := bash(t, s, "true"); !errors.Is(err, errClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
	s := shell(t, ShellConfig{Sandbox: box(t, sandbox.None), Policy: boxed(t), Required: true})
	if text, err := bash(t, s, "echo ran"); err == nil || text != "" || strings.Contains(err.Error(), "ran\n") {
		t.Errorf("required: %q, %v", text, err)
	}
}
