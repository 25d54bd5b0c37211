// Package turn runs one prompt: it calls the model, runs the tools the model asks for and calls it again, until an Outcome
// is reached. What happens goes out as Events. It knows no session, no wire and no stop reason.
package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// Turn is what one prompt needs. Model, History, Policy and Emit are required.
type Turn struct {
	Model   model.Model
	System  string
	Tools   *tool.Set // nil: none
	History *History  // of the session; Run adds to it and leaves it valid for any provider
	Prompt  string
	Policy  *permission.Policy
	Origin  string // of the model, for the providers that want their own reasoning back
	// Redact hides what looks like a secret in what failures and tools say. Hide hides known secrets alone, in the text of
	// files: what only looks like one must stay as it is there, or the model could not edit the line. Nil hides nothing.
	Redact, Hide func(string) string
	Effort       string // of the model's reasoning; "" leaves it to the provider
	Window       int    // tokens that the model can have before it; 0 is not known, and nothing is condensed then
	Limits       Limits

	// Goal reports whether there is a goal that is neither complete nor blocked: then the model is told to go on when it stops.
	// Nil is no.
	Goal func() bool

	// Steer gives what the user has said meanwhile, which goes into the next request. The turn asks between its model calls, and
	// with last set when it would end: when nothing comes then, it ends. Nil is nothing.
	Steer func(last bool) []Steer

	// Ask puts a question to the user and returns soon after ctx ends. Nil, like an error, denies.
	Ask func(ctx context.Context, ask Ask) (permission.Answer, error)
	// Emit takes the events in order, never two at a time, and none after Run has returned. Its error ends the turn.
	Emit func(Event) error
	// EachDelta hands on every piece of text as it comes instead of joining what comes within a short time.
	EachDelta bool
}

// Limits bound a turn. Zero is no limit, but for Retry.
type Limits struct {
	Steps  int           // model rounds. A call that is made again is not counted
	Time   time.Duration // since the turn began
	Tokens uint64        // of all its model calls, read and written
	Retry  time.Duration // how long a failing model call is made again; zero is not at all
}

// Ask is a question about an announced call, whose status stays pending until the answer.
type Ask struct {
	Call    ToolCall
	Verdict permission.Verdict // why it is asked, and what may be answered
}

// Run runs the turn. Cancelling ctx wins over every other outcome, even when the work was just done.
func Run(ctx context.Context, t Turn) Outcome {
	for _, f := range []*func(string) string{&t.Redact, &t.Hide} {
		if *f == nil {
			*f = func(s string) string { return s }
		}
	}
	r := &run{Turn: t, out: &coalescer{emit: t.Emit, each: t.EachDelta}}
	defer r.out.close() // also when something panics: no timer may emit later
	r.History.settle()  // a process that was killed may have left calls open
	r.began, r.start = time.Now(), len(r.History.messages)
	r.History.add(model.Message{Role: model.User, Text: t.Prompt})
	defer r.History.settle()

	outcome := r.loop(ctx)
	if err := r.out.flush(); err != nil {
		outcome = Failed{err}
	}
	if ctx.Err() != nil {
		return Cancelled{}
	}
	if _, refused := outcome.(Refusal); refused {
		r.History.cut(r.start) // schema:StopReason: the prompt and what followed leave the context
	}
	return outcome
}

type run struct {
	Turn
	out    *coalescer // everything that is emitted goes through it
	began  time.Time
	start  int    // where the prompt stands in the history
	tokens uint64 // of all calls so far
	nudges int    // in a row, without a tool call between them
}

func (r *run) loop(ctx context.Context) Outcome {
	for step := 0; ; step++ {
		if o := r.limit(step); o != nil {
			return o
		}
		if _, err := r.steer(false); err != nil {
			return Failed{err}
		}
		if err := r.makeRoom(ctx); err != nil {
			return Failed{err}
		}
		a, err := r.answer(ctx)
		if tooLong(err) && r.condense(ctx) == nil {
			a, err = r.answer(ctx)
		}
		ending := a.Ending()
		if err != nil || ending != model.Done {
			a.Calls = nil // incomplete or withheld: not run, and so not in the history
		}
		a.Calls, a.origin = slices.Clone(a.Calls), r.Origin
		for i := range a.Calls {
			a.Calls[i].ID = r.History.newID(a.Calls[i].ID)
			a.Calls[i].Name = safeName(a.Calls[i].Name)
		}
		told := r.out.event(Answer{Calls: r.History.addAnswer(a), Origin: r.Origin})
		if a.Usage != nil {
			told = cmp.Or(told, r.used(*a.Usage))
		}
		switch err := cmp.Or(err, told); {
		case err != nil:
			return Failed{err}
		case ending == model.Length:
			return MaxTokens{}
		case ending == model.Filtered:
			return Refusal{}
		case ending == model.Broken:
			return Failed{&model.Error{Finish: a.Finish}}
		case len(a.Calls) > 0:
			r.nudges = 0
		default:
			if on, err := r.goesOn(); err != nil {
				return Failed{err}
			} else if !on {
				return EndTurn{}
			}
		}
		for _, call := range a.Calls {
			switch err := r.call(ctx, call); {
			case errors.Is(err, tool.ErrDismissed):
				return Dismissed{}
			case err != nil:
				return Failed{err}
			}
		}
	}
}

// maxNudges is how often in a row a model that does nothing for its goal is told to go on.
const maxNudges = 2

const nudge = "The goal is not reached yet. Go on working towards it with the tools. When it is reached, or when you cannot go on without the user, say so with update_goal."

// goesOn reports whether there is something more for a model that has stopped: what the user has said meanwhile, or a goal.
func (r *run) goesOn() (bool, error) {
	goal := r.Goal != nil && r.Goal() && r.nudges < maxNudges
	said, err := r.steer(!goal)
	if said || !goal || err != nil {
		return said, err
	}
	r.nudges++
	r.History.add(model.Message{Role: model.User, Text: nudge})
	return true, r.out.event(Nudge{Text: nudge})
}

// steer takes in what the user has said meanwhile, and reports whether that was anything.
func (r *run) steer(last bool) (said bool, err error) {
	if r.Turn.Steer == nil {
		return false, nil
	}
	list := r.Turn.Steer(last)
	for _, s := range list {
		r.nudges = 0
		r.History.add(model.Message{Role: model.User, Text: s.Text})
		if err := r.out.event(s); err != nil {
			return true, err
		}
	}
	return len(list) > 0, nil
}

// limit returns the outcome when the turn may make no further model call.
func (r *run) limit(step int) Outcome {
	switch l := r.Limits; {
	case l.Steps > 0 && step == l.Steps:
		return MaxTurnRequests{}
	case l.Time > 0 && time.Since(r.began) >= l.Time:
		return Budget{limitTime}
	case l.Tokens > 0 && r.tokens >= l.Tokens:
		return Budget{limitTokens}
	}
	return nil
}

// used counts the tokens of a call and tells them.
func (r *run) used(u model.Usage) error {
	r.tokens += u.Input + u.Output
	r.History.used(u)
	return r.out.event(Usage{Usage: u})
}
