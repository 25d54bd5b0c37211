package session

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/status"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

var opened = event.Opened{CWD: "/w", Directories: []string{"/more"}, Axes: event.Axes{Model: "p/m", Effort: "auto", Preset: "workspace-write", Mode: "normal"}}

// anyEvent draws what can happen next; running says whether a turn is.
func anyEvent(t *rapid.T, running bool) event.Event {
	word := rapid.SampledFrom([]string{"a", "b c", "ü…", "", "x\ny"}).Draw(t, "word")
	value := &word
	set := event.Set{Later: running}
	switch rapid.SampledFrom([]string{"mode", "model", "effort", "preset"}).Draw(t, "axis") {
	case "mode":
		set.Mode = new(rapid.SampledFrom([]string{"normal", "plan", "goal"}).Draw(t, "mode"))
	case "model":
		set.Model = value
	case "effort":
		set.Effort = value
	default:
		set.Preset, set.Later = value, false
	}
	if !running {
		return rapid.SampledFrom([]event.Event{event.Prompt{Text: "do " + word}, event.Command{Input: "/" + word}, set}).Draw(t, "idle")
	}
	return rapid.SampledFrom([]event.Event{
		event.Thought{Text: word}, event.Text{Text: word}, event.Answer{}, event.Answer{Calls: []model.Call{{ID: "c", Name: "f", Args: []byte("{}")}}},
		event.Usage{Usage: model.Usage{Input: 10, Output: 3, Cached: 2}}, event.Plan{Entries: []tool.PlanEntry{{Content: word, Status: "pending"}}},
		event.ToolCall{ID: "c", Tool: "f", Title: word}, event.ToolEnd{ID: "c", Text: word, Failed: word == ""}, event.Waiting{ID: "c"},
		event.Output{Text: word}, event.Warning{Text: word}, set,
		event.Done{Outcome: event.EndTurn}, event.Done{Outcome: event.Cancelled}, event.Done{Outcome: event.Failed, Reason: word}, event.Done{Outcome: event.MaxTurnRequests},
	}).Draw(t, "running")
}

// TestOpenedAgain: whatever has happened, a session that is opened again says the
// same of itself, but that a turn that ran is over and what waited for it holds.
func TestOpenedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := ledger.Files(t.TempDir(), ledger.Options{Fold: Fold})
		s, err := Create(store, "s", opened)
		if err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(0, 40).Draw(rt, "events") {
			if _, err := s.Record(anyEvent(rt, s.State().Status.Running)); err != nil {
				rt.Fatal(err)
			}
		}
		want := s.State()
		want.Axes = want.Wanted()
		if want.Status.Running {
			want.Status.Running, want.Status.Outcome, want.Status.Phase = false, status.PausedOutcome, status.RecoveryPaused
			want.Status.Sequence++
		}
		messages := s.Messages()
		if err := s.Log.Close(); err != nil {
			rt.Fatal(err)
		}
		again, err := Open(store, "s")
		if err != nil {
			rt.Fatal(err)
		}
		defer again.Log.Close()
		got := again.State()
		// The goal goes with the mode that waited, and the last words are those of
		// the answer that was cut off.
		skip := cmpopts.IgnoreFields(status.Status{}, "Goal", "Summary")
		if d := cmp.Diff(want, got, skip, cmpopts.IgnoreUnexported(status.Status{}), cmpopts.IgnoreFields(State{}, "Later")); d != "" {
			rt.Errorf("state (-live +opened again):\n%s", d)
		}
		if got.Later != (event.Set{}) || again.Messages() != messages || again.CWD != "/w" || len(again.Dirs) != 1 {
			rt.Errorf("later %+v, %d messages of %d, cwd %s, directories %v", got.Later, again.Messages(), messages, again.CWD, again.Dirs)
		}
	})
}

// TestUnknownRecords: what a newer version wrote is passed over and kept.
func TestUnknownRecords(t *testing.T) {
	store := ledger.Files(t.TempDir(), ledger.Options{Fold: Fold})
	s, err := Create(store, "s", opened)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Log.Append(ledger.Record{Kind: "hologram", Data: []byte(`{"depth":3}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(event.Prompt{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Log.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(store, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Log.Close()
	kinds := ""
	for r, err := range again.Log.Read(1) {
		if err != nil {
			t.Fatal(err)
		}
		kinds += r.Kind + " "
	}
	if kinds != "opened hologram prompt " || again.State().Title != "hello" {
		t.Errorf("kinds %s, title %q", kinds, again.State().Title)
	}
	list, err := store.List()
	if err != nil || len(list) != 1 || list[0].Title != "hello" || !list[0].Prompted || list[0].CWD != "/w" {
		t.Errorf("list %+v, %v", list, err)
	}
}

// TestLogWithoutItsHead: a log whose first record is of nothing we know is no
// session.
func TestLogWithoutItsHead(t *testing.T) {
	store := ledger.Files(t.TempDir(), ledger.Options{Fold: Fold})
	log, err := store.Create("s", ledger.Record{Kind: "prompt", Data: []byte(`{"Text":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var damaged *ledger.DamagedError
	if _, err := Open(store, "s"); !errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
	if l, err := store.Open("s", nil); err != nil { // it was given up again
		t.Error(err)
	} else {
		_ = l.Close()
	}
}

func TestTitle(t *testing.T) {
	long := "äöü " + string(make([]rune, 0))
	for range 40 {
		long += "äöü "
	}
	for prompt, want := range map[string]string{"": "", " a \n\t b ": "a b", long: string([]rune(long)[:77]) + "..."} {
		if got := Title(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}

// TestShut: a session that is being closed takes no prompt, cancels the running
// one and waits for its answer.
func TestShut(t *testing.T) {
	s := &Session{}
	ctx, turn, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shut := make(chan struct{})
	go func() { s.Shut(); close(shut) }()
	<-ctx.Done()
	if _, _, err := s.Begin(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a prompt meanwhile: %v", err)
	}
	s.End(turn)
	select {
	case <-shut:
		t.Error("it did not wait for the answer")
	default:
	}
	turn.Answered()
	<-shut
}
