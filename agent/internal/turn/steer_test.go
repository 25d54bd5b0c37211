package turn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// steered is a source of what the user says meanwhile: at each asking the next list.
func steered(asked *[]bool, lists ...[]Steer) func(bool) []Steer {
	return func(last bool) (list []Steer) {
		*asked = append(*asked, last)
		if len(lists) > 0 {
			list, lists = lists[0], lists[1:]
		}
		return list
	}
}

// TestSteer: what the user says while the turn runs is in the next request, behind
// everything that was there, and a turn that would have ended goes on for it.
func TestSteer(t *testing.T) {
	s := newSession(t, `{"tools":[{"id":"r","name":"read_file","args":{"path":"a"}}]}`, `{"text":"read"}`, `{"text":"mailed"}`, `{"text":"bye"}`)
	s.put("a", "x")
	var asked []bool
	s.steer = steered(&asked, nil, []Steer{{Text: "only the top", Item: "i1"}}, []Steer{{Text: "by mail"}, {Text: "at once"}})
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "call r Read a", "start r", "done r      1\tx\n", "steer only the top",
		"text read", "steer by mail", "steer at once", "text mailed")
	if d := cmp.Diff([]bool{false, false, true, false, true}, asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	roles := func(list []model.Message) (out []string) {
		for _, m := range list {
			out = append(out, string(m.Role)+" "+m.Text)
		}
		return out
	}
	last := s.requests[len(s.requests)-1].Messages
	if d := cmp.Diff([]string{"user go", "assistant ", "tool      1\tx\n", "user only the top", "assistant read", "user by mail", "user at once"}, roles(last)); d != "" {
		t.Errorf("the last request (-want +got):\n%s", d)
	}
	for i, req := range s.requests[1:] {
		before := s.requests[i].Messages
		if d := cmp.Diff(before, req.Messages[:len(before)]); d != "" {
			t.Errorf("request %d does not begin with the one before:\n%s", i+2, d)
		}
	}
}

// TestSteerAtLimit: where the turn ends at a limit, nothing more is taken.
func TestSteerAtLimit(t *testing.T) {
	s := newSession(t, `{"tools":[{"id":"r","name":"read_file","args":{"path":"a"}}]}`)
	s.put("a", "x")
	s.limits.Steps = 1
	var asked []bool
	s.steer = steered(&asked)
	if o := s.prompt(t.Context(), "go"); o != (MaxTurnRequests{}) || len(asked) != 1 {
		t.Errorf("%T, asked %d times", o, len(asked))
	}
}

// TestSteerGoal: a word of the user counts before the agent's own.
func TestSteerGoal(t *testing.T) {
	s := newSession(t, `{"text":"a"}`, `{"text":"b"}`, `{"text":"c"}`, `{"text":"d"}`, `{"text":"e"}`)
	s.goal = func() bool { return true }
	var asked []bool
	s.steer = steered(&asked, nil, nil, nil, []Steer{{Text: "hey"}})
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "text a", "nudge", "text b", "steer hey", "text c", "nudge", "text d", "nudge", "text e")
	if d := cmp.Diff([]bool{false, false, false, false, false, false, false, false, false, true}, asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
}
