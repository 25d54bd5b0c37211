package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// onTerminal is a reasonix that runs on a pseudo-terminal, and its user.
type onTerminal struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	more *sync.Cond
	out  []byte // all of it
	seen int    // how much of it was awaited
	end  bool
}

// terminalHome makes a home whose provider "case" plays the script, and a workspace.
func terminalHome(t *testing.T, script string) (work string) {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("REASONIX_HOME", home)
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	for name, text := range map[string]string{"config.toml": "[[providers]]\nname = \"case\"\nkind = \"scripted\"\nfile = \"case.jsonl\"\n", "case.jsonl": script} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return work
}

func runOnTerminal(t *testing.T, args ...string) *onTerminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"reasonix"}, args...) // TestMain goes by the name
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	o := &onTerminal{t: t, tty: tty, cmd: cmd}
	o.more = sync.NewCond(&o.mu)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			o.mu.Lock()
			o.out = append(o.out, buf[:n]...)
			o.end = err != nil
			o.more.Broadcast()
			o.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	// What never comes is told by what came instead, not by a hanging test.
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = cmd.Process.Kill()
		tty.Close()
	})
	return o
}

// await waits until text has come behind what was awaited before, and returns
// what came up to its end.
func (o *onTerminal) await(text string) string {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if i := bytes.Index(o.out[o.seen:], []byte(text)); i >= 0 {
			part := string(o.out[o.seen : o.seen+i+len(text)])
			o.seen += i + len(text)
			return part
		}
		if o.end {
			o.t.Fatalf("%q did not come; since what was awaited before:\n%.4000q", text, o.out[o.seen:])
		}
		o.more.Wait()
	}
}

