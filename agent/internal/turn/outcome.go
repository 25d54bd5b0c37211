package turn

import "fmt"

// Outcome is how a turn ended: one of the types below.
type Outcome interface{ outcome() }

// The outcomes.
type (
	EndTurn         struct{}               // the model has finished
	MaxTokens       struct{}               // the model's token limit cut the answer
	MaxTurnRequests struct{}               // Limits.Steps was reached; what was done is kept
	Budget          struct{ Limit string } // another limit was reached, the same; Limit names its setting
	Dismissed       struct{}               // the user dismissed a question that the model asked
	Refusal         struct{}               // the provider or the model declined; the history is as it was before the prompt
	Cancelled       struct{}
	Failed          struct{ Err error }
)

func (EndTurn) outcome()         {}
func (MaxTokens) outcome()       {}
func (MaxTurnRequests) outcome() {}
func (Budget) outcome()          {}
func (Dismissed) outcome()       {}
func (Refusal) outcome()         {}
func (Cancelled) outcome()       {}
func (Failed) outcome()          {}

// Warning is what the user is told of a turn that ended at a limit; "" for every other outcome.
func (l Limits) Warning(o Outcome) string {
	const kept = "the work is kept, and a new message goes on"
	switch o := o.(type) {
	case MaxTurnRequests:
		return fmt.Sprintf("stopped after %d model rounds (max_steps); %s", l.Steps, kept)
	case Budget:
		if o.Limit == limitTokens {
			return fmt.Sprintf("stopped at the limit of %d tokens (%s); %s", l.Tokens, o.Limit, kept)
		}
		return fmt.Sprintf("stopped at the limit of %s (%s); %s", l.Time, o.Limit, kept)
	}
	return ""
}

// The limits that Budget names, as the configuration does.
const (
	limitTime   = "task_minutes"
	limitTokens = "task_tokens"
)
