package turn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// TestRetry: what may pass is asked again with the very same request, the user hears of it, and the answer counts.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, `{"status":503,"body":"busy"}`, `{"think":"hm","cut":true}`, `{"think":"well","text":"done"}`)
		s.limits.Retry = time.Minute
		began := time.Now()
		outcome := s.prompt(t.Context(), "go")
		expect(t, s, outcome, EndTurn{}, "retry the provider answered 503: busy; trying again in T", "thought hm",
			"retry the provider's stream broke off; trying again in T", "thought well", "text done")
		if d := time.Since(began); d < firstWait || d > 3*time.Second {
			t.Errorf("waited %v", d)
		}
		for _, r := range s.requests[1:] {
			if d := cmp.Diff(s.requests[0], r); d != "" {
				t.Errorf("another request (-first +this):\n%s", d)
			}
		}
		if m := s.history.Messages()[1]; m.Thought != "well" {
			t.Errorf("the thought of the failed call stays: %q", m.Thought)
		}
	})
}

// TestRetryEnds: at the limit, at once for what does not pass, when text was shown, and when the provider asks for more
// patience than is left.
func TestRetryEnds(t *testing.T) {
	busy := `{"status":503}`
	tests := []struct {
		name   string
		script []string
		calls  int
		within time.Duration
		cause  string
	}{
		{"for a minute", []string{busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy}, 8, time.Minute, "the provider answered 503 (tried 8 times in "},
		{"a key that is refused", []string{`{"status":401,"body":"no"}`}, 1, 0, "the provider answered 401: no"},
		{"no money", []string{`{"status":402}`}, 1, 0, "the provider answered 402"},
		{"text was shown", []string{`{"text":"half","cut":true}`}, 1, 0, "the provider's stream broke off"},
		{"two minutes", []string{`{"status":429,"headers":{"Retry-After":"120"}}`}, 1, 0, "the provider answered 429"},
		{"in ten seconds", []string{`{"status":429,"headers":{"retry-after":"10"}}`, `{"status":400,"body":"bad"}`}, 2, 12 * time.Second, "the provider answered 400: bad (tried 2 times in 10s)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, test.script...)
				s.limits.Retry = time.Minute
				began := time.Now()
				failed, ok := s.prompt(t.Context(), "go").(Failed)
				if !ok || !strings.HasPrefix(failed.Err.Error(), test.cause) || test.calls == 1 && failed.Err.Error() != test.cause {
					t.Fatalf("outcome %v, want %s…", failed.Err, test.cause)
				}
				if len(s.requests) != test.calls || time.Since(began) > test.within {
					t.Errorf("%d calls in %v", len(s.requests), time.Since(began))
				}
				var cause *model.Error
				if !errors.As(failed.Err, &cause) {
					t.Errorf("the cause is lost: %v", failed.Err)
				}
			})
		})
	}
}

// TestCancelWhileWaiting: nobody waits for a provider that the user has given up.
func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, `{"status":503,"headers":{"Retry-After":"50"}}`)
		s.limits.Retry = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if o := s.prompt(ctx, "go"); o != (Cancelled{}) || time.Since(began) != time.Second {
			t.Errorf("%#v after %v", o, time.Since(began))
		}
	})
}

// TestBudgets: between two model calls, and what was done stays.
func TestBudgets(t *testing.T) {
	todo := `{"tools":[{"id":"a","name":"read_file"}],"usage":{"input":60,"output":40},"delayMs":0}`
	tests := []struct {
		limits  Limits
		outcome Outcome
		calls   int
		warning string
	}{
		{Limits{Tokens: 150}, Budget{"task_tokens"}, 2, "stopped at the limit of 150 tokens (task_tokens); the work is kept, and a new message goes on"},
		{Limits{Time: time.Nanosecond}, Budget{"task_minutes"}, 0, "stopped at the limit of 1ns (task_minutes); the work is kept, and a new message goes on"},
		{Limits{Steps: 1, Tokens: 1000}, MaxTurnRequests{}, 1, "stopped after 1 model rounds (max_steps); the work is kept, and a new message goes on"},
		{Limits{}, EndTurn{}, 4, ""},
	}
	for _, test := range tests {
		s := newSession(t, todo, todo, todo, `{"text":"end"}`)
		s.limits = test.limits
		if o := s.prompt(t.Context(), "go"); o != test.outcome || len(s.requests) != test.calls {
			t.Errorf("%+v: %#v after %d calls", test.limits, o, len(s.requests))
		}
		if w := test.limits.Warning(test.outcome); w != test.warning {
			t.Errorf("%+v: warning %q", test.limits, w)
		}
		if test.outcome == (EndTurn{}) {
			continue
		}
		s.limits = Limits{}
		if o := s.prompt(t.Context(), "go on"); o != (EndTurn{}) {
			t.Errorf("%+v: the next prompt ends %#v", test.limits, o)
		}
	}
}

// TestGoal: a model that stops before its goal is told to go on, but not for ever.
func TestGoal(t *testing.T) {
	s := newSession(t, `{"text":"a"}`, `{"tools":[{"id":"r","name":"read_file"}]}`, `{"text":"b"}`, `{"text":"c"}`, `{"text":"d"}`)
	s.goal = func() bool { return true }
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "text a", "nudge", "call r read_file", "failed r read_file: path is missing",
		"text b", "nudge", "text c", "nudge", "text d")
	s.play(`{"text":"a"}`, `{"text":"b"}`)
	open := true
	s.goal = func() bool { was := open; open = false; return was }
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "text a", "nudge", "text b")
}