func (o *onTerminal) press(keys string) {
	o.t.Helper()
	if _, err := o.tty.WriteString(keys); err != nil {
		o.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code and what came before it.
func (o *onTerminal) exit() (code int, rest string) {
	o.t.Helper()
	o.mu.Lock()
	for !o.end {
		o.more.Wait()
	}
	rest = string(o.out[o.seen:])
	o.mu.Unlock()
	_ = o.cmd.Wait() // the code says it
	return o.cmd.ProcessState.ExitCode(), rest
}

const (
	ctrlC, ctrlD, enter = "\x03", "\x04", "\r"
	up                  = "\x1b[A"
	ready               = "\r\x1b[2C" // the cursor stands behind the empty prompt
)

// TestChat: several prompts with thoughts, a tool call in one line, a question
// answered by a key, and the way out.
func TestChat(t *testing.T) {
	work := terminalHome(t, `{"think":"Hm.","text":"I will.","tools":[{"name":"write_file","args":{"path":"a.txt","content":"1\n"}}]}
{"text":"Done \u001b[2Jas told."}
{"text":"Second answer."}
{"tools":[{"name":"write_file","args":{"path":"b.txt","content":"2\n"}}]}
{"text":"Third answer."}
`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work, "--preset", "read-only")
	o.await("model case/m, permissions read-only")
	o.await(ready)
	o.press("Write a note" + enter)
	o.await(dim + "Hm." + reset)
	o.await("● ")
	o.await("+1")
	o.await("? Write a.txt")
	o.await("1  Allow once (y)")
	o.await("choose: ")
	o.press("y")
	o.await("Allow once\r\n")
	o.await("✓ ")
	o.await("Done \uFFFD[2Jas told.")
	o.await(ready)
	if _, err := os.Stat(filepath.Join(work, "a.txt")); err != nil {
		t.Error(err)
	}
	o.press("Again" + enter)
	o.await("Second answer.")
	o.await(ready)
	o.press("And once more" + enter)
	o.await("choose: ")
	o.press("q\x1b") // q is no answer; Escape refuses
	o.await("refused\r\n")
	o.await("✗ ")
	o.await("Third answer.")
	o.await(ready)
	if _, err := os.Stat(filepath.Join(work, "b.txt")); err == nil {
		t.Error("b.txt was written")
	}
	o.press(up + up)
	o.await("Again")
	o.press(ctrlC)
	o.press(ctrlC)
	o.await("Ctrl-C again leaves")
	o.press(ctrlC)
	if code, rest := o.exit(); code != 0 || !strings.HasSuffix(rest, "\x1b[?2004l") {
		t.Errorf("exit %d, %q", code, rest)
	}
}

// TestChatCancel: Ctrl-C ends the turn that runs, also with a question open, and
// the chat goes on; what was typed meanwhile is the next line.
func TestChatCancel(t *testing.T) {
	work := terminalHome(t, `{"text":"Wait","hang":true}
{"tools":[{"name":"write_file","args":{"path":"a.txt","content":"1\n"}}]}
{"text":"Here I am."}
`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work, "--preset", "read-only")
	o.await(ready)
	o.press("Hang" + enter)
	o.await("Wait")
	o.press("Next")
	o.press(ctrlC)
	o.await("stop reason: cancelled")
	o.await("Next")
	o.press(" one" + enter)
	o.await("choose: ")
	o.press(ctrlC)
	o.await("stop reason: cancelled")
	o.await(ready)
	o.press("Hello" + enter)
	o.await("Here I am.")
	o.await(ready)
	o.press(ctrlD)
	if code, rest := o.exit(); code != 0 {
		t.Errorf("exit %d, %q", code, rest)
	}
}

// TestChatLines: Tab completes a command, /help lists them, a backslash and a
// paste make lines of one prompt, and what chat does not know goes to the agent.
func TestChatLines(t *testing.T) {
	work := terminalHome(t, `{"text":"Answer."}
{"text":"Nobody knows."}
`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work)
	o.await(ready)
	o.press("/stat\t")
	o.await("/status ")
	o.press(enter)
	o.await("permissions: workspace-write")
	o.await(ready)
	o.press("/process\t\t")
	o.await("/process  /processes")
	o.press(ctrlC + "/help" + enter)
	o.await("/exit ")
	o.await("/model [ref or reset]")
	o.await("Alt-Enter")
	o.await(ready)
	o.press("first\\" + enter + "second \x1b[200~third\r\nfourth\n\x1b[201~" + "fifth" + enter)
	o.await("Answer.")
	o.await(ready)
	o.press("/history 2" + enter)
	o.await("first second third fourth fifth")
	o.await(ready)
	o.press("/nobody" + enter)
	o.await("Nobody knows.")
	o.await(ready)
	o.press("/quit" + enter)
	if code, rest := o.exit(); code != 0 {
		t.Errorf("exit %d, %q", code, rest)
	}
}

// TestChatResume: the replay shows the earlier turns, and what was written then
// comes back by Up.
func TestChatResume(t *testing.T) {
	work := terminalHome(t, `{"text":"The first answer.","tools":[{"name":"write_file","args":{"path":"a.txt","content":"1\n"}},{"name":"read_file","args":{"path":"no.txt"}}]}
{"text":"It is done."}
`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work)
	o.await(ready)
	o.press("My question" + enter)
	o.await("It is done.")
	o.await(ready)
	o.press(ctrlD)
	o.exit()

	o = runOnTerminal(t, "chat", "--resume", "--cwd", work, "--preset", "danger-full-access")
	o.await(promptMark + "My question")
	o.await("The first answer.")
	if part := o.await("a.txt\r\n"); !strings.Contains(part, "✓") && !strings.Contains(part, "+++") {
		t.Errorf("the call is shown as %q", part)
	}
	o.await("✗ ")
	o.await("no.txt does not exist")
	o.await("It is done.")
	o.await("resumed session")
	o.await("permissions danger-full-access")
	o.await(ready)
	o.press(up)
	o.await("My question")
	o.press(ctrlC + ctrlD)
	if code, rest := o.exit(); code != 0 {
		t.Errorf("exit %d, %q", code, rest)
	}
	o = runOnTerminal(t, "chat", "--resume", "nobody")
	o.await(`there is no session "nobody"`)
	if code, _ := o.exit(); code != 1 {
		t.Errorf("exit %d", code)
	}
}

// TestChatPlain: NO_COLOR takes the colours away, and TERM=dumb all that steers a
// terminal.
func TestChatPlain(t *testing.T) {
	work := terminalHome(t, `{"think":"Hm.","text":"Answer.","tools":[{"name":"write_file","args":{"path":"a.txt","content":"1\n"}}]}
{"text":"Done."}
`)
	t.Setenv("NO_COLOR", "1")
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work)
	o.await(ready)
	o.press("Hi" + enter)
	if part := o.await("Done."); strings.Contains(part, "m") && bytes.Contains([]byte(part), []byte(dim)) {
		t.Errorf("colours in %q", part)
	}
	o.press(ctrlD)
	if _, rest := o.exit(); strings.Contains(string(o.out), reset) {
		t.Errorf("colours: %q %q", o.out, rest)
	}

	t.Setenv("TERM", "dumb")
	o = runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work, "--preset", "read-only")
	o.await(promptMark)
	o.press("Hi\n")
	o.await("choose: ")
	o.press("y\n")
	o.await("Done.")
	o.await(promptMark)
	o.press(ctrlD)
	if code, _ := o.exit(); code != 0 || bytes.ContainsRune(o.out, '\x1b') {
		t.Errorf("exit %d, %q", code, o.out)
	}
}

