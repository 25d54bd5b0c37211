package play

import (
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

// Error says why a play failed, with what a reader needs to find the cause.
type Error struct {
	Line   int      // of the step in the script; 0 for the start, the implied eof, and when only Faults are to blame
	Step   string   // the step as written; "" when every step was done and only Faults are to blame
	Err    error    // what went wrong in the step
	Since  []string // what the agent wrote behind the last match, in its order
	Before []string // the last lines of the transcript before that
	Faults []string // lines of the agent that are no ACP messages, with the reason
	Stderr string   // of the agent
}

func (e *Error) Unwrap() error { return e.Err }

// Error is a text of several lines; long lines and long lists are cut.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Step == "":
		b.WriteString("the agent wrote what is no ACP message")
	case e.Line == 0:
		fmt.Fprintf(&b, "%s: %v", e.Step, e.Err)
	default:
		fmt.Fprintf(&b, "script:%d: %s: %v", e.Line, transcript.Shorten(e.Step), e.Err)
	}
	if e.Step != "" {
		list(&b, "the transcript ends with", e.Before)
		list(&b, "seen behind the last match", e.Since)
	}
	if len(e.Faults) > 0 {
		list(&b, "not ACP messages", e.Faults)
	}
	if log := strings.TrimSpace(e.Stderr); log != "" {
		const limit = 2000
		list(&b, "end of the agent's stderr", strings.Split(log[max(0, len(log)-limit):], "\n"))
	}
	return b.String()
}

// list writes the last of items under a heading.
func list(b *strings.Builder, heading string, items []string) {
	const limit = 10
	fmt.Fprintf(b, "\n%s:", heading)
	if len(items) == 0 {
		b.WriteString(" nothing")
	}
	if n := len(items) - limit; n > 0 {
		fmt.Fprintf(b, "\n\t… %d more", n)
		items = items[n:]
	}
	for _, s := range items {
		b.WriteString("\n\t" + transcript.Shorten(s))
	}
}

// failure makes the Error of a step that could not be done.
func (p *player) failure(step transcript.Step, err error) *Error {
	p.pull()
	e := &Error{Line: step.Line, Step: step.Text, Err: err, Faults: p.faults}
	for _, l := range p.lines[p.mark:] {
		e.Since = append(e.Since, "agent "+l.String())
	}
	const context = 5
	lines := p.rec.Lines()
	for _, l := range lines[max(0, len(lines)-context):] {
		e.Before = append(e.Before, l.String())
	}
	return e
}
