package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Fault is one thing that is wrong with a recording.
type Fault struct {
	Line int // from 1; 0 for the recording as a whole
	From string
	Why  string
	Text string // the line
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.Why
	}
	return fmt.Sprintf("line %d, %s: %s\n\t%s", f.Line, f.From, f.Why, f.Text)
}

// turnContent are the updates that belong to a prompt turn (or to the replay of one).
var turnContent = []string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}

// Judge returns what is wrong with a recording, in order. Each line by itself:
//
//   - JSON in UTF-8 with a newline, an object, jsonrpc "2.0", and either a request, a notification or a response
//   - a method that its receiver handles; methods that begin with an underscore are anybody's
//   - params, result or error as the schema has them, a result by the method of its request
//
// And all together:
//
//   - every request is answered exactly once, and nothing else is
//   - initialize is the first message, and is sent once
//   - nothing about a session before the answer that makes it
//   - what belongs to a turn comes between its prompt and the answer; a call is announced before it is updated
//   - after session/cancel the prompt ends `cancelled`, and so do its open permission requests
func (s *Schema) Judge(r *Recording) []Fault {
	j := &judge{schema: s, pending: map[call]*asked{}, answered: map[call]bool{}, sessions: map[string]*session{}}
	for i, l := range r.Lines {
		j.line, j.at = l, i+1
		m, problems := parse(l)
		for _, p := range problems {
			j.fault("%s", p)
		}
		if len(problems) == 0 {
			j.message(&m)
		}
	}
	j.end()
	return j.faults
}

// call is a request: who asked, and its id.
type call struct{ from, id string }

type asked struct {
	at        int
	method    string
	session   string
	cancelled bool               // session/cancel came while it was open
	withdrawn bool               // $/cancel_request did
	result    *jsonschema.Schema // nil when the schema has no such request
}

type session struct {
	open    bool            // announced by an answer, or being loaded
	prompts int             // that run
	calls   map[string]bool // announced tool calls
}

type judge struct {
	schema *Schema
	faults []Fault
	line   Line
	at     int

	pending  map[call]*asked
	answered map[call]bool
	sessions map[string]*session
	inits    int
}

func (j *judge) fault(format string, a ...any) {
	text := cmp.Or(string(j.line.Msg), string(j.line.Raw))
	j.faults = append(j.faults, Fault{Line: j.at, From: j.line.From, Why: fmt.Sprintf(format, a...), Text: clip(text)})
}

func (j *judge) message(m *msg) {
	if j.at == 1 && m.method != "initialize" {
		j.fault("the first message is not initialize")
	}
	switch m.kind {
	case request:
		j.request(m)
	case notification:
		d, known := j.definitions(m)
		if known {
			j.params(m, d.notification != nil, d)
		}
		j.notified(m)
	case response:
		j.response(m)
	}
}

// definitions finds what the schema has for a method, and complains about one that the receiver does not handle.
func (j *judge) definitions(m *msg) (definitions, bool) {
	receiver := other(j.line.From)
	d, known, handler := j.schema.find(m.method, receiver)
	switch {
	case known, strings.HasPrefix(m.method, "_"):
	case handler != "":
		j.fault("%s is for the %s to receive", m.method, handler)
	default:
		j.fault("the schema has no method %q", m.method)
	}
	return d, known
}

func (j *judge) params(m *msg, fits bool, d definitions) {
	def, name := d.notification, "notification"
	if m.kind == request {
		def, name = d.request, "request"
	}
	if !fits {
		j.fault("%s is no %s", m.method, name)
		return
	}
	params := m.params
	if params == nil || string(params) == "null" {
		params = json.RawMessage("{}") // so that members which must be there are missed by name
	}
	for _, why := range check(def, params) {
		j.fault("params of %s %s", m.method, why)
	}
}

func (j *judge) request(m *msg) {
	d, known := j.definitions(m)
	if known {
		j.params(m, d.request != nil, d)
	}
	key := call{j.line.From, m.id}
	if j.pending[key] != nil {
		j.fault("id %s is that of a request which is not answered yet", m.id)
	}
	delete(j.answered, key) // used again
	a := &asked{at: j.at, method: m.method, session: m.session, result: d.response}
	j.pending[key] = a
	switch m.method {
	case "initialize":
		if j.inits++; j.inits > 1 {
			j.fault("a second initialize")
		}
	case "session/load", "session/resume":
		j.session(m.session).open = true
	case "session/prompt":
		j.session(m.session).prompts++
	case "session/request_permission":
		if j.session(m.session).prompts == 0 {
			j.fault("a permission request outside a turn")
		}
	}
}