// TestChatDiff: a long change is shortened, and shown in full by a key before it
// is decided on.
func TestChatDiff(t *testing.T) {
	work := terminalHome(t, `{"tools":[{"name":"write_file","args":{"path":"a.txt","content":"`+strings.Repeat(`line\n`, 60)+`the end\n"}}]}
{"text":"Done."}
`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work, "--preset", "read-only")
	o.await(ready)
	o.press("Go" + enter)
	if part := o.await("choose: "); strings.Contains(part, "the end") || !strings.Contains(part, "… 34 more lines") || !strings.Contains(part, green+"+line") {
		t.Errorf("the question shows %q", part)
	}
	o.press("v")
	o.await("the end")
	o.await("choose: ")
	o.press("1")
	o.await("Done.")
	o.press(ctrlD)
	if code, rest := o.exit(); code != 0 {
		t.Errorf("exit %d, %q", code, rest)
	}
}

// TestChatSignal: SIGTERM ends the turn and leaves the terminal as it was.
func TestChatSignal(t *testing.T) {
	work := terminalHome(t, `{"text":"Wait","hang":true}`)
	o := runOnTerminal(t, "chat", "--model", "case/m", "--cwd", work)
	o.await(ready)
	o.press("Hang" + enter)
	o.await("Wait")
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o.await("stop reason: cancelled")
	if code, rest := o.exit(); code != 0 || !strings.HasSuffix(rest, "\x1b[?2004l") {
		t.Errorf("exit %d, %q", code, rest)
	}
}

// TestSetupOnTerminal: the questions, and a key that is never echoed.
func TestSetupOnTerminal(t *testing.T) {
	terminalHome(t, "")
	o := runOnTerminal(t, "setup", "--no-check")
	o.await("  case  kind scripted")
	o.await("13  vLLM")
	o.await("Provider, by number or id [1]: ")
	o.press("\r")
	o.await("Address of its API [https://api.deepseek.com]: ")
	o.press("\r")
	o.await("Key (not shown; empty to keep what DEEPSEEK_API_KEY holds): ")
	o.press("s3cret\r")
	o.await("Model id [deepseek-flash]: ")
	o.press("\r")
	o.await("wrote the key as DEEPSEEK_API_KEY")
	if code, _ := o.exit(); code != 0 || bytes.Contains(o.out, []byte("s3cret")) {
		t.Errorf("exit %d, %q", code, o.out)
	}
	data, err := os.ReadFile(filepath.Join(os.Getenv("REASONIX_HOME"), ".env"))
	if err != nil || string(data) != "DEEPSEEK_API_KEY=s3cret\n" {
		t.Errorf("%q, %v", data, err)
	}
	o = runOnTerminal(t, "setup", "--provider", "groq", "--base-url", "http://localhost:1/v1")
	o.await("Key (not shown")
	o.press(ctrlC)
	o.await("setup was broken off; nothing was written")
	if code, _ := o.exit(); code != 130 {
		t.Errorf("exit %d", code)
	}
}
