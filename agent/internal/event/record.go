package event

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-faster/jx"
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
	data, err = json.Marshal(e)
	return kind, data, err
}

func encodeText(s string) json.RawMessage {
	var w jx.Writer
	w.Buf = make([]byte, 0, len(s)+len(s)/8+16)
	w.RawStr(`{"Text":`)
	w.StrEscape(s)
	w.RawStr("}")
	return w.Buf
}

// Decode reads a record. A kind of a newer version gives nil without an error.
func Decode(kind string, data json.RawMessage) (Event, error) {
	switch kind {
	case "thought":
		s, err := decodeText(data)
		return Thought{s}, err
	case "text":
		s, err := decodeText(data)
		return Text{s}, err
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

// decodeText reads what encodeText wrote; a replay is mostly this.
func decodeText(data json.RawMessage) (s string, err error) {
	// As encodeText wrote it, and with nothing escaped, it stands there.
	if in, ok := bytes.CutPrefix(data, []byte(`{"Text":"`)); ok {
		if in, ok = bytes.CutSuffix(in, []byte(`"}`)); ok && !bytes.ContainsAny(in, `\"`) {
			return string(in), nil
		}
	}
	d := jx.DecodeBytes(data)
	err = d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		if string(key) != "Text" {
			return d.Skip()
		}
		s, err = d.Str()
		return err
	})
	return s, err
}
