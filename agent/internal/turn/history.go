package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// notRun is the result of a call that never ran.
const notRun = "cancelled: this call was not run"

// History is the conversation of one session as the next request holds it. Only one turn at a time may use it.
type History struct {
	messages  []model.Message
	ids       map[string]bool // of every call, those that were cut off too: hosts have seen them
	made      int             // how many ids were made here
	condensed int             // times
	last      model.Usage     // of the last call, until the history is condensed
	counted   int             // messages that are in it
}

// NewHistory continues a conversation.
func NewHistory(messages []model.Message) *History {
	h := &History{messages: slices.Clone(messages)}
	for _, m := range h.messages {
		for _, call := range m.Calls {
			h.take(call.ID)
		}
	}
	return h
}

// Messages is the conversation so far. It stays as it is while the turn goes on; the caller must not change it.
func (h *History) Messages() []model.Message { return slices.Clip(h.messages) }

func (h *History) add(m model.Message) { h.messages = append(h.messages, m) }

// addAnswer adds what the model said, and returns the calls as they went in. An answer without words and calls leaves
// nothing that a provider would take back. Arguments go in repaired: one call that a provider chokes on would spoil every
// later request.
func (h *History) addAnswer(a answer) []model.Call {
	if a.text == "" && len(a.Calls) == 0 {
		return nil
	}
	m := model.Message{Role: model.Assistant, Text: a.text, Thought: a.thought, Origin: a.origin}
	for _, call := range a.Calls {
		call.Args = cleanJSON(call.Args)
		if args, err := tool.ParseArgs(call.Args); err != nil || len(args) == 0 {
			call.Args = json.RawMessage("{}")
		}
		m.Calls = append(m.Calls, call)
	}
	h.add(m)
	return m.Calls
}

func (h *History) addResult(call model.Call, text string, failed bool) {
	h.add(model.Message{Role: model.Tool, CallID: call.ID, Name: call.Name, Text: text, Failed: failed})
}

// settle gives each call of the last answer that has no result one that says so.
func (h *History) settle() {
	answered := map[string]bool{}
	for _, m := range slices.Backward(h.messages) {
		if m.Role == model.Tool {
			answered[m.CallID] = true
			continue
		}
		for _, call := range m.Calls {
			if !answered[call.ID] {
				h.addResult(call, notRun, true)
			}
		}
		return
	}
}

// cut takes the messages from n on away. Requests that still hold them are not disturbed.
func (h *History) cut(n int) { h.messages = slices.Clip(h.messages[:n]) }

// compact puts one message in the place of the first n.
func (h *History) compact(n int, text string) {
	n = min(n, len(h.messages))
	h.condensed++
	h.last, h.counted = model.Usage{}, 0
	h.messages = append([]model.Message{{Role: model.User, Text: text}}, h.messages[n:]...)
}

// used takes the count of a call whose answer is in.
func (h *History) used(u model.Usage) { h.last, h.counted = u, len(h.messages) }

// afterCompaction is where a message stands that stood at i. One that is gone stands where the message in its place ends.
func afterCompaction(i, dropped int) int { return max(1, i-dropped+1) }

// newID is the provider's id of a call when it is usable and new in the session, else one of ours.
func (h *History) newID(provider string) string {
	id := provider
	for !plain(id) || h.ids[id] {
		h.made++
		id = fmt.Sprintf("call_%d", h.made)
	}
	h.take(id)
	return id
}

func (h *History) take(id string) {
	if h.ids == nil {
		h.ids = map[string]bool{}
	}
	h.ids[id] = true
}

func plain(id string) bool {
	return id != "" && len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// safeName is a tool name as every provider takes it back: [A-Za-z0-9_-]{1,64}. The names of our tools have that form.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}
