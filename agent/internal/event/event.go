// Package event is what happens in a session, as the ledger keeps it: a live
// session and one that is opened again go through the same events, so both are
// shown, continued and reported in the same way. It knows no wire.
package event

import (
	"encoding/json"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// Event is one of the types below.
type Event interface{ kind() string }

// What a turn emits. A call is a ToolCall, then a ToolStart unless it is refused or cannot run, then always one ToolEnd.
type (
	// Thought is the next piece of the model's reasoning; whole characters, never empty.
	Thought struct{ Text string }
	// Text is the next piece of its answer; the same.
	Text struct{ Text string }
	// Answer ends one model call: the pieces before it are its words, and these are the calls that it asks for.
	Answer struct {
		Calls  []model.Call
		Origin string `json:",omitempty"` // the model
	}
	// Plan replaces the plan. It comes right before the call that made it.
	Plan struct{ Entries []tool.PlanEntry }
	// ToolCall announces a call, which is pending from now on.
	ToolCall struct {
		ID        string // unique in the session
		Tool      string // the tool's name; it need not exist
		Title     string
		Kind      tool.Kind
		Args      json.RawMessage `json:",omitempty"` // valid JSON on one line; nil when the model sent something else
		Locations []tool.Location `json:",omitempty"`
		Diffs     []tool.Diff     `json:",omitempty"` // what it is going to change
		Text      string          `json:",omitempty"` // what the user is to read before it runs
	}
	// ToolStart says that the call is running. The ledger does not keep it.
	ToolStart struct{ ID string }
	// ToolEnd ends a call. Its content replaces what was announced.
	ToolEnd struct {
		ID     string
		Failed bool        `json:",omitempty"`
		Text   string      // the result or the error; never empty
		Full   string      `json:",omitempty"` // what the model reads, where that is more
		Diffs  []tool.Diff `json:",omitempty"` // what it has changed
	}
	// Usage is the token count of one model call. It comes before the calls of that answer.
	Usage struct{ model.Usage }
	// Waiting says that the user is asked whether a call may run, or what to answer to it.
	Waiting struct {
		ID    string
		Input bool `json:",omitempty"` // an answer is asked for
	}
	// Retry says that a model call has failed and is made again. The thoughts that it gave are void, and no text came of it.
	Retry struct{ Text string }
	// Nudge is what the agent itself tells the model, to make it go on.
	Nudge struct{ Text string }
	// Steer is what the user said while the turn ran, as it enters the conversation.
	Steer struct {
		Text string
		Item string `json:",omitempty"` // of the inbox
	}
	// Goal is the model's word on the goal of the session.
	Goal struct {
		State  string // complete or blocked
		Reason string `json:",omitempty"`
	}
	// Compacting says that the history is being condensed. The ledger does not keep it.
	Compacting struct {
		ID     string
		Failed bool // it was given up
	}
	// Compacted ends that: one message takes the place of the first Dropped ones.
	Compacted struct {
		ID      string
		Dropped int
		Before  int    // messages
		Tokens  uint64 `json:",omitempty"` // of the context before, as far as known
		Message string // what the model is told instead
	}
)

// What happens around a turn.
type (
	// Opened is the first event of a session.
	Opened struct {
		CWD         string
		Directories []string `json:",omitempty"` // further roots
		Axes
	}
	// Set changes what is not nil. Later says that a turn was running: it counts
	// when that has ended, or when the session is opened again.
	Set struct {
		Model, Effort, Preset, Mode *string `json:",omitempty"`
		Later                       bool    `json:",omitempty"`
	}
	// Prompt begins a turn.
	Prompt struct {
		Text   string // as the user wrote it
		Submit string `json:",omitempty"` // what the model is told, where that differs
	}
	// Command begins a turn that runs a local slash command.
	Command struct{ Input string }
	// Output is what a local command printed.
	Output struct{ Text string }
	// Warning is shown to the user and means nothing to the model.
	Warning struct{ Text string }
	// Done ends a turn.
	Done struct {
		Outcome Outcome
		Reason  string `json:",omitempty"` // redacted and bounded
	}
)

// Axes is what a user can set on a session.
type Axes struct {
	Model  string // provider/model
	Effort string // "" is the provider's default
	Preset string
	Mode   string
}

// Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	EndTurn         Outcome = "end_turn"
	MaxTokens       Outcome = "max_tokens"
	MaxTurnRequests Outcome = "max_turn_requests"
	Budget          Outcome = "budget"    // a limit of time or tokens was reached
	Dismissed       Outcome = "dismissed" // the user did not answer a question
	Refusal         Outcome = "refusal"
	Cancelled       Outcome = "cancelled"
	Failed          Outcome = "failed"
)

func (Thought) kind() string    { return "thought" }
func (Text) kind() string       { return "text" }
func (Answer) kind() string     { return "answer" }
func (Plan) kind() string       { return "plan" }
func (ToolCall) kind() string   { return "tool_call" }
func (ToolStart) kind() string  { return "" }
func (ToolEnd) kind() string    { return "tool_end" }
func (Usage) kind() string      { return "usage" }
func (Waiting) kind() string    { return "waiting" }
func (Retry) kind() string      { return "retry" }
func (Nudge) kind() string      { return "nudge" }
func (Steer) kind() string      { return "steer" }
func (Goal) kind() string       { return "goal" }
func (Compacting) kind() string { return "" }
func (Compacted) kind() string  { return "compacted" }
func (Opened) kind() string     { return "opened" }
func (Set) kind() string        { return "set" }
func (Prompt) kind() string     { return "prompt" }
func (Command) kind() string    { return "command" }
func (Output) kind() string     { return "output" }
func (Warning) kind() string    { return "warning" }
func (Done) kind() string       { return "done" }
