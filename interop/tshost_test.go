//go:build interop

package interop

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summary is what ts/host.mjs prints.
type summary struct {
	ProtocolVersion int            `json:"protocolVersion"`
	Agent           string         `json:"agent"`
	Turns           []hostTurn     `json:"turns"`
	Errors          map[string]int `json:"errors"`
	Reopened        *reopened      `json:"reopened"`
	Late            int            `json:"late"` // updates of a turn while none was running
	Exit            int            `json:"exit"`
}

// reopened is what a host saw of a session that another process has left.
type reopened struct {
	Listed int      `json:"listed"`
	Title  string   `json:"title"`
	Replay []string `json:"replay"` // kinds, of calls with their status
	Mode   string   `json:"mode"`
	Left   int      `json:"left"` // listed after the delete
	Code   int      `json:"code"` // of a load after it
}

type hostTurn struct {
	Step       string     `json:"step"`
	StopReason string     `json:"stopReason"`
	Thought    string     `json:"thought"`
	Text       string     `json:"text"`
	Plan       []string   `json:"plan"` // the last one's statuses
	Tools      []hostTool `json:"tools"`
	Asked      []hostAsk  `json:"asked"`
	File       string     `json:"file"` // what acpkit-demo.md holds after the turn
}

type hostTool struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Statuses []string `json:"statuses"`
	Diff     bool     `json:"diff"` // the call shows one at its end
}

type hostAsk struct {
	Tool   string   `json:"tool"`
	Kinds  []string `json:"kinds"`
	Answer string   `json:"answer"`
}

// turn is a hostTurn in the words that the tests compare.
type turn struct {
	Step       string
	StopReason string
	Thinks     bool
	Says       string // the end of the text
	Plan       string
	Tools      []string
	Asked      []string
	Note       string // the prompt that stands in acpkit-demo.md; "" when there is no such file
}

func (h hostTurn) turn() turn {
	t := turn{Step: h.Step, StopReason: h.StopReason, Thinks: h.Thought != "", Says: lastSentence(h.Text), Plan: strings.Join(h.Plan, " ")}
	for _, tool := range h.Tools {
		s := tool.Name + " (" + tool.Kind + "): " + strings.Join(tool.Statuses, " ")
		if tool.Diff {
			s += ", with a diff"
		}
		t.Tools = append(t.Tools, s)
	}
	for _, a := range h.Asked {
		t.Asked = append(t.Asked, a.Tool+": "+strings.Join(a.Kinds, " ")+" → "+a.Answer)
	}
	for line := range strings.Lines(h.File) {
		if quoted, ok := strings.CutPrefix(line, "> "); ok {
			t.Note = strings.TrimSpace(quoted)
			break
		}
	}
	return t
}

func lastSentence(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, ". "); i >= 0 {
		text = text[i+2:]
	}
	return strings.TrimSpace(text)
}

// The steps of ts/host.mjs, and what our agent's demo model makes of them.
const (
	ask     = "write_file: allow_once allow_always reject_once reject_always → "
	planned = "todo_write (think): pending in_progress completed"
	read    = "read_file (read): pending in_progress completed"
	wrote   = "write_file (edit): pending in_progress completed, with a diff"
	refused = "write_file (edit): pending failed"
)

func allowed(step, note string) turn {
	return turn{Step: step, StopReason: "end_turn", Thinks: true, Says: "I wrote a note with your prompt to acpkit-demo.md.",
		Plan: "completed completed completed", Tools: []string{planned, read, wrote, planned}, Asked: []string{ask + "allow_once"}, Note: note}
}

func refusal(note string) turn {
	return turn{Step: "refuse", StopReason: "end_turn", Thinks: true, Says: "Writing acpkit-demo.md was refused, so nothing was changed.",
		Plan: "completed pending completed", Tools: []string{planned, read, refused, planned}, Asked: []string{ask + "reject_once"}, Note: note}
}

func cancelled(note string) turn {
	return turn{Step: "cancel", StopReason: "cancelled", Thinks: true, Note: note}
}

