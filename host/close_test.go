package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// What was sent before Close reaches the agent, then its input ends; what it
// sends until the end of its output is handled as ever.
func TestCloseLosesNothing(t *testing.T) {
	w := dial(t, host.Config{CloseGrace: patience})
	s := w.open("s")
	turn := async(func() outcome {
		turn, err := s.Prompt(t.Context(), strings.Repeat("x", 1<<20))
		return outcome{turn, err}
	})
	eventually(t, "sent", s.Sent)
	for i := range 100 {
		if err := w.h.Agent.SessionCancel(t.Context(), &acp.CancelNotification{SessionID: acp.SessionID(fmt.Sprint(i))}); err != nil {
			t.Error(err)
		}
	}
	closed := async(w.h.Close)
	eventually(t, "closing", func() bool { return errors.Is(s.Cancel(t.Context()), rpc.ErrClosed) })
	req := w.expect("session/prompt")
	for i := range 100 {
		if l := w.expect("session/cancel"); string(l.Params) != fmt.Sprintf(`{"sessionId":"%d"}`, i) {
			t.Errorf("the %dth is %s", i, l.Params)
		}
	}
	if b, err := w.r.ReadBytes('\n'); err == nil || len(b) > 0 {
		// The cancels that asked whether Close has begun may stand here, but
		// nothing that is no message of ACP.
		for ; err == nil; b, err = w.r.ReadBytes('\n') {
			if !strings.Contains(string(b), `"session/cancel"`) {
				t.Errorf("before the end: %s", b)
			}
		}
	}
	w.send(text("s", "to the last"), question(5, "s"), result1(req, `{"stopReason":"cancelled"}`))
	if o := receive(t, turn); o.err != nil || o.turn.StopReason != acp.StopReasonCancelled || o.turn.Text() != "to the last" {
		t.Errorf("the turn: %+v, %v", o.turn, o.err)
	}
	w.out.Close()
	if err := receive(t, closed); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// The frame that marks the end is none of those whose text holds the same.
func TestEndOfInputMark(t *testing.T) {
	w := dial(t, host.Config{CloseGrace: patience})
	mark := `{"jsonrpc":"2.0","method":"$/acpkit/end_of_input"}`
	prompt := func(text string) <-chan error {
		return async(func() error {
			_, err := w.h.Agent.SessionPrompt(t.Context(), &acp.PromptRequest{SessionID: "s", Meta: []byte(`{"x":[` + mark + `]}`), Prompt: []acp.ContentBlock{&acp.TextContent{Text: text}}})
			return err
		})
	}
	first := prompt(strings.Repeat("x", 1<<20)) // stands in the pipe
	time.Sleep(short)
	second := prompt("\n" + mark + "\n") // and behind it, when Close begins
	time.Sleep(short)
	closed := async(w.h.Close)
	time.Sleep(short)
	one, two := w.expect("session/prompt"), w.expect("session/prompt")
	if b, err := w.r.ReadBytes('\n'); err == nil {
		t.Errorf("behind them: %s", b)
	}
	w.send(result1(one, `{"stopReason":"end_turn"}`), result1(two, `{"stopReason":"end_turn"}`))
	for _, prompt := range []<-chan error{first, second} {
		if err := receive(t, prompt); err != nil {
			t.Error(err)
		}
	}
	w.out.Close()
	if err := receive(t, closed); err != nil {
		t.Error(err)
	}
}

// Close from many goroutines, and again: each returns the same when all is over.
// Calls after it fail at once.
func TestCloseTwice(t *testing.T) {
	for _, roles := range []string{"good", "fails"} {
		p := launch(t, roles, nil)
		var errs [8]error
		var closing sync.WaitGroup
		for i := range errs {
			closing.Go(func() {
				errs[i] = p.Close()
				select {
				case <-p.Done():
				default:
					t.Error("Close has returned before the end")
				}
			})
		}
		closing.Wait()
		for _, err := range append(errs[:], p.Close()) {
			if (err == nil) != (roles == "good") || fmt.Sprint(err) != fmt.Sprint(errs[0]) {
				t.Errorf("%s: %v and %v", roles, err, errs[0])
			}
		}
		for what, err := range map[string]error{
			"NewSession": func() error { _, err := p.NewSession(t.Context(), "/"); return err }(),
			"Initialize": func() error { _, err := p.Initialize(t.Context()); return err }(),
			"a call":     func() error { _, err := p.Agent.Logout(t.Context(), &acp.LogoutRequest{}); return err }(),
			"a cancel":   p.Agent.SessionCancel(t.Context(), &acp.CancelNotification{SessionID: "s"}),
		} {
			if !errors.Is(err, rpc.ErrClosed) || !strings.Contains(err.Error(), "by this host") {
				t.Errorf("%s: %s after Close: %v", roles, what, err)
			}
		}
	}
}

// Close while a prompt runs: an agent that goes in order is heard to the end
// (TestCloseLosesNothing); with one that does not, the prompt fails.
func TestCloseWhileAPromptRuns(t *testing.T) {
	w := dial(t, host.Config{CloseGrace: short})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	w.expect("session/prompt")
	w.send(text("s", "half"))
	eventually(t, "there", func() bool { return s.Recorded() == 1 })
	if err := w.h.Close(); !errors.Is(err, host.ErrNoAnswer) || !strings.Contains(err.Error(), "still open 50ms after") {
		t.Errorf("Close: %v", err)
	}
	if o := receive(t, turn); !errors.Is(o.err, rpc.ErrClosed) || o.turn.Text() != "half" {
		t.Errorf("the prompt: %+v, %v", o.turn, o.err)
	}
	if _, err := s.Prompt(t.Context(), "more"); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("a prompt after that: %v", err)
	}
}

// Close while a process floods, heedless of its input, and the handler is slow.
func TestCloseWhileTheAgentFloods(t *testing.T) {
	var seen atomic.Int64
	p := launch(t, "flood", func(c *host.Command, conf *host.Config) {
		c.Grace, c.TermGrace = 200*time.Millisecond, patience
		conf.MaxRecord = 1000
		conf.Handlers.SessionUpdate = func(context.Context, *acp.SessionNotification) error {
			if seen.Add(1)%100 == 0 {
				time.Sleep(time.Millisecond)
			}
			return nil
		}
	})
	s := session(t, p.Host)
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	eventually(t, "flooded", func() bool { return seen.Load() > 1000 })
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "still there 200ms after") {
		t.Errorf("Close: %v", err)
	}
	if o := receive(t, turn); !errors.Is(o.err, rpc.ErrClosed) || int64(o.turn.Omitted) > seen.Load() {
		t.Errorf("the prompt: %v", o.err)
	}
}

// Calls and Close at any moment: each call ends.
func TestCloseRacesWithCalls(t *testing.T) {
	for i := range 50 {
		h := connect(t, fake{}, host.Config{})
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for {
					if _, err := h.Initialize(t.Context()); err != nil {
						if !errors.Is(err, rpc.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(i) * 20 * time.Microsecond)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		calls.Wait()
	}
}
