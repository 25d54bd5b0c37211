package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	s.limits.Steps = 1
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
	s.limits.Steps = 2
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
