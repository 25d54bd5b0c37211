// Package turn runs one prompt: it calls the model, runs the tools the model asks for and calls it again, until an Outcome
// is reached. What happens goes out as Events. It knows no session, no wire and no stop reason.
package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// emptyRetries is how often an empty answer is asked for again.
const emptyRetries = 2

// ErrEmpty is the failure of a model that keeps giving empty answers:
// emptyRetries+1 of them.
var ErrEmpty = errors.New("the model gave an empty answer 3 times in a row")

// Turn is what one prompt needs. Model, History, Policy and Emit are required.
type Turn struct {
	Model    model.Model
	System   string
	Tools    *tool.Set // nil: none
	History  *History  // of the session; Run adds to it and leaves it valid for any provider
	Prompt   string
	Policy   *permission.Policy
	MaxSteps int // model rounds; 0 is no limit. An empty answer that is asked for again is not counted

	// Ask puts a question to the user and returns soon after ctx ends. Nil, like an error, denies.
	Ask func(ctx context.Context, ask Ask) (permission.Answer, error)
	// Emit takes the events in order, never two at a time, and none after Run has returned. Its error ends the turn.
	Emit func(Event) error
	// EachDelta hands on every piece of text as it comes instead of joining what comes within a short time.
	EachDelta bool
}

// Ask is a question about an announced call, whose status stays pending until the answer.
type Ask struct {
	Call    ToolCall
	Verdict permission.Verdict // why it is asked, and what may be answered
}

// Run runs the turn. Cancelling ctx wins over every other outcome, even when the work was just done.
func Run(ctx context.Context, t Turn) Outcome {
	r := &run{Turn: t, out: &coalescer{emit: t.Emit, each: t.EachDelta}}
	defer r.out.close() // also when something panics: no timer may emit later
	r.History.settle()  // a process that was killed may have left calls open
	start := len(r.History.messages)
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
		r.History.cut(start) // schema:StopReason: the prompt and what followed leave the context
	}
	return outcome
}

type run struct {
	Turn
	out *coalescer // everything that is emitted goes through it
}

func (r *run) loop(ctx context.Context) Outcome {
	for step := 0; ; step++ {
		if r.MaxSteps > 0 && step == r.MaxSteps {
			return MaxTurnRequests{}
		}
		a, err := r.answer(ctx)
		ending := a.Ending()
		if err != nil || ending != model.Done {
			a.Calls = nil // incomplete or withheld: not run, and so not in the history
		}
		a.Calls = slices.Clone(a.Calls)
		for i := range a.Calls {
			a.Calls[i].ID = r.History.newID(a.Calls[i].ID)
			a.Calls[i].Name = safeName(a.Calls[i].Name)
		}
		told := r.out.event(Answer{Calls: r.History.addAnswer(a)})
		if a.Usage != nil {
			told = cmp.Or(told, r.out.event(Usage{Usage: *a.Usage}))
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
		case len(a.Calls) == 0:
			return EndTurn{}
		}
		for _, call := range a.Calls {
			if err := r.call(ctx, call); err != nil {
				return Failed{err}
			}
		}
	}
}

// answer makes one model call, again with the very same request while the answer is truly empty. Thought alone is not: the
// user has seen it.
func (r *run) answer(ctx context.Context) (answer, error) {
	for try := 0; ; try++ {
		a, err := r.stream(ctx)
		empty := a.text == "" && a.thought == "" && len(a.Calls) == 0 && a.Ending() == model.Done
		if err != nil || !empty {
			return a, err
		}
		if try == emptyRetries {
			return a, ErrEmpty
		}
		if a.Usage != nil { // the last call's is told behind its answer
			if err := r.out.event(Usage{Usage: *a.Usage}); err != nil {
				return a, err
			}
		}
	}
}

// answer is what one model call gave: the words that were emitted, and the rest.
type answer struct {
	model.Result
	text, thought string
}

func (r *run) stream(ctx context.Context) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	var words [2]strings.Builder // by kind
	var joined joiner
	put := func(kind textKind, s string) error {
		if s == "" {
			return nil
		}
		words[kind].WriteString(s)
		return r.out.add(kind, s)
	}
	kind := kindText
	result, err := r.Model.Stream(ctx, r.request(), func(d model.Delta) error {
		for _, part := range [...]struct {
			kind textKind
			text string
		}{{kindThought, d.Thought}, {kindText, d.Text}} {
			if part.text == "" {
				continue
			}
			if part.kind != kind {
				if err := put(kind, joined.rest()); err != nil {
					return err
				}
				kind = part.kind
			}
			if err := put(kind, joined.next(part.text)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	err = cmp.Or(err, put(kind, joined.rest()), r.out.flush())
	return answer{result, words[kindText].String(), words[kindThought].String()}, err
}

func (r *run) request() *model.Request {
	req := &model.Request{System: r.System, Messages: r.History.Messages()}
	for _, t := range r.Tools.All() {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Name, Description: t.Description, Params: t.Params})
	}
	return req
}
