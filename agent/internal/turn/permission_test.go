package turn

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

const writeX = `{"tools":[{"id":"w","name":"write_file","args":{"path":"x","content":"x"}}]}`

func TestPermission(t *testing.T) {
	fail := errors.New("the host is confused")
	tests := []struct {
		answer permission.Answer
		err    error
		result string // of a denied call
	}{
		{permission.AllowOnce, nil, ""},
		{permission.AllowAlways, nil, ""},
		{permission.RejectOnce, nil, "refused by the user"},
		{permission.RejectAlways, nil, "refused by the user"},
		{permission.Cancelled, nil, "refused by the user"},
		{"", nil, "refused by the user"},
		{"approved", nil, "refused by the user"},
		{"", fail, "write_file: permission was not given: the host is confused"},
		{permission.AllowOnce, fail, "write_file: permission was not given: the host is confused"},
	}
	for _, test := range tests {
		s := newSession(t, writeX, `{"text":"end"}`)
		s.answer = func(context.Context, Ask) (permission.Answer, error) {
			if d := cmp.Diff([]string{"call w Write x"}, s.story()); d != "" {
				t.Errorf("events before the answer (-want +got):\n%s", d)
			}
			return test.answer, test.err
		}
		story := []string{"call w Write x", "start w", "done w Created x (1 bytes).", "text end"}
		if test.result != "" {
			story = []string{"call w Write x", "failed w " + test.result, "text end"}
		}
		expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, story...)
		if s.has("x") != (test.result == "") {
			t.Errorf("%q: the file exists: %t", test.answer, s.has("x"))
		}
		if len(s.asks) != 1 {
			t.Fatalf("%q: asked %d times", test.answer, len(s.asks))
		}
		if d := cmp.Diff(s.events[0], Event(s.asks[0].Call)); d != "" || len(s.asks[0].Verdict.Options) != 4 {
			t.Errorf("%q: asked %+v about (-want +got):\n%s", test.answer, s.asks[0].Verdict, d)
		}
		if result := s.requests[1].Messages[2]; result.Failed != (test.result != "") || result.Failed && result.Text != test.result {
			t.Errorf("%q: the model reads %+v", test.answer, result)
		}
	}
}

func TestAnswersForTheSession(t *testing.T) {
	for answer, allowed := range map[permission.Answer]bool{permission.AllowAlways: true, permission.RejectAlways: false} {
		s := newSession(t, writeX, writeX, `{"text":"end"}`)
		s.answer = func(context.Context, Ask) (permission.Answer, error) { return answer, nil }
		s.prompt(t.Context(), "go")
		if len(s.asks) != 1 {
			t.Errorf("%s: asked %d times in one turn", answer, len(s.asks))
		}
		s.play(writeX, `{"text":"end"}`)
		s.prompt(t.Context(), "again")
		if len(s.asks) != 0 || s.has("x") != allowed {
			t.Errorf("%s: asked %d times in the next turn, the file exists: %t", answer, len(s.asks), s.has("x"))
		}
		checkEvents(t, s.events)
	}
}

func TestNobodyToAsk(t *testing.T) {
	s := newSession(t, writeX, `{"text":"end"}`)
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{},
		"call w Write x", "failed w write_file: not allowed without asking, and there is nobody to ask", "text end")
	if s.has("x") {
		t.Error("the file was written")
	}
}

// The preset is looked at when the call comes, so a change works within the turn.
func TestPresetChangeWithinTheTurn(t *testing.T) {
	s := newSession(t, writeX, writeX, `{"text":"end"}`)
	s.answer = func(context.Context, Ask) (permission.Answer, error) {
		s.policy.SetPreset(permission.WorkspaceWrite)
		return permission.RejectOnce, nil
	}
	s.prompt(t.Context(), "go")
	if len(s.asks) != 1 || !s.has("x") {
		t.Errorf("asked %d times, the file exists: %t", len(s.asks), s.has("x"))
	}
}
