package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// Of the window, in percent: how much may be used before the history is condensed, and how much of the newest messages stays
// as it is then.
const (
	fullAt  = 80
	keepFor = 25
)

// bytesPerToken is a low guess, for messages that no provider has counted yet.
const bytesPerToken = 3

const condenseRequest = "The conversation is about to outgrow your context. Do not call tools now. Write down what is needed to go on without the earlier messages: " +
	"what the user wants, what was decided and why, the files that were read or changed and what matters in them, commands that were run with their results, " +
	"what is done and what is left. Be exact with names, paths and error messages."

// makeRoom condenses the history when the next request would fill the window too far.
func (r *run) makeRoom(ctx context.Context) error {
	if r.Window == 0 || r.contextSize() < uint64(r.Window)*fullAt/100 {
		return nil
	}
	if err := r.condense(ctx); !errors.Is(err, errNothingToCondense) {
		return err
	}
	return nil
}

// contextSize is how many tokens the next request has: those that the provider counted last, and a guess for the rest.
func (r *run) contextSize() uint64 {
	messages := r.History.messages
	if h := r.History; h.last.Input > 0 {
		return h.last.Input + h.last.Output + guess(messages[min(h.counted, len(messages)):])
	}
	return guess(messages) + uint64(len(r.System))/bytesPerToken
}

func guess(messages []model.Message) (tokens uint64) {
	for _, m := range messages {
		tokens += uint64(size(m)) / bytesPerToken
	}
	return tokens
}

func size(m model.Message) int {
	n := len(m.Text) + len(m.Thought)
	for _, call := range m.Calls {
		n += len(call.Name) + len(call.Args)
	}
	return n
}

var errNothingToCondense = errors.New("the conversation does not fit into the model's window, and nothing of it can be condensed")

// condense puts a summary, written by the model, in the place of the older messages. The ledger keeps them all.
func (r *run) condense(ctx context.Context) error {
	messages := r.History.messages
	dropped := r.older()
	if dropped < 2 { // a summary alone is not condensed again
		return errNothingToCondense
	}
	id := fmt.Sprintf("compaction_%d", r.History.condensed+1)
	if err := r.out.event(Compacting{ID: id}); err != nil {
		return err
	}
	summary, err := r.summary(ctx)
	if err != nil {
		return errors.Join(err, r.out.event(Compacting{ID: id, Failed: true}))
	}
	text := "[The earlier conversation was condensed to this.]\n\n" + summary
	if dropped > r.start { // what is being worked on stays word for word
		text += "\n\n[The user's last message was:]\n\n" + r.Prompt
	}
	e := Compacted{ID: id, Dropped: dropped, Before: len(messages), Tokens: r.contextSize(), Message: text}
	r.History.compact(dropped, text)
	r.start = afterCompaction(r.start, dropped)
	return r.out.event(e)
}

// older counts the messages that are not among the newest. No call is parted from its results.
func (r *run) older() int {
	messages := r.History.messages
	n, left := len(messages), r.Window*keepFor/100*bytesPerToken
	for n > 0 {
		if left -= size(messages[n-1]); left < 0 {
			break
		}
		n--
	}
	for n < len(messages) && messages[n].Role == model.Tool {
		n++
	}
	return n
}

// summary asks the model, with the request that it knows already and one message more, so that its cache serves. A model
// that fails leaves the user's own words.
func (r *run) summary(ctx context.Context) (string, error) {
	req := r.request()
	req.Messages = append(req.Messages, model.Message{Role: model.User, Text: condenseRequest})
	var words strings.Builder
	result, err := r.Model.Stream(ctx, req, func(d model.Delta) error {
		words.WriteString(d.Text)
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if result.Usage != nil {
		if err := r.used(*result.Usage); err != nil {
			return "", err
		}
	}
	if text := strings.TrimSpace(words.String()); err == nil && text != "" {
		return clip(strings.ToValidUTF8(text, "\uFFFD"), max(r.Window*keepFor/100*bytesPerToken, 4<<10)), nil
	}
	var b strings.Builder
	b.WriteString("No summary could be made. These were the user's messages:\n")
	for _, m := range r.History.messages {
		if m.Role == model.User {
			fmt.Fprintf(&b, "- %s\n", clip(m.Text, 500))
		}
	}
	return clip(b.String(), 16<<10), nil
}

// tooLong reports whether the provider refused a request because of its length.
func tooLong(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && failed.TooLong()
}
