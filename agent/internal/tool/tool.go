// Package tool holds what the model can do: for each tool its description, and how a call is prepared and run.
// A tool says what a call would touch; it does not decide whether that is allowed. It knows no host and no model.
package tool

import (
	"context"
	"encoding/json"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

// Tool is one tool of one session.
type Tool struct {
	Name        string
	Description string          // for the model
	Params      json.RawMessage // JSON Schema of the arguments; constant, so that providers can cache it
	Kind        Kind
	// Prepare reads the arguments and says what a call would do, without doing it. An error is meant for the model; what
	// is known of the Invocation by then (title, locations) is still shown to the user.
	Prepare func(ctx context.Context, args Args) (Invocation, error)
}

// Kind sorts tools for display.
type Kind string

// The kinds, in the words of the protocol.
const (
	KindRead    Kind = "read"
	KindEdit    Kind = "edit"
	KindMove    Kind = "move"
	KindSearch  Kind = "search"
	KindExecute Kind = "execute"
	KindThink   Kind = "think"
	KindFetch   Kind = "fetch"
	KindMode    Kind = "switch_mode"
	KindOther   Kind = "other"
)

// Invocation is one prepared call.
type Invocation struct {
	Title     string // what is done, for a person: "Read README.md"
	Locations []Location
	Access    permission.Access
	Diffs     []Diff      // what Run would change
	Plan      []PlanEntry // the new plan; nil leaves the plan as it is
	Text      string      // what the user is to read before it runs, in Markdown
	// Run does it, at most once, and returns soon after ctx ends.
	Run func(ctx context.Context) (Output, error)
}

// Output is the result of a call that went well.
type Output struct {
	Text  string // for the model and the user
	Diffs []Diff // what was changed
}

// Location is a place in a file.
type Location struct {
	Path string // absolute
	Line int    // from 1; 0 when there is none
}

// Diff is a change of one file.
type Diff struct {
	Path string  // absolute
	Old  *string // nil for a new file
	New  string
}

// PlanEntry is one step of the model's plan.
type PlanEntry struct {
	Content  string
	Priority string // high, medium or low
	Status   string // pending, in_progress or completed
}

// Set is the tools of a session in a fixed order: the same order in every request, for the provider's cache. A nil Set is
// empty.
type Set struct {
	tools []Tool
}

// NewSet keeps the order. Of two tools with one name the first is found.
func NewSet(tools ...Tool) *Set { return &Set{tools} }

// All returns the tools in order; the caller must not change them.
func (s *Set) All() []Tool {
	if s == nil {
		return nil
	}
	return s.tools
}

// Find returns the tool of that name.
func (s *Set) Find(name string) (Tool, bool) {
	for _, t := range s.All() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
