package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

const (
	short = 50 * time.Millisecond // a grace that a test waits for
	long  = 10 * time.Minute      // one that must not pass
)

// BL-041: the user stops while a question is open. The agent is told, and then
// the question is answered `cancelled`.
func TestStopWithAnOpenQuestion(t *testing.T) {
	asked := make(chan struct{})
	w := dial(t, host.Config{CancelGrace: long, Handlers: acp.ClientHandlers{
		SessionRequestPermission: func(ctx context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			close(asked)
			<-ctx.Done()
			return host.Choose(r, acp.PermissionOptionKindAllowOnce), nil // too late
		}}})
	s := w.open("s")
	ctx, cancel := context.WithCancel(t.Context())
	turn := async(func() outcome { turn, err := s.Prompt(ctx, "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	w.send(question(1, "s"))
	receive(t, asked)
	cancel()
	w.expect("session/cancel")
	if l := w.recv(); string(l.ID) != "1" || string(l.Result) != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("the question: %s %s", l.ID, l.Result)
	}
	w.send(text("s", "last"), result1(req, `{"stopReason":"cancelled"}`))
	if o := receive(t, turn); o.err != nil || o.turn.StopReason != acp.StopReasonCancelled || o.turn.Text() != "last" {
		t.Errorf("%+v, %v", o.turn, o.err)
	}
}

// BL-040: a rejection is the answer `selected` with the option that rejects, and
// cancels nothing.
func TestRejectionIsNoCancel(t *testing.T) {
	for _, f := range []func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error){
		nil, // refuses
		func(_ context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return host.Choose(r, acp.PermissionOptionKindRejectOnce), nil
		}} {
		w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionRequestPermission: f}})
		s := w.open("s")
		turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
		req := w.expect("session/prompt")
		w.send(question(1, "s"))
		if l := w.recv(); string(l.Result) != `{"outcome":{"outcome":"selected","optionId":"n"}}` {
			t.Errorf("the answer: %q %s", l.Method, l.Result)
		}
		w.send(text("s", "and on"), result1(req, `{"stopReason":"end_turn"}`))
		if o := receive(t, turn); o.err != nil || o.turn.StopReason != acp.StopReasonEndTurn || o.turn.Text() != "and on" {
			t.Errorf("%+v, %v", o.turn, o.err)
		}
		w.open("next") // the next line is its session/new, no session/cancel
	}
}

