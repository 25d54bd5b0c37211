package event

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// A Thought or a Text is a piece of a stream. Most of a log is pieces, and small
// ones: who reads a whole log can have their words without an Event each.

// IsPiece says whether records of this kind are pieces.
func IsPiece(kind string) bool { return kind == "text" || kind == "thought" }

// Piece is the event of these words; kind is that of a piece.
func Piece(kind, words string) Event {
	if kind == "thought" {
		return Thought{words}
	}
	return Text{words}
}

// Verbatim returns the words of a piece as they stand in its record, inside the
// quotes of a JSON string. ok means that an encoder which escapes no more than it
// must writes the decoded words in the same way.
func Verbatim(kind string, data json.RawMessage) (words []byte, ok bool) {
	if !IsPiece(kind) {
		return nil, false
	}
	if words, ok = inQuotes(data); !ok {
		return nil, false
	}
	all := byte(0) // the bits of all bytes
	for i := 0; i < len(words); i++ {
		all |= words[i]
		switch c := words[i]; {
		case c == '\\':
			if i++; i == len(words) || bytes.IndexByte([]byte(`"\nrt`), words[i]) < 0 {
				return nil, false
			}
		case c < ' ' || c == '"':
			return nil, false
		}
	}
	return words, all < utf8.RuneSelf || utf8.Valid(words)
}

// inQuotes returns what stands between the quotes of a record as encodeText writes it.
func inQuotes(data json.RawMessage) ([]byte, bool) {
	if in, ok := bytes.CutPrefix(data, []byte(`{"Text":"`)); ok {
		return bytes.CutSuffix(in, []byte(`"}`))
	}
	return nil, false
}

func encodeText(s string) json.RawMessage {
	var w jx.Writer
	w.Buf = make([]byte, 0, len(s)+len(s)/8+16)
	w.RawStr(`{"Text":`)
	w.StrEscape(s)
	w.RawStr("}")
	return w.Buf
}

// AppendWords appends the words of a piece to b.
func AppendWords(b []byte, data json.RawMessage) ([]byte, error) {
	// With nothing escaped they stand there.
	if in, ok := inQuotes(data); ok && bytes.IndexByte(in, '\\') < 0 && bytes.IndexByte(in, '"') < 0 {
		return append(b, in...), nil
	}
	start := len(b)
	err := jx.DecodeBytes(data).ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		if string(key) != "Text" {
			return d.Skip()
		}
		b, err = d.StrAppend(b[:start])
		return err
	})
	return b, err
}
