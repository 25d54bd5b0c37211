//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// acpx is the command line of acpx with our agent. A queue process holds the agent between the prompts of a session; it goes
// when the session is closed, and by itself after ten seconds without work.
func (p place) acpx(t *testing.T, args ...string) []string {
	t.Helper()
	command := []string{nodeProgram(t), abs(t, acpx), "--cwd", p.workspace, "--format", "json", "--json-strict", "--ttl", "10",
		"--timeout", "60", "--agent", strings.Join(p.agent(), " ")}
	return append(command, args...)
}

// acpxRun is what a run of acpx came to.
type acpxRun struct {
	Code int
	Note bool // acpkit-demo.md is there
	// What it printed: with --json-strict the messages that crossed, and answers of its own to other commands than prompts.
	StopReasons []string // of the prompts' answers
	Says        string   // the last sentence of the text
	Tools       []string // each call's name and statuses
	Action      string   // of an answer of its own
	Cancelled   bool
}

// exits of acpx.
const (
	acpxFine   = 0
	acpxDenied = 5 // a permission was denied
)

func (p place) runACPX(t *testing.T, args ...string) acpxRun {
	t.Helper()
	exit, stdout, stderr := p.run(t, p.acpx(t, args...)...)
	if stderr != "" {
		t.Errorf("acpx %q wrote on stderr:\n%s", args, stderr)
	}
	return p.acpxRun(t, exit, stdout)
}

func (p place) hasNote() bool {
	_, err := os.Stat(filepath.Join(p.workspace, "acpkit-demo.md"))
	return err == nil
}