// BL-045: an agent that never answers a cancel. The prompt returns with what
// there is and an error, other sessions go on, and the late answer is dropped.
func TestCancelIsNotAnswered(t *testing.T) {
	w := dial(t, host.Config{CancelGrace: short})
	s, other := w.open("s"), w.open("other")
	ctx, cancel := context.WithCancel(t.Context())
	turn := async(func() outcome { turn, err := s.Prompt(ctx, "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	otherTurn := async(func() outcome { turn, err := other.Prompt(t.Context(), "go"); return outcome{turn, err} })
	otherReq := w.expect("session/prompt")
	w.send(text("s", "half a wo"), text("other", "one "))
	eventually(t, "there", func() bool { return s.Recorded() == 1 })
	cancel()
	w.expect("session/cancel")
	o := receive(t, turn)
	if !errors.Is(o.err, host.ErrNoAnswer) || !strings.Contains(o.err.Error(), "not answered within 50ms") || o.turn.Text() != "half a wo" {
		t.Errorf("%v, %+v", o.err, o.turn)
	}
	if _, err := s.Prompt(t.Context(), "again"); !errors.Is(err, host.ErrNoAnswer) {
		t.Errorf("a prompt meanwhile: %v", err)
	}

	w.send(text("other", "two"), result1(otherReq, `{"stopReason":"end_turn"}`))
	if o := receive(t, otherTurn); o.err != nil || o.turn.Text() != "one two" {
		t.Errorf("the other session: %v", o.err)
	}

	w.send(text("s", "rd"), result1(req, `{"stopReason":"end_turn"}`))
	eventually(t, "idle again", func() bool { return !s.Running() })
	if got := texts(s.Unprompted()); got != "rd" || o.turn.Text() != "half a wo" {
		t.Errorf("late: %q, the turn %q", got, o.turn.Text())
	}
	turn = async(func() outcome { turn, err := s.Prompt(t.Context(), "again"); return outcome{turn, err} })
	w.answer("session/prompt", `{"stopReason":"refusal"}`)
	if o := receive(t, turn); o.err != nil || o.turn.StopReason != acp.StopReasonRefusal {
		t.Errorf("%+v, %v", o.turn, o.err)
	}
}

// A session given up can be closed and loaded anew, whatever its prompt does.
func TestCloseAfterGivingUp(t *testing.T) {
	w := dial(t, host.Config{CancelGrace: short})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	w.expect("session/prompt")
	if err := s.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	w.expect("session/cancel")
	if o := receive(t, turn); !errors.Is(o.err, host.ErrNoAnswer) {
		t.Error(o.err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := w.h.Open(); n != 0 {
		t.Errorf("%d open", n)
	}
	w.expect("session/cancel") // closing cancels too
	loading := w.load("s")
	w.answer("session/load", `{}`)
	if l := receive(t, loading); l.err != nil {
		t.Error(l.err)
	}
}

// An agent that does not even read: the prompt is still in the output's queue,
// or on the way, when the user stops. Prompt returns all the same.
func TestCancelOfAnAgentThatDoesNotRead(t *testing.T) {
	w := dial(t, host.Config{CancelGrace: short, CloseGrace: short})
	s := w.open("s")
	var fill []<-chan error
	for _, other := range []*host.Session{w.open("a"), w.open("b")} { // one in the pipe and one in the queue
		fill = append(fill, async(func() error {
			_, err := other.Prompt(t.Context(), strings.Repeat("x", 1<<20))
			return err
		}))
		eventually(t, "sent", other.Sent)
		time.Sleep(short) // on to the pipe; if it takes longer, the test is easier
	}
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	done := async(func() error { _, err := s.Prompt(ctx, "go"); return err })
	if err := receive(t, done); !errors.Is(err, host.ErrNoAnswer) {
		t.Errorf("the prompt: %v", err)
	}
	eventually(t, "idle again: nothing was sent", func() bool { return !s.Running() })
	if err := w.h.Close(); err == nil {
		t.Error("an orderly end?")
	}
	for _, fill := range fill {
		if err := receive(t, fill); err == nil {
			t.Error("no error")
		}
	}
}

// The cancel of a prompt that has been answered at the same moment must not
// reach the agent behind the next prompt, which it would cancel.
func TestCancelRacesWithTheAnswer(t *testing.T) {
	w := dial(t, host.Config{CancelGrace: long})
	s := w.open("s")
	late := make(chan string, 1)
	go func() { // the agent
		defer close(late)
		calm := false // the prompt that came last is one that nobody cancels
		for {
			b, err := w.r.ReadBytes('\n')
			if err != nil {
				return
			}
			var l line
			switch err := json.Unmarshal(b, &l); {
			case err != nil || calm && l.Method == "session/cancel":
				late <- string(b)
				return
			case l.Method == "session/prompt":
				calm = strings.Contains(string(l.Params), "calm")
				w.send(result1(l, `{"stopReason":"end_turn"}`))
			}
		}
	}()
	for i := range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(i%50)*4*time.Microsecond, cancel)
		if _, err := s.Prompt(ctx, "go"); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := s.Prompt(t.Context(), "calm"); err != nil {
			t.Fatal(err)
		}
		timer.Stop()
		cancel()
	}
	w.h.Cut() // the agent's input ends
	if l, ok := <-late; ok {
		t.Errorf("a late cancel: %s", l)
	}
}

// BL-125: an agent that never answers initialize. The error says how long and
// what is known.
func TestInitializeIsNotAnswered(t *testing.T) {
	w := dial(t, host.Config{InitializeTimeout: short})
	done := async(func() error { _, err := w.h.Initialize(t.Context()); return err })
	w.expect("initialize")
	w.send("Welcome to the agent! \x1b[31m")
	if err := receive(t, done); !errors.Is(err, host.ErrNoAnswer) || !strings.Contains(err.Error(), "not within 50ms") || !strings.Contains(err.Error(), "Welcome to the agent!") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	if _, err := w.h.Initialize(ctx); !errors.Is(err, mine) || errors.Is(err, host.ErrNoAnswer) {
		t.Errorf("the caller's own end: %v", err)
	}
}
