package turn

import "github.com/acpkit/acpkit/agent/internal/event"

// What a turn emits, as package event describes it.
type (
	Event      = event.Event
	Thought    = event.Thought
	Text       = event.Text
	Answer     = event.Answer
	Plan       = event.Plan
	ToolCall   = event.ToolCall
	ToolStart  = event.ToolStart
	ToolEnd    = event.ToolEnd
	Usage      = event.Usage
	Retry      = event.Retry
	Nudge      = event.Nudge
	Steer      = event.Steer
	Compacting = event.Compacting
	Compacted  = event.Compacted
)
