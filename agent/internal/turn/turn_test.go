package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/scripted"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a session as far as a turn needs one. It records what goes out, to the user and to the model.
type session struct {
	t        *testing.T
	ws       *workspace.Workspace
	policy   permission.Policy
	history  History
	model    model.Model
	tools    []tool.Tool // beside the usual ones
	maxSteps int
	answer   func(context.Context, Ask) (permission.Answer, error)
	emit     func(Event) error // looks at an event before it is recorded

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
		Model: s, System: "be brief", History: &s.history, Prompt: text, Policy: &s.policy, MaxSteps: s.maxSteps,
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

func TestAnswer(t *testing.T) {
	s := newSession(t, `{"think":"hmm","text":"Hello there","chunks":3,"usage":{"input":7}}`)
	expect(t, s, s.prompt(t.Context(), "hi"), EndTurn{}, "thought hmm", "text Hello there", "usage 7")
	want := []model.Message{{Role: model.User, Text: "hi"}, {Role: model.Assistant, Text: "Hello there", Thought: "hmm"}}
	if d := cmp.Diff(want, s.history.Messages()); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	var names []string
	for _, spec := range s.requests[0].Tools {
		names = append(names, spec.Name)
	}
	if got := fmt.Sprintf("%s %s %d", s.requests[0].System, names, len(s.requests[0].Messages)); got != "be brief [read_file write_file todo_write] 1" {
		t.Errorf("request: %s", got)
	}
}

func TestTools(t *testing.T) {
	s := newSession(t,
		`{"text":"Let me see.","tools":[{"id":"a","name":"todo_write","args":{"todos":[{"content":"look","status":"in_progress"}]}},{"id":"b","name":"read_file","args":{"path":"in.txt", "offset":1}}],"usage":{"input":1}}`,
		`{"tools":[{"id":"c","name":"write_file","args":{"path":"out.txt","content":"x\n"}}]}`,
		`{"text":"Done.","usage":{"input":2}}`)
	s.put("in.txt", "one\ntwo\n")
	s.policy.SetPreset(permission.WorkspaceWrite)
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{},
		"text Let me see.", "usage 1",
		"plan of 1", "call a Update the plan (0 of 1 done)", "start a", "done a The plan has 1 steps, 0 of them completed.",
		"call b Read in.txt from line 2", "start b", "done b      2\ttwo\n",
		"call c Write out.txt", "start c", "done c Created out.txt (2 bytes).",
		"text Done.", "usage 2")

	out := filepath.Join(s.ws.Root(), "out.txt")
	diffs := []tool.Diff{{Path: out, New: "x\n"}}
	want := []Event{
		ToolCall{
			ID: "c", Tool: "write_file", Title: "Write out.txt", Kind: tool.KindEdit,
			Args: json.RawMessage(`{"path":"out.txt","content":"x\n"}`), Locations: []tool.Location{{Path: out}}, Diffs: diffs,
		},
		ToolStart{ID: "c"},
		ToolEnd{ID: "c", Text: "Created out.txt (2 bytes).", Diffs: diffs},
	}
	if d := cmp.Diff(want, s.events[9:12]); d != "" {
		t.Errorf("events of the write (-want +got):\n%s", d)
	}
	if !s.has("out.txt") {
		t.Error("nothing was written")
	}
	if d := cmp.Diff(s.history.Messages()[:6], s.requests[2].Messages); d != "" {
		t.Errorf("the last request does not hold the results (-want +got):\n%s", d)
	}
}

