// Package model is the border to a language model: one call, what it streams and how it ends. Implementations live in
// packages below it and elsewhere. It knows no session, no tool's meaning and no provider's wire format.
package model

import (
	"context"
	"encoding/json"
)

// Model answers model calls. One value may keep state for one session, whose calls come one after the other.
type Model interface {
	// Stream makes one call. It hands over the answer piece by piece, in order and from one goroutine, and stops when emit
	// fails. It returns soon after ctx ends. A provider's failure is an *Error; a Result that comes with an error holds
	// nothing but perhaps the usage.
	Stream(ctx context.Context, req *Request, emit func(Delta) error) (Result, error)
}

// Request is everything the model is told. Stream must not change it.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
	Effort   string // of the reasoning, in the provider's words; "" leaves it to the provider
}

// Role says who speaks.
type Role string

// The roles of a message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of the conversation.
type Message struct {
	Role    Role
	Text    string // a user's or assistant's words, or a tool's result
	Thought string // assistant: the reasoning, which some providers want back
	Origin  string // assistant: which model wrote it, so that another is not given its reasoning; "": unknown
	Calls   []Call // assistant: each has a tool message right behind
	CallID  string // tool: the call it answers
	Name    string // tool: the tool's name
	Failed  bool   // tool: the result is an error
}

// ToolSpec is a tool as the model sees it.
type ToolSpec struct {
	Name, Description string
	Params            json.RawMessage // JSON Schema of the arguments
}

// Delta is the next piece of an answer; one of the two is set. A character may be split between two deltas.
type Delta struct {
	Thought, Text string
}

// Call is a tool call that the model asks for.
type Call struct {
	ID   string // the provider's; may be empty or used before
	Name string
	Args json.RawMessage // as sent; may be malformed
	// Extra is what the provider wants back with the call, in its own form; mostly nil.
	Extra json.RawMessage `json:",omitempty"`
}

// Result is how an answer ended.
type Result struct {
	Calls  []Call
	Finish string // the provider's word; see Ending
	Usage  *Usage // nil when the provider reports none
}

// Usage counts the tokens of one call.
type Usage struct {
	Input     uint64 // read, cached ones included
	Output    uint64 // written, reasoning included
	Cached    uint64
	Reasoning uint64
}
