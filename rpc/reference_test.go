package rpc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// The reference of the fuzz targets: what a stream of bytes means, written from
// DESIGN section 6 over encoding/json, slowly and without a look at the code
// under test.

type kind int

const (
	blank        kind = iota // ignored
	notJSON                  // -32700, id null
	invalid                  // -32600, id the line's or null
	response                 // never answered
	request                  // answered once
	notification             // handled, not answered
	cancel                   // the peer's own
)

type meaning struct {
	kind   kind
	id     string // the raw token of what is answered
	method string
}

// meaningOf is the reference for one line.
func meaningOf(line []byte) meaning {
	if len(bytes.TrimSpace(line)) == 0 {
		return meaning{kind: blank}
	}
	if !utf8.Valid(line) || !json.Valid(line) {
		return meaning{kind: notJSON, id: "null"}
	}
	list, ok := members(line)
	if !ok {
		return meaning{kind: invalid, id: "null"}
	}
	m := map[string]string{}
	twice := map[string]bool{}
	for _, member := range list {
		switch name := member.name; name {
		case "jsonrpc", "id", "method", "params", "result", "error":
			if _, seen := m[name]; seen {
				twice[name] = true
			} else {
				m[name] = member.value
			}
		}
	}
	method, hasMethod := m["method"]
	id, hasID := m["id"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	if twice["id"] || (hasID && strings.ContainsAny(id[:1], "{[tf")) {
		id = "null"
		twice["id"] = true
	}
	if !hasID {
		id = "null"
	}
	var version, name string
	switch {
	case (!hasMethod || method == "null") && (hasResult || hasError):
		return meaning{kind: response, id: id}
	case len(twice) > 0, !hasMethod, hasResult, hasError,
		json.Unmarshal([]byte(m["jsonrpc"]), &version) != nil || version != "2.0",
		method == "null" || json.Unmarshal([]byte(method), &name) != nil:
		return meaning{kind: invalid, id: id}
	case hasID:
		return meaning{kind: request, id: id, method: name}
	case name == "$/cancel_request":
		return meaning{kind: cancel}
	}
	return meaning{kind: notification, method: name}
}

type member struct{ name, value string }

// members lists the members of an object in their order; value is raw JSON.
func members(raw []byte) (list []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		list = append(list, member{name.(string), string(bytes.TrimSpace(value))})
	}
	return list, true
}

// referenceLine is a line of a stream, or one that was too long for the limit.
type referenceLine struct {
	text    string
	tooLong bool
}

// linesOf is the reference for a stream that ends properly or fails.
func linesOf(stream []byte, limit int, failed bool) []referenceLine {
	var list []referenceLine
	parts := bytes.Split(stream, []byte("\n"))
	for i, part := range parts {
		if i == len(parts)-1 && (len(part) == 0 || failed) {
			break // nothing, or what was cut off
		}
		if len(part) > limit {
			list = append(list, referenceLine{tooLong: true})
			continue
		}
		if i == 0 {
			part = bytes.TrimPrefix(part, []byte("\xef\xbb\xbf"))
		}
		list = append(list, referenceLine{text: string(part)})
	}
	return list
}

// pieces reads data in pieces of sizes that follow from seed, and ends with
// err, beside the last piece or after it.
type pieces struct {
	data []byte
	seed uint32
	err  error
}

func (p *pieces) Read(b []byte) (int, error) {
	p.seed = p.seed*1664525 + 1013904223
	size := int(p.seed >> 24)
	if p.seed>>16&3 == 0 {
		size = 1
	}
	n := copy(b[:min(len(b), size)], p.data)
	p.data = p.data[n:]
	if len(p.data) == 0 && (n == 0 || p.seed>>20&1 == 0) {
		return n, p.err
	}
	return n, nil
}

var _ io.Reader = (*pieces)(nil)
