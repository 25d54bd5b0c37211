package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

type kind int

const (
	request kind = iota
	notification
	response
)

// msg is one message, read as far as its envelope. Members stay raw, so that absent, null and a value differ.
type msg struct {
	kind                  kind
	id                    string // the token as it is spelled: 1 and "1" differ
	method                string
	params, result, error json.RawMessage
	session               string // params.sessionId or result.sessionId
	updateKind            string // params.update.sessionUpdate
}

// parse reads a line; problems are what is wrong with its envelope. A message with problems is not looked at further.
func parse(l Line) (m msg, problems []string) {
	say := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	if l.Cut {
		say("the line does not end with a newline")
	}
	if l.Msg == nil {
		say("not JSON in UTF-8: %q", clip(string(l.Raw)))
		return m, problems
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(l.Msg, &members); err != nil || members == nil {
		say("not an object")
		return m, problems
	}
	if v := string(members["jsonrpc"]); v != `"2.0"` {
		say("jsonrpc is %s, not \"2.0\"", orAbsent(v))
	}
	m.id, m.params, m.result, m.error = string(members["id"]), members["params"], members["result"], members["error"]
	if m.id != "" && !validID(m.id) {
		say("id %s is neither a string nor an integer", m.id)
	}
	answers := 0
	for _, raw := range []json.RawMessage{m.result, m.error} {
		if raw != nil {
			answers++
		}
	}
	if raw, ok := members["method"]; ok {
		if json.Unmarshal(raw, &m.method) != nil || m.method == "" {
			say("method is %s, not a name", raw)
		}
		if answers > 0 {
			say("a method and an answer in one message")
		}
		if p := string(m.params); p != "" && p != "null" && p[0] != '{' {
			say("params is no object")
		}
		if m.kind = request; m.id == "" {
			m.kind = notification
		}
	} else {
		m.kind = response
		if m.id == "" {
			say("neither a method nor an id")
		}
		if answers != 1 {
			say("a response needs either a result or an error, this one has %s", map[int]string{0: "neither", 2: "both"}[answers])
		}
	}
	m.look()
	return m, problems
}

// look reads the few members that the rules of order need.
func (m *msg) look() {
	var body struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	from := m.params
	if m.kind == response {
		from = m.result
	}
	_ = json.Unmarshal(from, &body) // the schema tells what does not fit
	m.session = body.SessionID
	var update struct {
		Kind string `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(body.Update, &update)
	m.updateKind = update.Kind
}

// validID: null and fractions are allowed by JSON-RPC but should not be used, and nobody here has a reason to.
func validID(token string) bool {
	return token[0] == '"' || token != "null" && !strings.ContainsAny(token, ".eE{[tf")
}

func orAbsent(v string) string {
	if v == "" {
		return "absent"
	}
	return v
}

func clip(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