func (j *judge) notified(m *msg) {
	switch m.method {
	case "session/update":
		j.update(m)
	case "session/cancel":
		for _, a := range j.pending {
			if a.session == m.session && (a.method == "session/prompt" || a.method == "session/request_permission") {
				a.cancelled = true
			}
		}
	case "$/cancel_request":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.params, &p)
		key := call{j.line.From, string(p.ID)}
		if a := j.pending[key]; a != nil {
			a.withdrawn = true
		} else if !j.answered[key] {
			j.fault("there was no request %s to cancel", key.id)
		}
	}
}

func (j *judge) update(m *msg) {
	s := j.session(m.session)
	if !s.open {
		j.fault("an update of session %q before the answer that makes it", m.session)
		return
	}
	if s.prompts == 0 && !j.loading(m.session) && slices.Contains(turnContent, m.updateKind) {
		j.fault("%s outside a turn: before the prompt, or after its answer", m.updateKind)
	}
	var p struct {
		Update struct {
			ID string `json:"toolCallId"`
		} `json:"update"`
	}
	_ = json.Unmarshal(m.params, &p)
	switch id := p.Update.ID; m.updateKind {
	case "tool_call":
		s.calls[id] = true
	case "tool_call_update":
		if !s.calls[id] {
			j.fault("tool call %q was not announced", id)
		}
	}
}

func (j *judge) loading(session string) bool {
	for _, a := range j.pending {
		if a.method == "session/load" && a.session == session {
			return true
		}
	}
	return false
}

func (j *judge) response(m *msg) {
	key := call{other(j.line.From), m.id}
	a := j.pending[key]
	if a == nil {
		if j.answered[key] {
			j.fault("request %s was answered before", m.id)
		} else {
			j.fault("there was no request %s to answer", m.id)
		}
		return
	}
	delete(j.pending, key)
	j.answered[key] = true
	if m.error != nil {
		for _, why := range check(j.schema.errorOf, m.error) {
			j.fault("error of %s %s", a.method, why)
		}
	} else if a.result != nil {
		for _, why := range check(a.result, m.result) {
			j.fault("result of %s %s", a.method, why)
		}
	}
	j.answer(m, a)
}

// answer does what follows from a request's answer.
func (j *judge) answer(m *msg, a *asked) {
	switch a.method {
	case "session/new":
		if m.error == nil {
			j.session(m.session).open = true
		}
	case "session/load", "session/resume":
		if m.error != nil {
			j.session(a.session).open = false
		}
	case "session/prompt":
		j.session(a.session).prompts--
		var p struct {
			StopReason string `json:"stopReason"`
		}
		_ = json.Unmarshal(m.result, &p)
		if a.cancelled && p.StopReason != "cancelled" {
			j.fault("the prompt was cancelled, so its stop reason is `cancelled`")
		}
	case "session/request_permission":
		var p struct {
			Outcome struct {
				Outcome string `json:"outcome"`
			} `json:"outcome"`
		}
		_ = json.Unmarshal(m.result, &p)
		if withdrawn := a.withdrawn && m.error != nil; a.cancelled && p.Outcome.Outcome != "cancelled" && !withdrawn {
			j.fault("the prompt was cancelled while this was asked, so the outcome is `cancelled`")
		}
	}
}

// end complains about what is missing when both have fallen silent.
func (j *judge) end() {
	var open []Fault
	for key, a := range j.pending {
		open = append(open, Fault{Why: fmt.Sprintf("request %s of the %s, %s on line %d, was never answered", key.id, key.from, a.method, a.at), Line: 0})
	}
	slices.SortFunc(open, func(a, b Fault) int { return strings.Compare(a.Why, b.Why) })
	j.faults = append(j.faults, open...)
	if j.inits == 0 {
		j.faults = append(j.faults, Fault{Why: "no initialize"})
	}
}

func (j *judge) session(id string) *session {
	s := j.sessions[id]
	if s == nil {
		s = &session{calls: map[string]bool{}}
		j.sessions[id] = s
	}
	return s
}

func other(side string) string {
	if side == Client {
		return Agent
	}
	return Client
}