func TestCallIDs(t *testing.T) {
	long := strings.Repeat("i", 201)
	ids := func(s *session) (ids []string) {
		for _, e := range s.events {
			if call, ok := e.(ToolCall); ok {
				ids = append(ids, call.ID)
			}
		}
		return ids
	}
	s := newSession(t,
		`{"tools":[{"id":"call_2","name":"read_file"},{"name":"read_file"},{"id":"call_2","name":"read_file"},{"id":"a b","name":"x"},{"id":"é","name":"x"},{"id":"`+long+`","name":"x"}]}`,
		`{"tools":[{"id":"call_1","name":"read_file"},{"id":"ok","name":"read_file"}]}`,
		`{"text":"end"}`)
	s.prompt(t.Context(), "one")
	if d := cmp.Diff([]string{"call_2", "call_1", "call_3", "call_4", "call_5", "call_6", "call_7", "ok"}, ids(s)); d != "" {
		t.Errorf("first turn (-want +got):\n%s", d)
	}
	s.play(`{"tools":[{"id":"ok","name":"read_file"},{"id":"fresh","name":"read_file"}]}`, `{"text":"end"}`)
	s.prompt(t.Context(), "two")
	if d := cmp.Diff([]string{"call_8", "fresh"}, ids(s)); d != "" {
		t.Errorf("second turn (-want +got):\n%s", d)
	}
	s.history = *NewHistory(s.history.Messages())
	s.play(`{"tools":[{"id":"fresh","name":"read_file"}]}`, `{"text":"end"}`)
	s.prompt(t.Context(), "three")
	if d := cmp.Diff([]string{"call_9"}, ids(s)); d != "" {
		t.Errorf("after a restart (-want +got):\n%s", d)
	}
}

func TestCallsThatCannotRun(t *testing.T) {
	tests := []struct{ request, title, result, args string }{
		{`{"name":"read_file","args":"{\"path\":"}`, "read_file", "read_file: the arguments are not valid JSON: unexpected end of JSON input", "-"},
		{`{"name":"read_file","args":""}`, "read_file", "read_file: path is missing", "-"},
		{`{"name":"read_file","args":"[1,\n 2]"}`, "read_file", "read_file: the arguments are not a JSON object", "[1,2]"},
		{`{"name":"read_file","args":"{\n\"path\": 5}"}`, "read_file", "read_file: path must be a string", `{"path":5}`},
		{`{"name":"write_file","args":{"content":"x"}}`, "write_file", "write_file: path is missing", `{"content":"x"}`},
		{`{"name":"write_file","args":{"path":"../x"}}`, "Write ", "write_file: ", `{"path":"../x"}`},
		{`{"name":"todo_write","args":{"todos":1}}`, "Update the plan", "todo_write: todos must be an array", `{"todos":1}`},
		{`{"name":"nope","args":{}}`, `Unknown tool nope`, "nope: there is no tool of this name", "{}"},
		{`{"name":"","args":{}}`, `Unknown tool unknown`, "unknown: there is no tool of this name", "{}"},
		{`{"name":"a b\u0000é","args":{}}`, `Unknown tool a_b__`, "a_b__: there is no tool of this name", "{}"},
	}
	for _, test := range tests {
		s := newSession(t, `{"tools":[`+test.request+`]}`, `{"text":"I see."}`)
		s.policy.SetPreset(permission.FullAccess)
		if outcome := s.prompt(t.Context(), "go"); outcome != (EndTurn{}) {
			t.Errorf("%s: outcome %+v", test.request, outcome)
		}
		checkEvents(t, s.events)
		call, _ := s.events[0].(ToolCall)
		end, _ := s.events[1].(ToolEnd)
		if !strings.HasPrefix(call.Title, test.title) || !end.Failed || !strings.HasPrefix(end.Text, test.result) {
			t.Errorf("%s: %+v, %+v", test.request, call, end)
		}
		if test.args == "-" && call.Args != nil || test.args != "-" && string(call.Args) != test.args {
			t.Errorf("%s: shown arguments %s, want %s", test.request, call.Args, test.args)
		}
		result := s.requests[1].Messages[2]
		if result.Text != end.Text || !result.Failed {
			t.Errorf("%s: the model reads %+v", test.request, result)
		}
	}
}

