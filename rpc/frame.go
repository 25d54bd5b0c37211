package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// frame is one message to send.
type frame struct {
	response bool     // otherwise a request or notification
	id       ID       // "" for a notification
	method   string   // of a request or notification
	body     Appender // params or result; nil = no params, {} as result
	fail     *Error   // of an error response, instead of body

	urgent bool // small, and rather over the bound than late
	more   bool // another follows at once, so the writer need not be woken for this one
}

// bodyError means that a frame's body does not make a frame. Nothing has been
// sent.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "cannot encode: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// appendTo appends the frame and its newline to b. After an error b is as it
// was.
func (f *frame) appendTo(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if f.id != "" {
		b = append(b, `,"id":`...)
		b = append(b, f.id...)
	}
	var err error
	switch {
	case f.fail != nil:
		b = f.fail.appendTo(append(b, `,"error":`...))
	case f.response:
		b, err = appendBody(b, `,"result":`, f.body, `{}`)
	default:
		b = appendString(append(b, `,"method":`...), f.method)
		b, err = appendBody(b, `,"params":`, f.body, "")
	}
	if err == nil {
		b, err = endFrame(append(b, '}'), start)
	}
	if err != nil {
		return b[:start], &bodyError{err}
	}
	return b, nil
}

// appendBody appends name and body; for a body that is nil or appends nothing,
// name and none, or not even the name.
func appendBody(b []byte, name string, body Appender, none string) (out []byte, err error) {
	out = append(b, name...)
	value := len(out)
	if body != nil {
		if out, err = appendValue(out, body); err != nil {
			return b, err
		}
	}
	switch {
	case len(out) < value:
		return b, fmt.Errorf("%T.AppendJSON returned less than it was given", body)
	case len(out) > value:
		return out, nil
	case none == "":
		return b, nil
	default:
		return append(out, none...), nil
	}
}

// appendValue makes a panic of the body's an error.
func appendValue(b []byte, body Appender) (out []byte, err error) {
	returned := false
	defer func() {
		if returned { // see invoke
			return
		}
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	out = body.AppendJSON(b)
	returned = true
	return out, nil
}

// endFrame sees to it that b[start:] is one line of UTF-8 and ends it. Newlines
// can stand only between tokens and are removed; bytes that are not UTF-8 can
// stand only in strings and are replaced.
func endFrame(b []byte, start int) ([]byte, error) {
	if !utf8.Valid(b[start:]) {
		b = append(b[:start], bytes.ToValidUTF8(b[start:], []byte("\uFFFD"))...)
	}
	if bytes.IndexByte(b[start:], '\n') >= 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b[start:]); err != nil {
			return b, err
		}
		b = append(b[:start], compact.Bytes()...)
	}
	return append(b, '\n'), nil
}

// appendTo appends the error object. Data that is not JSON is left out, so that
// the answer itself cannot fail.
func (e *Error) appendTo(b []byte) []byte {
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = appendString(append(b, `,"message":`...), e.Message)
	if len(e.Data) > 0 && jx.Valid(e.Data) {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	if plainString(s) { // method names, and a Writer is an allocation
		b = append(append(b, '"'), s...)
		return append(b, '"')
	}
	w := jx.Writer{Buf: b}
	w.Str(s)
	return w.Buf
}

// plainString says that s stands in JSON as it is.
func plainString(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