func (p place) acpxRun(t *testing.T, exit int, stdout string) acpxRun {
	t.Helper()
	r := acpxRun{Code: exit, Note: p.hasNote()}
	text := ""
	index := map[string]int{} // of a call in r.Tools
	for line := range strings.Lines(stdout) {
		var m struct {
			Action    string
			Cancelled bool
			Result    struct{ StopReason string }
			Params    struct {
				Update struct {
					SessionUpdate, ToolCallID, Name, Status string
					Content                                 json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("acpx printed %q: %v", line, err)
		}
		if m.Action != "" {
			r.Action, r.Cancelled = m.Action, m.Cancelled
		}
		if m.Result.StopReason != "" {
			r.StopReasons = append(r.StopReasons, m.Result.StopReason)
		}
		switch u := m.Params.Update; u.SessionUpdate {
		case "agent_message_chunk":
			var content struct{ Text string }
			_ = json.Unmarshal(u.Content, &content)
			text += content.Text
		case "tool_call":
			index[u.ToolCallID] = len(r.Tools)
			r.Tools = append(r.Tools, u.Name+": "+u.Status)
		case "tool_call_update":
			if i, ok := index[u.ToolCallID]; ok && u.Status != "" {
				r.Tools[i] += " " + u.Status
			}
		}
	}
	r.Says = lastSentence(text)
	return r
}

func acpxAllowed() acpxRun {
	return acpxRun{Code: acpxFine, Note: true, StopReasons: []string{"end_turn"}, Says: "I wrote a note with your prompt to acpkit-demo.md.",
		Tools: []string{"todo_write: pending in_progress completed", "read_file: pending in_progress completed",
			"write_file: pending in_progress completed", "todo_write: pending in_progress completed"}}
}

func acpxDeniedAll() acpxRun {
	e := acpxAllowed()
	e.Code, e.Note = acpxDenied, false
	e.Says = "Writing acpkit-demo.md was refused, so nothing was changed."
	e.Tools[2] = "write_file: pending failed"
	return e
}

// TestACPXExec is one prompt, and one process of the agent, each.
func TestACPXExec(t *testing.T) {
	for _, c := range []struct {
		permissions string
		want        acpxRun
	}{
		{"--approve-all", acpxAllowed()},
		{"--deny-all", acpxDeniedAll()},
	} {
		t.Run(c.permissions, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if d := cmp.Diff(c.want, p.runACPX(t, c.permissions, "exec", "write a note")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			p.judged(t)
		})
	}
}

// TestACPXSession keeps a session over several runs of acpx, and cancels a prompt in one of them from another.
func TestACPXSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Cleanup(func() { _ = os.Remove(p.acpxSockets()) })
	made := p.runACPX(t, "sessions", "new")
	if made.Code != acpxFine || made.Action != "session_ensured" {
		t.Fatalf("sessions new: %+v", made)
	}

	slow := p.startACPX(t, "--approve-all", "prompt", "a slow one")
	slow.until(t, "agent_message_chunk")
	if c := p.runACPX(t, "cancel"); c.Code != acpxFine || !c.Cancelled {
		t.Errorf("cancel: %+v", c)
	}
	got := slow.wait(t)
	if !strings.HasPrefix(got.Says, "Step ") || got.Says == "Step 200 of 200." {
		t.Errorf("the cancelled text ends with %q", got.Says)
	}
	got.Says = "" // how far it came is chance
	if d := cmp.Diff(acpxRun{Code: acpxFine, StopReasons: []string{"cancelled"}}, got); d != "" {
		t.Errorf("cancelled (-want +got):\n%s", d)
	}

	if d := cmp.Diff(acpxAllowed(), p.runACPX(t, "--approve-all", "prompt", "write a note")); d != "" {
		t.Errorf("allowed after the cancellation (-want +got):\n%s", d)
	}
	denied := acpxDeniedAll()
	denied.Note = true     // from before
	denied.Code = acpxFine // it counts over all prompts of the session, and one was allowed
	if d := cmp.Diff(denied, p.runACPX(t, "--deny-all", "prompt", "write a note")); d != "" {
		t.Errorf("denied (-want +got):\n%s", d)
	}
	// Its agent's process has ended by now; the next one finds the session again.
	p.stopQueue(t)
	if d := cmp.Diff(acpxAllowed(), p.runACPX(t, "--approve-all", "prompt", "write a note")); d != "" {
		t.Errorf("in a second process (-want +got):\n%s", d)
	}
	if closed := p.runACPX(t, "sessions", "close"); closed.Code != acpxFine || closed.Action != "session_closed" {
		t.Errorf("sessions close: %+v", closed)
	}
	p.nothingRuns(t) // the queue process ends the agent
	p.judged(t)
}

// stopQueue kills the process that holds the agent between prompts.
func (p place) stopQueue(t *testing.T) {
	t.Helper()
	for pid, command := range p.processes() {
		if strings.Contains(command, acpx) { // the agent then sees the end of its input
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	p.nothingRuns(t)
}

// acpxSockets is the folder of the queue process's socket. acpx names it by HOME, always in /tmp, and leaves it empty.
func (p place) acpxSockets() string {
	return filepath.Join("/tmp", fmt.Sprintf("acpx-%.5x", sha256.Sum256([]byte(p.home))))
}

// running is an acpx that has not ended.
type running struct {
	place
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stdout bytes.Buffer // what was read of it
	stderr bytes.Buffer
}

func (p place) startACPX(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	command := p.acpx(t, args...)
	r := &running{place: p, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = p.workspace, p.env(), &r.stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.lines = bufio.NewScanner(out)
	r.lines.Buffer(nil, 1<<20)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// until reads until a line has text in it.
func (r *running) until(t *testing.T, text string) {
	t.Helper()
	for r.lines.Scan() {
		r.stdout.WriteString(r.lines.Text() + "\n")
		if strings.Contains(r.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("acpx never printed %q (%v)\n%s%s", text, r.lines.Err(), r.stdout.String(), r.stderr.String())
}

func (r *running) wait(t *testing.T) acpxRun {
	t.Helper()
	for r.lines.Scan() {
		r.stdout.WriteString(r.lines.Text() + "\n")
	}
	_ = r.cmd.Wait() // its exit code is compared
	if r.stderr.Len() > 0 {
		t.Errorf("acpx wrote on stderr:\n%s", r.stderr.String())
	}
	return r.acpxRun(t, r.cmd.ProcessState.ExitCode(), r.stdout.String())
}
