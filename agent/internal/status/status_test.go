package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
)

var call = event.Answer{Calls: []model.Call{{ID: "c"}}}

func mode(m string) event.Set { return event.Set{Mode: &m} }

// TestStories tells what is published in the course of a session, and the
// sequence, which also counts what is not.
func TestStories(t *testing.T) {
	usage := event.Usage{Usage: model.Usage{Input: 10, Output: 2}}
	for name, c := range map[string]struct {
		events []event.Event
		want   []string
		ready  bool
	}{
		"a turn without tools": {[]event.Event{event.Prompt{Text: "hi"}, event.Text{Text: "yes"}, event.Answer{}, usage, event.Done{Outcome: event.EndTurn}},
			[]string{"1 phase starting none", "2 usage starting none", "3 completion completed completed"}, true},
		"tools and a question": {[]event.Event{event.Prompt{Text: "hi"}, call, usage, event.Waiting{ID: "c"}, event.ToolEnd{ID: "c"}, event.Answer{}, event.Done{Outcome: event.EndTurn}},
			[]string{"1 phase starting none", "3 usage implementing none", "4 phase waiting_permission none", "5 completion completed completed"}, true},
		"a cancel":    {[]event.Event{event.Prompt{Text: "hi"}, event.Done{Outcome: event.Cancelled}}, []string{"1 phase starting none", "2 completion cancelled cancelled"}, false},
		"a failure":   {[]event.Event{event.Prompt{Text: "hi"}, event.Done{Outcome: event.Failed, Reason: "no"}}, []string{"1 phase starting none", "2 error error error"}, false},
		"the limit":   {[]event.Event{event.Prompt{Text: "hi"}, event.Done{Outcome: event.MaxTurnRequests}}, []string{"1 phase starting none", "2 pause paused paused"}, false},
		"a refusal":   {[]event.Event{event.Prompt{Text: "hi"}, event.Done{Outcome: event.Refusal}}, []string{"1 phase starting none", "2 completion completed completed"}, false},
		"a command":   {[]event.Event{event.Command{Input: "/help"}, event.Output{Text: "help:"}, event.Done{Outcome: event.EndTurn}}, []string{"1 phase starting none", "2 completion completed completed"}, true},
		"a goal":      {[]event.Event{mode("goal"), event.Prompt{Text: "hi"}, event.Done{Outcome: event.EndTurn}}, []string{"2 phase starting none", "3 pause paused paused"}, false},
		"a goal left": {[]event.Event{mode("goal"), event.Prompt{Text: "hi"}, event.Done{Outcome: event.EndTurn}, mode("normal"), event.Prompt{Text: "x"}, event.Done{Outcome: event.EndTurn}}, []string{"2 phase starting none", "3 pause paused paused", "5 phase starting none", "6 completion completed completed"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var s Status
			now := "normal"
			s.Apply(event.Opened{Axes: event.Axes{Mode: now}}, now)
			var got []string
			for _, e := range c.events {
				if set, ok := e.(event.Set); ok {
					now = *set.Mode
				}
				if publish := s.Apply(e, now); publish != "" {
					got = append(got, fmt.Sprintf("%d %s %s %s", s.Sequence, publish, s.Phase, s.Outcome))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" || s.Ready != c.ready || s.Running {
				t.Errorf("ready %t, running %t, published (-want +got):\n%s", s.Ready, s.Running, d)
			}
		})
	}
}

// TestTotals: the turn's are those of the turn, the session's of all (BL-130), and
// the context is that of the last call (BL-129).
func TestTotals(t *testing.T) {
	var s Status
	for range 2 {
		s.Apply(event.Prompt{Text: "hi"}, "normal")
		for i := range uint64(3) {
			s.Apply(event.Usage{Usage: model.Usage{Input: 100 * (i + 1), Output: 10, Cached: 50, Reasoning: 5}}, "normal")
		}
		s.Apply(event.Done{Outcome: event.EndTurn}, "normal")
	}
	turn := Totals{Usage: model.Usage{Input: 600, Output: 30, Cached: 150, Reasoning: 15}, Calls: 3, Last: model.Usage{Input: 300, Output: 10, Cached: 50, Reasoning: 5}}
	if d := cmp.Diff(turn, s.Turn); d != "" {
		t.Error(d)
	}
	if s.All.Input != 1200 || s.All.Calls != 6 || s.Turns != 2 {
		t.Errorf("%+v, %d turns", s.All, s.Turns)
	}
}

// TestSummaryOfPieces: in however many pieces the words come, what is kept of them
// is the same.
func TestSummaryOfPieces(t *testing.T) {
	for _, size := range []int{maxSummary - 1, maxSummary, maxSummary + 1, 3 * maxSummary} {
		words := strings.Repeat("aü🙂", size)[:size]
		for _, piece := range []int{1, 7, maxSummary, size} {
			var s Status
			s.Apply(event.Prompt{Text: "hi"}, "normal")
			for rest := words; rest != ""; {
				n := min(piece, len(rest))
				s.Apply(event.Text{Text: rest[:n]}, "normal")
				rest = rest[n:]
			}
			s.Apply(event.Done{Outcome: event.EndTurn}, "normal")
			if s.Summary != clip(words) {
				t.Errorf("%d bytes in pieces of %d: another summary, of %d bytes", size, piece, len(s.Summary))
			}
		}
	}
}

// TestSummary: the last words, whole characters, also of an answer that was cut.
func TestSummary(t *testing.T) {
	var s Status
	s.Apply(event.Prompt{Text: "hi"}, "normal")
	s.Apply(event.Text{Text: "first"}, "normal")
	s.Apply(call, "normal")
	s.Apply(event.Text{Text: strings.Repeat("ü", 9000)}, "normal")
	s.Apply(event.Done{Outcome: event.Cancelled}, "normal")
	if len(s.Summary) > maxSummary || !strings.HasSuffix(s.Summary, "ü…") {
		t.Errorf("%d bytes", len(s.Summary))
	}
	s.Apply(event.Prompt{Text: "again"}, "normal")
	if s.Summary != "" || s.Outcome != NoOutcome {
		t.Error("a new turn keeps the old words or the old outcome")
	}
	s.Recover("normal")
	if s.Phase != RecoveryPaused || s.Running || s.Outcome != PausedOutcome {
		t.Errorf("recovered %+v", s)
	}
}
