package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode is the event as a record of the ledger. Kind "" is an event that is not kept.
func Encode(e Event) (kind string, data json.RawMessage, err error) {
	kind = e.kind()
	switch e := e.(type) {
	case ToolStart, Compacting:
		return "", nil, nil
	case Thought: // these two are written for each piece of a stream
		return kind, encodeText(e.Text), nil
	case Text:
		return kind, encodeText(e.Text), nil
	}
	// Without the escapes for HTML, which would also change the arguments of calls:
	// the provider must get the same bytes from a session that was opened again.
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err = enc.Encode(e)
	return kind, bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}

// Decode reads a record. A kind of a newer version gives nil without an error.
func Decode(kind string, data json.RawMessage) (Event, error) {
	switch kind {
	case "thought", "text":
		words, err := AppendWords(nil, data)
		return Piece(kind, string(words)), err
	case "answer":
		return decode[Answer](data)
	case "plan":
		return decode[Plan](data)
	case "tool_call":
		return decode[ToolCall](data)
	case "tool_end":
		return decode[ToolEnd](data)
	case "usage":
		return decode[Usage](data)
	case "waiting":
		return decode[Waiting](data)
	case "retry":
		return decode[Retry](data)
	case "nudge":
		return decode[Nudge](data)
	case "steer":
		return decode[Steer](data)
	case "goal":
		return decode[Goal](data)
	case "compacted":
		return decode[Compacted](data)
	case "opened":
		return decode[Opened](data)
	case "set":
		return decode[Set](data)
	case "prompt":
		return decode[Prompt](data)
	case "command":
		return decode[Command](data)
	case "output":
		return decode[Output](data)
	case "warning":
		return decode[Warning](data)
	case "done":
		return decode[Done](data)
	}
	return nil, nil
}

func decode[E Event](data json.RawMessage) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("a record of kind %q: %w", e.kind(), err)
	}
	return e, nil
}
