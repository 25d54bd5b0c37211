package golang

import (
	"fmt"
	"strings"
)

// contract writes the promises of contract.json as a table.
func (g *emitter) contract() {
	var b strings.Builder
	b.WriteString(`// ContractRow is a promise: when the condition holds, the method answers with
// the error code, the stop reason, or a result without an error.
type ContractRow struct {
	// ID is KEY.case, with the key of the method.
	ID string
	// Method is its wire name, "" for what holds for every line.
	Method string
	// When is the condition, in words.
	When string
	// Error is the code of the error answer, 0 for none.
	Error int
	// StopReason is that of the prompt's result, "" for none. A row with
	// neither promises a result.
	StopReason string
	// Warning: a [warning] chunk comes before the answer.
	Warning bool
	// StatusPhase, StatusOutcome and StatusEvent are those of the last status
	// update, "" where none is promised.
	StatusPhase, StatusOutcome, StatusEvent string
	// Source says where the promise comes from.
	Source string
	// Done: the agent keeps it, and a golden transcript proves it.
	Done bool
}

// Contract lists every promise of the agent about error codes and stop reasons.
var Contract = [...]ContractRow{
`)
	for _, r := range g.pkg.Contract {
		fmt.Fprintf(&b, "\t{ID: %q, Method: %q, When: %q", r.ID, r.Method, r.When)
		if r.Error != 0 {
			fmt.Fprintf(&b, ", Error: %d", r.Error)
		}
		for _, m := range [][2]string{{"StopReason", r.StopReason}, {"StatusPhase", r.StatusPhase}, {"StatusOutcome", r.StatusOutcome}, {"StatusEvent", r.StatusEvent}} {
			if m[1] != "" {
				fmt.Fprintf(&b, ", %s: %q", m[0], m[1])
			}
		}
		if r.Warning {
			b.WriteString(", Warning: true")
		}
		fmt.Fprintf(&b, ", Source: %q", r.Source)
		if r.Status == "done" {
			b.WriteString(", Done: true")
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	g.write("contract_gen.go", b.String())
}
