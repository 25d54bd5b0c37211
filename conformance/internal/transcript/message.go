package transcript

import (
	"bytes"
	"encoding/json"
	"reflect"
	"unicode/utf8"
)

// MessageKind says what a message of the agent is, from its envelope alone.
type MessageKind int

const (
	Other        MessageKind = iota // no ACP message (see Message.Fault), or an object that is neither call nor answer
	Request                         // method and id
	Notification                    // method without id
	Response                        // id and result or error
)

// Message is one line of the agent, read as far as the player needs it. It does not change once made.
type Message struct {
	Kind   MessageKind
	ID     string // the id's token as spelled, so 1 and "1" differ; "" when absent
	Method string
	Update string // of a session/update: its sessionUpdate
	Code   string // of an error response: the token of error.code
	Fault  string // why the line is no ACP message; such a line fails the play at its end

	line  string // the line as it crossed, without its newline
	root  value
	chunk *chunk
}

// ParseMessage reads one line of the agent. A fault that the reader of lines found comes in as fault, else it is empty.
// A line must be UTF-8, JSON, an object, and say jsonrpc "2.0"; anything else has a Fault. That the members of an
// envelope make sense together is not asked here: it is the transcript that shows it.
func ParseMessage(line []byte, fault string) *Message {
	m := &Message{Fault: fault, line: string(line)}
	if fault != "" {
		return m
	}
	if !utf8.Valid(line) {
		m.Fault = "not UTF-8"
		return m
	}
	root, err := parseValue(line)
	if err != nil {
		m.Fault = "not JSON: " + err.Error()
		return m
	}
	if root.kind != '{' {
		m.Fault = "not a JSON object"
		return m
	}
	if v, ok := root.get("jsonrpc").text(); !ok || v != "2.0" {
		m.Fault = `jsonrpc is not "2.0"`
		return m
	}
	m.root = root
	m.envelope()
	m.chunk = chunkOf(&m.root)
	return m
}

func (m *Message) envelope() {
	m.ID = m.root.get("id").token()
	if method, ok := m.root.get("method").text(); ok {
		m.Method = method
		m.Kind = Notification
		if m.root.get("id") != nil {
			m.Kind = Request
		}
		if method == "session/update" {
			m.Update, _ = m.root.get("params").get("update").get("sessionUpdate").text()
		}
		return
	}
	failure := m.root.get("error")
	m.Code = failure.get("code").token()
	if m.ID != "" && (failure != nil || m.root.get("result") != nil) {
		m.Kind = Response
	}
}

// MessageText returns the text that an agent_message_chunk carries, "" for any other message.
func (m *Message) MessageText() string {
	if m.Update != "agent_message_chunk" {
		return ""
	}
	s, _ := m.root.get("params").get("update").get("content").get("text").text()
	return s
}

// ParamsContain reports whether the params hold everything that the JSON want names: objects may hold more members,
// everything else must be equal. An empty want is always contained.
func (m *Message) ParamsContain(want string) bool {
	if want == "" {
		return true
	}
	params := m.root.get("params")
	if params == nil {
		return false
	}
	return contains(decode(params.String()), decode(want))
}

// String is the message as the wire had it, for error texts.
func (m *Message) String() string { return m.line }

// decode returns valid JSON as Go values, numbers as they are spelled.
func decode(src string) (v any) {
	dec := json.NewDecoder(bytes.NewReader([]byte(src)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		panic("transcript: JSON that was checked before: " + err.Error())
	}
	return v
}

func contains(got, want any) bool {
	wantObject, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(got, want)
	}
	gotObject, ok := got.(map[string]any)
	if !ok {
		return false
	}
	for name, w := range wantObject {
		g, ok := gotObject[name]
		if !ok || !contains(g, w) {
			return false
		}
	}
	return true
}
