package turn

// Outcome is how a turn ended: one of the types below.
type Outcome interface{ outcome() }

// The outcomes.
type (
	EndTurn         struct{} // the model has finished
	MaxTokens       struct{} // the model's token limit cut the answer
	MaxTurnRequests struct{} // Turn.MaxSteps was reached; what was done is kept
	Refusal         struct{} // the provider or the model declined; the history is as it was before the prompt
	Cancelled       struct{}
	Failed          struct{ Err error }
)

func (EndTurn) outcome()         {}
func (MaxTokens) outcome()       {}
func (MaxTurnRequests) outcome() {}
func (Refusal) outcome()         {}
func (Cancelled) outcome()       {}
func (Failed) outcome()          {}