func TestEndings(t *testing.T) {
	const calls = `,"tools":[{"name":"write_file","args":{"path":"x","content":"x"}}]`
	user := model.Message{Role: model.User, Text: "go"}
	said := model.Message{Role: model.Assistant, Text: "Well"}
	tests := []struct {
		name, line string
		outcome    Outcome
		story      []string
		history    []model.Message
	}{
		{"length", `{"text":"Well","finish":"length"}`, MaxTokens{}, []string{"text Well"}, []model.Message{user, said}},
		{"length, calls", `{"text":"Well","finish":"length"` + calls + `}`, MaxTokens{}, []string{"text Well"}, []model.Message{user, said}},
		{"length, nothing said", `{"finish":"length"}`, MaxTokens{}, nil, []model.Message{user}},
		{"filter", `{"text":"Well","finish":"content_filter"}`, Refusal{}, []string{"text Well"}, []model.Message{}},
		{"filter, calls", `{"finish":"content_filter"` + calls + `}`, Refusal{}, nil, []model.Message{}},
		{"broken", `{"text":"Well","finish":"insufficient_system_resource"}`, Failed{&model.Error{Finish: "insufficient_system_resource"}}, []string{"text Well"}, []model.Message{user, said}},
		{"tool_calls without calls", `{"text":"Well","finish":"tool_calls"}`, EndTurn{}, []string{"text Well"}, []model.Message{user, said}},
		{"another word", `{"text":"Well","finish":"eos"}`, EndTurn{}, []string{"text Well"}, []model.Message{user, said}},
		{"only thought", `{"think":"hmm"}`, EndTurn{}, []string{"thought hmm"}, []model.Message{user}},
		{"cut", `{"text":"Well","cut":true}`, Failed{&model.Error{Cut: true}}, []string{"text Well"}, []model.Message{user, said}},
		{"status", `{"status":500,"body":"oops"}`, Failed{&model.Error{Status: 500, Body: "oops"}}, nil, []model.Message{user}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSession(t, test.line)
			s.policy.SetPreset(permission.FullAccess)
			expect(t, s, s.prompt(t.Context(), "go"), test.outcome, test.story...)
			if d := cmp.Diff(test.history, s.history.Messages()); d != "" {
				t.Errorf("history (-want +got):\n%s", d)
			}
			if s.has("x") {
				t.Error("a withheld call ran")
			}
			s.play(`{"text":"fine"}`)
			expect(t, s, s.prompt(t.Context(), "again"), EndTurn{}, "text fine")
		})
	}
}

func TestStopWithCallsRunsThem(t *testing.T) {
	s := newSession(t, `{"tools":[{"id":"a","name":"read_file","args":{"path":"f"}}],"finish":"stop"}`, `{"text":"end"}`)
	s.put("f", "1\n")
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "call a Read f", "start a", "done a      1\t1\n", "text end")
}

func TestRefusalAfterTools(t *testing.T) {
	s := newSession(t, `{"text":"before"}`)
	s.prompt(t.Context(), "one")
	before := s.history.Messages()
	s.play(`{"tools":[{"id":"a","name":"read_file"}]}`, `{"finish":"content_filter"}`)
	if outcome := s.prompt(t.Context(), "two"); outcome != (Refusal{}) {
		t.Errorf("outcome %+v", outcome)
	}
	if d := cmp.Diff(before, s.history.Messages()); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	request := s.requests[1].Messages
	sent := slices.Clone(request)
	s.play(`{"tools":[{"id":"a","name":"read_file"}]}`, `{"text":"end"}`)
	s.prompt(t.Context(), "three")
	if d := cmp.Diff(sent, request); d != "" {
		t.Errorf("a later turn changed a request (-was +is):\n%s", d)
	}
	if call, _ := s.events[0].(ToolCall); call.ID != "call_1" {
		t.Errorf("the refused turn's id was used again: %+v", call)
	}
	if second := s.requests[1].Messages; len(second) != 5 || second[2].Text != "three" {
		t.Errorf("request %+v", second)
	}
}

func TestEmptyAnswers(t *testing.T) {
	s := newSession(t, `{}`, `{"text":"","usage":{"input":3}}`, `{"text":"at last"}`)
	s.maxSteps = 1
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "usage 3", "text at last")
	for _, req := range s.requests[1:] {
		if d := cmp.Diff(s.requests[0], req); d != "" {
			t.Errorf("not the same request (-first +later):\n%s", d)
		}
	}
	s.play(`{}`, `{}`, `{"finish":"tool_calls"}`, `{"text":"too late"}`)
	expect(t, s, s.prompt(t.Context(), "go"), Failed{ErrEmpty})
	if len(s.requests) != 3 {
		t.Errorf("%d calls, want 3", len(s.requests))
	}
}

