package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/demo"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session runs turns of the demo with the real tools in a folder of its own.
type session struct {
	turn.Turn
	root   string
	events []turn.Event
	answer permission.Answer
}

func newSession(t *testing.T, answer permission.Answer) *session {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{root: ws.Root(), answer: answer}
	s.Turn = turn.Turn{
		Model: demo.Model{}, History: &turn.History{}, Policy: &permission.Policy{},
		Tools: tool.NewSet(tool.ReadFile(ws), tool.WriteFile(ws), tool.TodoWrite()),
		Ask:   func(context.Context, turn.Ask) (permission.Answer, error) { return s.answer, nil },
		Emit:  func(e turn.Event) error { s.events = append(s.events, e); return nil },
	}
	return s
}

func (s *session) prompt(ctx context.Context, text string) turn.Outcome {
	s.events, s.Prompt = nil, text
	return turn.Run(ctx, s.Turn)
}

// story is the events in short, and text the whole answer.
func (s *session) story() (story []string, text string) {
	for _, e := range s.events {
		switch e := e.(type) {
		case turn.Thought:
			story = append(story, "thought")
		case turn.Text:
			story = append(story, "text")
			text += e.Text
		case turn.Plan:
			var status []string
			for _, entry := range e.Entries {
				status = append(status, entry.Status)
			}
			story = append(story, "plan "+strings.Join(status, " "))
		case turn.ToolCall:
			story = append(story, e.Title)
		case turn.ToolEnd:
			if e.Failed {
				story = append(story, "failed: "+e.Text)
			}
		}
	}
	return story, text
}

