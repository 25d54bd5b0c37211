package model

// Ending is what a provider's finish reason means.
type Ending int

// The endings of an answer.
const (
	Done     Ending = iota // nothing more to say, or waiting for tool results: the collected calls decide
	Length                 // the token limit was reached; the last call may be incomplete
	Filtered               // the provider or the model declined
	Broken                 // the provider could not finish
)

// Ending sorts the words that OpenAI-compatible providers use. An unknown or missing word says nothing by itself.
func (r Result) Ending() Ending {
	switch r.Finish {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return Length
	case "content_filter", "refusal", "sensitive":
		return Filtered
	case "error", "insufficient_system_resource", "network_error":
		return Broken
	default: // stop, tool_calls, function_call, "" …
		return Done
	}
}
