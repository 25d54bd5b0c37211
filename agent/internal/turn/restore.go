package turn

import (
	"cmp"
	"slices"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
)

// Restorer brings a History back from the events of a session that was open
// before: what Run put into it then, it puts there now.
type Restorer struct {
	history *History
	start   int       // where the last turn began
	words   [2][]byte // by kind, of the answer that goes on
	open    map[string]model.Call
}

// NewRestorer fills a history that nothing else uses yet.
func NewRestorer(h *History) *Restorer { return &Restorer{history: h} }

// Apply takes the next event; those that mean nothing to the model change nothing.
func (r *Restorer) Apply(e Event) {
	switch e := e.(type) {
	case event.Prompt:
		r.endAnswer(nil)
		r.history.settle()
		r.start = len(r.history.messages)
		r.history.add(model.Message{Role: model.User, Text: cmp.Or(e.Submit, e.Text)})
	case Thought:
		r.addWords(kindThought, e.Text)
	case Text:
		r.addWords(kindText, e.Text)
	case Answer:
		r.endAnswer(e.Calls)
	case ToolEnd:
		if call, ok := r.open[e.ID]; ok {
			delete(r.open, e.ID)
			r.history.addResult(call, cmp.Or(e.Full, e.Text), e.Failed)
		}
	case event.Done:
		r.endAnswer(nil)
		r.history.settle()
		if e.Outcome == event.Refusal {
			r.history.cut(r.start)
		}
	}
}

// addWords doubles the buffer when it is full; append alone would copy a long
// answer five times.
func (r *Restorer) addWords(kind textKind, text string) {
	words := r.words[kind]
	if len(words)+len(text) > cap(words) {
		words = slices.Grow(words, max(len(words), len(text)))
	}
	r.words[kind] = append(words, text...)
}

// endAnswer adds the words so far with these calls. Words without an end are of
// a process that was killed: the user has seen them.
func (r *Restorer) endAnswer(calls []model.Call) {
	a := answer{model.Result{Calls: calls}, string(r.words[kindText]), string(r.words[kindThought])}
	r.words[kindText], r.words[kindThought] = r.words[kindText][:0], r.words[kindThought][:0]
	r.open = map[string]model.Call{}
	for _, call := range r.history.addAnswer(a) {
		r.history.take(call.ID)
		r.open[call.ID] = call
	}
}
