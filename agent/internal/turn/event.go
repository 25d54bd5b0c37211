package turn

import (
	"encoding/json"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// Event is something the user may see: one of the types below.
type Event interface{ event() }

// The events. A call is a ToolCall, then a ToolStart unless it is refused or cannot run, then always one ToolEnd.
type (
	// Thought is the next piece of the model's reasoning; whole characters, never empty.
	Thought struct{ Text string }
	// Text is the next piece of its answer; the same.
	Text struct{ Text string }
	// Plan replaces the plan. It comes right before the call that made it.
	Plan struct{ Entries []tool.PlanEntry }
	// ToolCall announces a call, which is pending from now on.
	ToolCall struct {
		ID        string // unique in the session
		Tool      string // the tool's name; it need not exist
		Title     string
		Kind      tool.Kind
		Args      json.RawMessage // valid JSON on one line; nil when the model sent something else
		Locations []tool.Location
		Diffs     []tool.Diff // what it is going to change
	}
	// ToolStart says that the call is running.
	ToolStart struct{ ID string }
	// ToolEnd ends a call. Its content replaces what was announced.
	ToolEnd struct {
		ID     string
		Failed bool
		Text   string      // the result or the error; never empty
		Diffs  []tool.Diff // what it has changed
	}
	// Usage is the token count of one model call. It comes before the calls of that answer.
	Usage struct{ model.Usage }
)

func (Thought) event()   {}
func (Text) event()      {}
func (Plan) event()      {}
func (ToolCall) event()  {}
func (ToolStart) event() {}
func (ToolEnd) event()   {}
func (Usage) event()     {}