func cancelledAsk(note string) turn {
	return turn{Step: "cancel-permission", StopReason: "cancelled", Thinks: true, Says: "Let me look at the workspace first.",
		Plan: "in_progress pending pending", Tools: []string{planned, read, refused}, Asked: []string{ask + "cancelled"}, Note: note}
}

const (
	first  = "first note"
	second = "second note, with “quotes”, 🙂 and\ttabs"
)

type hostCase struct {
	steps  []string
	turns  []turn         // of the steps that prompt
	errors map[string]int // of the step errors
	env    []string
}

// TestTypeScriptHost drives our agent with a host on the TypeScript SDK: each step in a session of its own, and all in one.
func TestTypeScriptHost(t *testing.T) {
	// Often, because the cancellation and the answer to the question are two messages that follow each other closely. On one
	// processor the second is more likely to be seen before the first has taken effect.
	cancelledAsks := hostCase{steps: append(slices.Repeat([]string{"cancel-permission"}, 20), "again"),
		turns: append(slices.Repeat([]turn{cancelledAsk("")}, 20), allowed("again", second))}
	oneProcessor := cancelledAsks
	oneProcessor.env = []string{"GOMAXPROCS=1"}
	for name, c := range map[string]hostCase{
		"allow":                              {steps: []string{"allow"}, turns: []turn{allowed("allow", first)}},
		"refuse":                             {steps: []string{"refuse"}, turns: []turn{refusal("")}},
		"cancel":                             {steps: []string{"cancel", "again"}, turns: []turn{cancelled(""), allowed("again", second)}},
		"cancel-permission":                  cancelledAsks,
		"cancel-permission on one processor": oneProcessor,
		"errors": {steps: []string{"errors", "again"}, turns: []turn{allowed("again", second)},
			errors: map[string]int{"unknown method": -32601, "unknown session": -32602, "relative cwd": -32602, "empty prompt": -32602}},
		"one session": {steps: []string{"allow", "refuse", "cancel", "again", "cancel-permission", "allow"},
			turns: []turn{allowed("allow", first), refusal(first), cancelled(first), allowed("again", second), cancelledAsk(second), allowed("allow", first)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.extra = c.env
			got := p.typeScriptHost(t, c.steps...)
			want := summary{ProtocolVersion: 1, Agent: "reasonix", Errors: c.errors}
			turns := make([]turn, len(got.Turns))
			for i, h := range got.Turns {
				turns[i] = h.turn()
				if h.StopReason == "cancelled" && strings.Contains(h.Text, "Step 200 of 200") {
					t.Errorf("turn %d was cancelled, but the whole text came", i+1)
				}
				if h.Step == "cancel" {
					turns[i].Says = "" // how far it came is chance
				}
			}
			got.Turns = nil
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("summary (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.turns, turns); d != "" {
				t.Errorf("turns (-want +got):\n%s", d)
			}
			p.judged(t)
		})
	}
}

// TestTypeScriptHostReopens has a session begun in one process of the agent, and listed, loaded, closed, resumed, continued and
// deleted in another. In both the agent asks before it writes.
func TestTypeScriptHostReopens(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.typeScriptHost(t, "allow")
	got := p.typeScriptHost(t, "reopen", "refuse", "delete")
	if len(got.Turns) != 1 || got.Turns[0].StopReason != "end_turn" || got.Reopened == nil {
		t.Fatalf("%+v", got)
	}
	want := reopened{Listed: 1, Title: "first note", Mode: "normal", Code: -32602, Replay: []string{
		"user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "plan", "tool_call completed", "tool_call completed", "tool_call completed",
		"plan", "tool_call completed", "agent_message_chunk"}}
	got.Reopened.Title, _, _ = strings.Cut(got.Reopened.Title, " [")
	if d := cmp.Diff(want, *got.Reopened); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p.judged(t)
}

func (p place) typeScriptHost(t *testing.T, steps ...string) (s summary) {
	t.Helper()
	command := append([]string{nodeProgram(t), abs(t, "ts/host.mjs"), p.workspace, strings.Join(steps, ",")}, p.agent()...)
	exit, stdout, stderr := p.run(t, command...)
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	if stderr != "" {
		t.Errorf("nothing went wrong, but there is output on stderr:\n%s", stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &s); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	return s
}
