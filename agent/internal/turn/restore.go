package turn

import (
	"cmp"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
)

// Restorer brings a History back from the events of a session that was open
// before: what Run put into it then, it puts there now.
type Restorer struct {
	history *History
	start   int         // where the last turn began
	words   [2][]string // by kind, of the answer that goes on
	open    map[string]model.Call
}

// NewRestorer fills a history that nothing else uses yet.
func NewRestorer(h *History) *Restorer { return &Restorer{history: h} }

// Apply takes the next event; those that mean nothing to the model change nothing.
func (r *Restorer) Apply(e Event) {
	switch e := e.(type) {
	case event.Prompt:
		r.endAnswer(Answer{})
		r.history.settle()
		r.start = len(r.history.messages)
		r.history.add(model.Message{Role: model.User, Text: cmp.Or(e.Submit, e.Text)})
	case Thought:
		r.words[kindThought] = append(r.words[kindThought], e.Text)
	case Text:
		r.words[kindText] = append(r.words[kindText], e.Text)
	case Retry:
		r.words[kindThought] = nil
	case Usage:
		r.history.used(e.Usage)
	case Nudge:
		r.history.add(model.Message{Role: model.User, Text: e.Text})
	case Steer:
		r.history.add(model.Message{Role: model.User, Text: e.Text})
	case Compacted:
		r.history.compact(e.Dropped, e.Message)
		r.start = afterCompaction(r.start, e.Dropped)
	case Answer:
		r.endAnswer(e)
	case ToolEnd:
		if call, ok := r.open[e.ID]; ok {
			delete(r.open, e.ID)
			r.history.addResult(call, cmp.Or(e.Full, e.Text), e.Failed)
		}
	case event.Done:
		r.endAnswer(Answer{})
		r.history.settle()
		if e.Outcome == event.Refusal {
			r.history.cut(r.start)
		}
	}
}

// endAnswer adds the words so far with these calls. Words without an end are of
// a process that was killed: the user has seen them.
func (r *Restorer) endAnswer(e Answer) {
	a := answer{model.Result{Calls: e.Calls}, strings.Join(r.words[kindText], ""), strings.Join(r.words[kindThought], ""), e.Origin}
	r.words = [2][]string{}
	r.open = map[string]model.Call{}
	for _, call := range r.history.addAnswer(a) {
		r.history.take(call.ID)
		r.open[call.ID] = call
	}
}
