package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-faster/jx"
)

var errNotJSON = errors.New("not one JSON value")

// envelope is a line taken apart. Its members are raw JSON that aliases the
// line, nil where absent.
type envelope struct {
	version []byte
	id      []byte // a string, number or null; nil also if it is none of these or occurs twice
	method  []byte
	params  []byte
	result  []byte
	err     []byte

	fault string // why this is no message; "" if it is one
}

// parse reads one line. Its error means that the line is not JSON; JSON that is
// no message has a fault.
func parse(d *jx.Decoder, line []byte) (envelope, error) {
	var e envelope
	d.ResetBytes(line)
	if d.Next() != jx.Object {
		e.fault = "not an object"
		if err := d.Skip(); err != nil {
			return e, err
		}
		return e, atEnd(d)
	}
	it, err := d.ObjIter()
	if err != nil {
		return e, err
	}
	badID := false
	for it.Next() {
		member := e.member(it.Key())
		raw, err := d.Raw()
		switch {
		case err != nil:
			return e, err
		case member == nil:
		case *member == nil:
			*member = raw
		default:
			e.fault = "a member occurs twice"
			badID = badID || member == &e.id
		}
	}
	if err := it.Err(); err != nil {
		return e, err
	}
	if badID || (e.id != nil && !isID(e.id)) {
		e.id = nil
		e.fault = "the id must be one string, number or null"
	}
	if e.fault == "" {
		e.fault = e.check()
	}
	return e, atEnd(d)
}

// member returns where a member is kept; nil for those we do not know, which
// are ignored.
func (e *envelope) member(key []byte) *[]byte {
	switch string(key) {
	case "jsonrpc":
		return &e.version
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.err
	}
	return nil
}

// check returns what is wrong with a message whose members are each well formed.
func (e *envelope) check() string {
	switch {
	case !isVersion(e.version):
		return `jsonrpc must be "2.0"`
	case e.method == nil && e.result == nil && e.err == nil:
		return "no method and no result or error"
	case e.method != nil && e.method[0] != '"':
		return "the method must be a string"
	case e.method != nil && (e.result != nil || e.err != nil):
		return "a method beside a result or error"
	}
	return ""
}

// isResponse tells responses, also faulty ones, from all else. They are never
// answered: two peers could go on answering each other's answers for ever.
func (e *envelope) isResponse() bool {
	return (e.method == nil || isNull(e.method)) && (e.result != nil || e.err != nil)
}

// outcome is what a response means to the Call that waits for it. The result
// aliases the line.
func (e *envelope) outcome(method string) (result []byte, err error) {
	failed, succeeded := e.err != nil, e.result != nil
	if failed && succeeded { // some peers send both, one of them null
		failed, succeeded = !isNull(e.err), !isNull(e.result)
		if !failed && !succeeded {
			succeeded = true
		}
	}
	switch {
	case e.fault != "":
		return nil, fmt.Errorf("%s: malformed response: %s", clip(method), e.fault)
	case failed && succeeded:
		return nil, fmt.Errorf("%s: malformed response: both result and error", clip(method))
	case failed:
		return nil, responseError(method, e.err)
	default:
		return e.result, nil
	}
}

// responseError reads the error member of a response.
func responseError(method string, raw []byte) error {
	var e Error
	hasCode := false
	d := jx.DecodeBytes(raw)
	err := d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		switch string(key) {
		case "code":
			token, err := d.Raw()
			if err != nil {
				return err
			}
			e.Code, err = strconv.Atoi(string(token))
			hasCode = err == nil
			return err
		case "message":
			if d.Next() != jx.String { // an error without a proper text is still an error
				return d.Skip()
			}
			var err error
			e.Message, err = d.Str()
			return err
		case "data":
			data, err := d.Raw()
			e.Data = append(json.RawMessage(nil), data...)
			return err
		}
		return d.Skip()
	})
	if err != nil || !hasCode {
		return fmt.Errorf("%s: malformed error response: %s", clip(method), clip(raw))
	}
	return &e
}

// cancelID returns the raw id in the params of a $/cancel_request, nil if there
// is none.
func cancelID(params []byte) []byte {
	var id []byte
	d := jx.DecodeBytes(params)
	err := d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		if string(key) != "requestId" {
			return d.Skip()
		}
		raw, err := d.Raw()
		id = raw
		return err
	})
	if err != nil {
		return nil
	}
	return id
}

// text decodes a raw JSON string.
func text(raw []byte) (string, error) { return jx.DecodeBytes(raw).Str() }

// isVersion tells the one version, also when some encoder has escaped it.
func isVersion(raw []byte) bool {
	if string(raw) == `"2.0"` {
		return true
	}
	version, err := text(raw)
	return err == nil && version == "2.0"
}

func isID(raw []byte) bool {
	switch raw[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

func isNull(raw []byte) bool { return raw[0] == 'n' }

func atEnd(d *jx.Decoder) error {
	if d.Skip() != io.EOF {
		return errNotJSON
	}
	return nil
}
