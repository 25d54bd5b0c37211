package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/scripted"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// session is a session as far as a turn needs one. It records what goes out, to the user and to the model.
type session struct {
	t            *testing.T
	ws           *workspace.Workspace
	policy       permission.Policy
	history      History
	model        model.Model
	tools        []tool.Tool // beside the usual ones
	limits       Limits
	window       int
	goal         func() bool
	steer        func(last bool) []Steer
	redact, hide func(string) string
	answer       func(context.Context, Ask) (permission.Answer, error)
	emit         func(Event) error // looks at an event before it is recorded

	events   []Event // of the last prompt, without Answer
	all      []Event // as a ledger keeps them
	lost     bool    // an event could not be emitted
	before   []model.Message
	requests []model.Request
	asks     []Ask
}

func newSession(t *testing.T, script ...string) *session {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, ws: ws}
	s.play(script...)
	return s
}

// play lets the model go on with another script.
func (s *session) play(script ...string) {
	s.t.Helper()
	loaded, err := scripted.Read("test", strings.NewReader(strings.Join(script, "\n")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.model = loaded.New()
}

// Stream implements model.Model for recording.
func (s *session) Stream(ctx context.Context, req *model.Request, emit func(model.Delta) error) (model.Result, error) {
	s.requests = append(s.requests, *req)
	return s.model.Stream(ctx, req, emit)
}

// prompt runs a turn and checks what must hold after each.
func (s *session) prompt(ctx context.Context, text string) Outcome {
	s.t.Helper()
	s.events, s.requests, s.asks = nil, nil, nil
	t := Turn{
		Model: s, System: "be brief", History: &s.history, Prompt: text, Policy: &s.policy, Limits: s.limits, Window: s.window, Goal: s.goal, Steer: s.steer, Redact: s.redact, Hide: s.hide,
		Tools: tool.NewSet(append([]tool.Tool{tool.ReadFile(s.ws), tool.WriteFile(s.ws), tool.TodoWrite()}, s.tools...)...),
		Emit: func(e Event) error {
			_, hidden := e.(Answer)
			if s.emit != nil && !hidden {
				if err := s.emit(e); err != nil {
					s.lost = true
					return err
				}
			}
			s.all = append(s.all, e)
			if hidden {
				return nil
			}
			s.events = append(s.events, e)
			return nil
		},
	}
	if s.answer != nil {
		t.Ask = func(ctx context.Context, ask Ask) (permission.Answer, error) {
			s.asks = append(s.asks, ask)
			return s.answer(ctx, ask)
		}
	}
	if len(s.all) == 0 {
		s.before = slices.Clone(s.history.Messages())
	}
	s.all = append(s.all, event.Prompt{Text: text})
	outcome := Run(ctx, t)
	done := event.Done{Outcome: event.EndTurn}
	if outcome == (Refusal{}) {
		done.Outcome = event.Refusal
	}
	s.all = append(s.all, done)
	checkHistory(s.t, s.history.Messages())
	s.checkRestored()
	return outcome
}

// checkRestored brings the history back from what a ledger would have kept.
func (s *session) checkRestored() {
	s.t.Helper()
	if s.lost {
		return
	}
	h := NewHistory(s.before)
	r := NewRestorer(h)
	for _, e := range s.all {
		kind, data, err := event.Encode(e)
		if err != nil {
			s.t.Fatal(err)
		}
		if kind == "" {
			continue
		}
		if e, err = event.Decode(kind, data); err != nil {
			s.t.Fatal(err)
		}
		r.Apply(e)
	}
	if d := cmp.Diff(s.history.Messages(), h.Messages(), cmpopts.EquateEmpty()); d != "" {
		s.t.Errorf("history restored from the events (-live +restored):\n%s", d)
	}
}

func (s *session) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.ws.Root(), name), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.ws.Root(), name))
	return err == nil
}