func TestMaxSteps(t *testing.T) {
	const again = `{"tools":[{"name":"read_file","args":{"path":"f"}}]}`
	s := newSession(t, again, again, `{"text":"end"}`)
	s.put("f", "")
	s.maxSteps = 2
	if outcome := s.prompt(t.Context(), "go"); outcome != (MaxTurnRequests{}) || len(s.requests) != 2 {
		t.Errorf("outcome %+v after %d calls", outcome, len(s.requests))
	}
	checkEvents(t, s.events)
	if outcome := s.prompt(t.Context(), "on"); outcome != (EndTurn{}) {
		t.Errorf("outcome of the next %+v", outcome)
	}
}

func TestScriptEnds(t *testing.T) {
	s := newSession(t)
	expect(t, s, s.prompt(t.Context(), "go"), Failed{errors.New("script test has no reply left for model call 1")})
}

func TestPanics(t *testing.T) {
	var log strings.Builder
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	s := newSession(t, `{"tools":[{"id":"a","name":"early"},{"id":"b","name":"late"}]}`, `{"text":"end"}`)
	s.tools = []tool.Tool{
		{Name: "early", Kind: tool.KindOther, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) { panic("one") }},
		{Name: "late", Kind: tool.KindOther, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) {
			return tool.Invocation{Title: "Late", Run: func(context.Context) (tool.Output, error) { panic(errors.New("two")) }}, nil
		}},
	}
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{},
		"call a early", "failed a early: internal error: one",
		"call b Late", "start b", "failed b late: internal error: two", "text end")
	for _, want := range []string{"tool=early panic=one", "tool=late panic=two", "turn_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

// A model that appends to its request does not write into the history.
func TestMessagesAreApart(t *testing.T) {
	h := &History{}
	for _, text := range []string{"a", "b", "c"} {
		h.add(model.Message{Role: model.User, Text: text})
	}
	_ = append(h.Messages(), model.Message{Text: "mine"})
	request := h.Messages()
	h.add(model.Message{Role: model.User, Text: "d"})
	_ = append(request, model.Message{Text: "mine"})
	if got := h.Messages()[3].Text; got != "d" {
		t.Errorf("the fourth message is %q", got)
	}
}

// A model that panics takes the turn with it, but no timer of it goes on and the history stays valid.
func TestModelPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.model = modelFunc(func(_ context.Context, emit func(model.Delta) error) (model.Result, error) {
			emit(model.Delta{Text: "half"})
			panic("oops")
		})
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			s.prompt(t.Context(), "go")
		}()
		time.Sleep(time.Second)
		if story := s.story(); story != nil {
			t.Errorf("emitted afterwards: %q", story)
		}
		s.play(`{"text":"fine"}`)
		expect(t, s, s.prompt(t.Context(), "next"), EndTurn{}, "text fine")
	})
}

func TestOutputIsClippedAndRepaired(t *testing.T) {
	outputs := map[string]string{"big": strings.Repeat("€", 30000), "odd": "a\xffb", "none": ""}
	s := newSession(t, `{"tools":[{"name":"big"},{"name":"odd"},{"name":"none"}]}`, `{"text":"end"}`)
	for name, text := range outputs {
		s.tools = append(s.tools, tool.Tool{Name: name, Kind: tool.KindOther, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) {
			return tool.Invocation{Run: func(context.Context) (tool.Output, error) { return tool.Output{Text: text}, nil }}, nil
		}})
	}
	s.prompt(t.Context(), "go")
	checkEvents(t, s.events)
	var shown []string
	for _, e := range s.events {
		if end, ok := e.(ToolEnd); ok {
			shown = append(shown, end.Text)
		}
	}
	want := []string{strings.Repeat("€", 2666) + "\n… (82002 bytes dropped)", "a\uFFFDb", "(no output)"}
	if d := cmp.Diff(want, shown); d != "" {
		t.Errorf("shown (-want +got):\n%s", d)
	}
	if got := s.requests[1].Messages[2].Text; len(got) < 60<<10 || !strings.HasSuffix(got, "bytes dropped)") {
		t.Errorf("the model reads %d bytes", len(got))
	}
}
