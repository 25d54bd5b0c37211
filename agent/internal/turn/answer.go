package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// emptyRetries is how often an empty answer is asked for again.
const emptyRetries = 2

// ErrEmpty is the failure of a model that keeps giving empty answers:
// emptyRetries+1 of them.
var ErrEmpty = errors.New("the model gave an empty answer 3 times in a row")

// answer makes one model call, again with the very same request while it fails for a reason that may pass and has given no
// text yet, and while the answer is truly empty. Thought alone is not empty: the user has seen it.
func (r *run) answer(ctx context.Context) (answer, error) {
	retry := retrier{limit: r.Limits.Retry}
	for empty := 0; ; {
		a, err := r.stream(ctx)
		if err != nil {
			if a.text != "" { // made again, the user would read it twice
				return a, err
			}
			wait, again := retry.next(ctx, err)
			if !again {
				return a, retry.explain(err)
			}
			if a.Usage != nil {
				if err := r.used(*a.Usage); err != nil {
					return a, err
				}
			}
			if err := r.out.event(Retry{Text: fmt.Sprintf("%s; trying again in %s", r.Redact(err.Error()), short(wait))}); err != nil {
				return answer{}, err
			}
			if err := sleep(ctx, wait); err != nil {
				return answer{}, err
			}
			continue
		}
		if a.text != "" || a.thought != "" || len(a.Calls) > 0 || a.Ending() != model.Done {
			return a, nil
		}
		if empty == emptyRetries {
			return a, ErrEmpty
		}
		empty++
		if a.Usage != nil { // the last call's is told behind its answer
			if err := r.used(*a.Usage); err != nil {
				return a, err
			}
		}
	}
}

// answer is what one model call gave: the words that were emitted, and the rest.
type answer struct {
	model.Result
	text, thought, origin string
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
	return answer{result, words[kindText].String(), words[kindThought].String(), ""}, err
}

func (r *run) request() *model.Request {
	req := &model.Request{System: r.System, Messages: r.History.Messages(), Effort: r.Effort}
	for _, t := range r.Tools.All() {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Name, Description: t.Description, Params: t.Params})
	}
	return req
}