// story is the events in short.
func (s *session) story() []string {
	var story []string
	for _, e := range s.events {
		switch e := e.(type) {
		case Retry:
			text, _, _ := strings.Cut(e.Text, " in ")
			story = append(story, "retry "+text+" in T")
		case Nudge:
			story = append(story, "nudge")
		case Steer:
			story = append(story, "steer "+e.Text)
		case Compacting:
			story = append(story, "compacting")
		case Compacted:
			story = append(story, fmt.Sprintf("compacted %d of %d", e.Dropped, e.Before))
		case Thought:
			story = append(story, "thought "+e.Text)
		case Text:
			story = append(story, "text "+e.Text)
		case Plan:
			story = append(story, fmt.Sprintf("plan of %d", len(e.Entries)))
		case ToolCall:
			story = append(story, "call "+e.ID+" "+e.Title)
		case ToolStart:
			story = append(story, "start "+e.ID)
		case ToolEnd:
			state := "done "
			if e.Failed {
				state = "failed "
			}
			story = append(story, state+e.ID+" "+e.Text)
		case Usage:
			story = append(story, fmt.Sprintf("usage %d", e.Input))
		}
	}
	return story
}

// checkEvents checks the life of each call: announced once, started at most once, ended once.
func checkEvents(t *testing.T, events []Event) {
	t.Helper()
	state := map[string]string{}
	step := func(id, from, to string) {
		if !strings.Contains(from, "|"+state[id]+"|") {
			t.Errorf("call %s is %q and becomes %q", id, state[id], to)
		}
		state[id] = to
	}
	for _, e := range events {
		switch e := e.(type) {
		case ToolCall:
			step(e.ID, "||", "pending")
			if e.Title == "" || e.Kind == "" || e.Args != nil && !json.Valid(e.Args) {
				t.Errorf("announced as %+v", e)
			}
		case ToolStart:
			step(e.ID, "|pending|", "running")
		case ToolEnd:
			step(e.ID, "|pending|running|", "ended")
			if e.Text == "" {
				t.Errorf("call %s ends without a text", e.ID)
			}
		}
	}
	for id, last := range state {
		if last != "ended" {
			t.Errorf("call %s stays %s", id, last)
		}
	}
}

// checkHistory checks what providers insist on: behind each answer with calls one result for each, in order.
func checkHistory(t *testing.T, messages []model.Message) {
	t.Helper()
	seen := map[string]bool{}
	var open []model.Call
	for i, m := range messages {
		if m.Role != model.Tool && len(open) > 0 {
			t.Errorf("message %d: %d calls have no result", i, len(open))
			open = nil
		}
		switch m.Role {
		case model.Assistant:
			if m.Text == "" && len(m.Calls) == 0 {
				t.Errorf("message %d: an empty answer", i)
			}
			for _, call := range m.Calls {
				if seen[call.ID] || call.ID == "" || call.Name == "" {
					t.Errorf("message %d: call %+v", i, call)
				}
				seen[call.ID] = true
				var object map[string]any
				if err := json.Unmarshal(call.Args, &object); err != nil || object == nil {
					t.Errorf("message %d: arguments %s", i, call.Args)
				}
			}
			open = m.Calls
		case model.Tool:
			if len(open) == 0 || open[0].ID != m.CallID || open[0].Name != m.Name || m.Text == "" {
				t.Fatalf("message %d: result %+v, open calls %+v", i, m, open)
			}
			open = open[1:]
		}
	}
	if len(open) > 0 {
		t.Errorf("%d calls at the end have no result", len(open))
	}
}

func expect(t *testing.T, s *session, got, want Outcome, story ...string) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(sameError)); d != "" {
		t.Errorf("outcome (-want +got):\n%s", d)
	}
	if d := cmp.Diff(story, s.story()); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	checkEvents(t, s.events)
}

func sameError(a, b error) bool { return a != nil && b != nil && a.Error() == b.Error() }