func TestTurn(t *testing.T) {
	const (
		plan1 = "plan in_progress pending pending"
		plan2 = "plan completed completed completed"
		plan3 = "plan completed pending completed"
		none  = "failed: read_file: README.md does not exist"
		no    = "failed: refused by the user"
	)
	tests := []struct {
		name, readme string
		answer       permission.Answer
		story        []string
		text         string // a part of the answer
	}{
		{
			"allowed", "# Hello\n\nworld\n", permission.AllowOnce,
			[]string{"thought", "text", plan1, "Update the plan (0 of 3 done)", "Read README.md", "Write acpkit-demo.md", plan2, "Update the plan (3 of 3 done)", "text"},
			"README.md begins with “# Hello”. I wrote a note with your prompt to acpkit-demo.md.",
		},
		{
			"refused, nothing to read", "", permission.RejectOnce,
			[]string{"thought", "text", plan1, "Update the plan (0 of 3 done)", "Read README.md", none, "Write acpkit-demo.md", no, plan3, "Update the plan (2 of 3 done)", "text"},
			"There is no README.md to read here. Writing acpkit-demo.md was refused, so nothing was changed.",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSession(t, test.answer)
			if test.readme != "" {
				if err := os.WriteFile(filepath.Join(s.root, "README.md"), []byte(test.readme), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, prompt := range []string{"Say hi", "and once more"} { // the second turn is like the first
				if outcome := s.prompt(t.Context(), prompt); outcome != (turn.EndTurn{}) {
					t.Errorf("outcome %+v", outcome)
				}
				story, text := s.story()
				if d := cmp.Diff(test.story, story); d != "" {
					t.Errorf("%s (-want +got):\n%s", prompt, d)
				}
				if !strings.Contains(text, test.text) {
					t.Errorf("answer %q, want %q", text, test.text)
				}
				note, err := os.ReadFile(filepath.Join(s.root, "acpkit-demo.md"))
				if allowed := test.answer == permission.AllowOnce; allowed != (err == nil) || allowed && !strings.Contains(string(note), "> "+prompt+"\n") {
					t.Errorf("the note is %q, %v", note, err)
				}
			}
		})
	}
}

func TestWriteFails(t *testing.T) {
	s := newSession(t, permission.AllowOnce)
	if err := os.Mkdir(filepath.Join(s.root, "acpkit-demo.md"), 0o777); err != nil {
		t.Fatal(err)
	}
	s.prompt(t.Context(), "hi")
	if _, text := s.story(); !strings.Contains(text, "failed, so nothing was changed: write_file: acpkit-demo.md is a directory") {
		t.Errorf("answer %q", text)
	}
}

// What the last turn did is not told again.
func TestNextTurnStartsAfresh(t *testing.T) {
	s := newSession(t, permission.AllowOnce)
	s.prompt(t.Context(), "write")
	s.Tools = nil
	s.prompt(t.Context(), "and now?")
	if _, text := s.story(); !strings.HasSuffix(text, "Nothing was changed.") || strings.Contains(text, "README.md") {
		t.Errorf("answer %q", text)
	}
}

// Any prompt and any set of tools gives a turn that ends and an answer that is not empty.
func TestAnyPromptAndTools(t *testing.T) {
	prompts := []string{"", "?", strings.Repeat("日本 ", 5000), "line\n> line\n# line", "\x00", "slowly", "ünslow"}
	for _, prompt := range prompts {
		for set := range 8 {
			s := newSession(t, permission.AllowAlways)
			var tools []tool.Tool
			for i, t := range s.Tools.All() {
				if set&(1<<i) != 0 {
					tools = append(tools, t)
				}
			}
			s.Tools = tool.NewSet(tools...)
			s.Limits.Steps = 10
			outcome := s.prompt(t.Context(), prompt)
			story, text := s.story()
			if outcome != (turn.EndTurn{}) || text == "" || !utf8.ValidString(text) || len(text) > 4000 {
				t.Errorf("%.20q, tools %03b: %+v, %d bytes, %q", prompt, set, outcome, len(text), story)
			}
			calls := 0
			for _, e := range s.events {
				if _, ok := e.(turn.ToolCall); ok {
					calls++
				}
			}
			if want := []int{0, 1, 1, 2, 2, 3, 3, 4}[set]; calls != want {
				t.Errorf("%.20q, tools %03b: %d calls, want %d: %q", prompt, set, calls, want, story)
			}
		}
	}
}

func TestStreamsInPieces(t *testing.T) {
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: "hi"}}}
	pieces := 0
	_, err := demo.Model{}.Stream(t.Context(), req, func(d model.Delta) error {
		pieces++
		if (d.Text == "") == (d.Thought == "") {
			t.Errorf("piece %+v", d)
		}
		return nil
	})
	if err != nil || pieces < 4 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
	stop := errors.New("stop")
	if _, err := (demo.Model{}).Stream(t.Context(), req, func(model.Delta) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, permission.AllowOnce)
		start := time.Now()
		outcome := s.prompt(t.Context(), "Please be SLOW, will you?")
		story, text := s.story()
		if outcome != (turn.EndTurn{}) || time.Since(start) != 4*time.Second || len(story) < 50 || !strings.Contains(text, "Step 200 of 200") {
			t.Errorf("%+v after %v, %d events", outcome, time.Since(start), len(story))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if outcome := s.prompt(ctx, "slow"); outcome != (turn.Cancelled{}) || time.Since(start) != time.Second {
			t.Errorf("%+v after %v", outcome, time.Since(start))
		}
		if _, text := s.story(); !strings.Contains(text, "Step 49 of 200") {
			t.Errorf("cancelled after %q", text)
		}
	})
}

// The arguments are what a provider would send: JSON in a string.
func TestArguments(t *testing.T) {
	req := &model.Request{
		Messages: []model.Message{{Role: model.User, Text: `say "<hi>"`}},
		Tools:    []model.ToolSpec{{Name: "todo_write"}, {Name: "read_file"}},
	}
	res, err := demo.Model{}.Stream(t.Context(), req, func(model.Delta) error { return nil })
	if err != nil || res.Finish != "tool_calls" || len(res.Calls) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, call := range res.Calls {
		if !json.Valid(call.Args) || call.ID != "" {
			t.Error(fmt.Sprint(call))
		}
	}
}
