//go:build interop

package interop

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/interop/internal/wire"
)

// mutation is one thing done to a good recording, and the faults that must be found then: each has these words, in order.
type mutation struct {
	name string
	do   func(*traffic)
	want []string
}

// traffic is a recording that can be changed line by line.
type traffic struct {
	t     *testing.T
	lines []wire.Line
}

// find returns the index of the first line that has text in it.
func (r *traffic) find(text string) int {
	r.t.Helper()
	i := slices.IndexFunc(r.lines, func(l wire.Line) bool { return strings.Contains(string(l.Msg), text) })
	if i < 0 {
		r.t.Fatalf("no line has %s", text)
	}
	return i
}

func (r *traffic) last(text string) int {
	r.t.Helper()
	for i, l := range slices.Backward(r.lines) {
		if strings.Contains(string(l.Msg), text) {
			return i
		}
	}
	r.t.Fatalf("no line has %s", text)
	return 0
}

func (r *traffic) replace(from, to string) {
	r.t.Helper()
	l := &r.lines[r.find(from)]
	l.Msg = json.RawMessage(strings.Replace(string(l.Msg), from, to, 1))
}

func (r *traffic) insert(at int, from, msg string) {
	r.lines = slices.Insert(r.lines, at, wire.Line{From: from, Msg: json.RawMessage(msg)})
}

func (r *traffic) remove(i int) { r.lines = slices.Delete(r.lines, i, i+1) }

func (r *traffic) move(from, to int) {
	l := r.lines[from]
	r.remove(from)
	r.lines = slices.Insert(r.lines, to, l)
}

const (
	newAnswer    = `"result":{"sessionId"`
	promptAnswer = `"stopReason"`
	question     = `"method":"session/request_permission"`
)

// mutations are of the recording of TestJudge.
var mutations = []mutation{
	{"nothing", func(*traffic) {}, nil},

	// One line, by its envelope.
	{"jsonrpc 1.0", func(r *traffic) {
		r.replace(`"jsonrpc":"2.0","method":"session/update"`, `"jsonrpc":"1.0","method":"session/update"`)
	}, []string{`jsonrpc is "1.0"`}},
	{"jsonrpc absent", func(r *traffic) { r.replace(`"jsonrpc":"2.0","method":"session/update"`, `"method":"session/update"`) }, []string{"jsonrpc is absent"}},
	{"a log line", func(r *traffic) {
		r.lines = slices.Insert(r.lines, 1, wire.Line{From: wire.Agent, Raw: []byte("starting …")})
	}, []string{"not JSON"}},
	{"a blank line", func(r *traffic) { r.lines = slices.Insert(r.lines, 1, wire.Line{From: wire.Agent}) }, []string{"not JSON"}},
	{"an array", func(r *traffic) { r.insert(1, wire.Agent, "[]") }, []string{"not an object"}},
	{"no newline at the end", func(r *traffic) { r.lines[len(r.lines)-1].Cut = true }, []string{"newline", "never answered"}},
	{"a fraction as id", func(r *traffic) {
		r.insert(r.find(promptAnswer), wire.Client, `{"jsonrpc":"2.0","id":1.5,"method":"_x"}`)
	}, []string{"id 1.5"}},
	{"an answer of two kinds", func(r *traffic) {
		r.replace(`"result":{"stopReason"`, `"error":{"code":1,"message":"x"},"result":{"stopReason"`)
	}, []string{"both", "never answered"}},
	{"params that are a list", func(r *traffic) { r.insert(1, wire.Agent, `{"jsonrpc":"2.0","method":"_x","params":[]}`) }, []string{"params is no object"}},

	// One line, by the schema.
	{"a stop reason that is none", func(r *traffic) { r.replace(`"end_turn"`, `"error"`) }, []string{"session/prompt at /stopReason: value must be one of 'end_turn'"}},
	{"no stop reason", func(r *traffic) { r.replace(`"stopReason"`, `"stop"`) }, []string{"session/prompt at /: missing property 'stopReason'"}},
	{"no cwd", func(r *traffic) { r.replace(`"cwd"`, `"cwD"`) }, []string{"session/new at /: missing property 'cwd'"}},
	{"no params", func(r *traffic) {
		r.insert(r.find(promptAnswer), wire.Client, `{"jsonrpc":"2.0","method":"session/cancel"}`)
	}, []string{"missing property 'sessionId'"}},
	{"a version that is text", func(r *traffic) { r.replace(`"result":{"protocolVersion":1`, `"result":{"protocolVersion":"1"`) }, []string{"initialize at /protocolVersion: got string"}},
	{"text without text", func(r *traffic) { r.replace(`"type":"text","text":"The user`, `"type":"text","texts":"The user`) }, []string{"session/update at /update/content: missing property 'text'"}},
	{"an update of no kind", func(r *traffic) { r.replace(`"sessionUpdate":"plan"`, `"sessionUpdate":"plans"`) }, []string{"session/update at /update/sessionUpdate: value must be one of"}},
	{"an option of no kind", func(r *traffic) { r.replace(`"kind":"allow_once"`, `"kind":"allow"`) }, []string{"session/request_permission at /options/0/kind: value must be one of"}},
	{"a list where a map is", func(r *traffic) { r.replace(`"type":"terminal"`, `"type":"terminal","env":[]`) }, []string{"initialize at /authMethods/0/env: got array, want object"}},
	{"a diff without its text", func(r *traffic) { r.replace(`"newText"`, `"new"`) }, []string{"session/update at /update/content/0: missing property 'newText'"}},
	{"an error without a code", func(r *traffic) { r.replace(`"result":{"stopReason":"end_turn"`, `"error":{"message":"x"`) }, []string{"error of session/prompt at /: missing property 'code'"}},
	{"an outcome of no kind", func(r *traffic) { r.replace(`"outcome":"selected"`, `"outcome":"chosen"`) }, []string{"session/request_permission at /outcome/outcome: value must be one of"}},
	{"an outcome without its option", func(r *traffic) { r.replace(`"optionId":"allow_once"}`, `"option":"allow_once"}`) }, []string{"session/request_permission at /outcome: missing property 'optionId'"}},

	// Methods.
	{"a method of ours", func(r *traffic) {
		at := r.find(promptAnswer)
		r.insert(at, wire.Agent, `{"jsonrpc":"2.0","method":"_any.one/event","params":{}}`)
		r.insert(at, wire.Agent, `{"jsonrpc":"2.0","id":"q","result":{"any":"thing"}}`)
		r.insert(at, wire.Client, `{"jsonrpc":"2.0","id":"q","method":"_any.one/question"}`)
	}, nil},
	{"a method of nobody", func(r *traffic) { r.insert(1, wire.Agent, `{"jsonrpc":"2.0","method":"any/event"}`) }, []string{`no method "any/event"`}},
	{"a method of the other side", func(r *traffic) {
		r.insert(1, wire.Agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	}, []string{"session/cancel is for the agent to receive"}},
	{"a request that is a notification", func(r *traffic) {
		r.insert(r.find(promptAnswer), wire.Agent, `{"jsonrpc":"2.0","method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`)
	}, []string{"fs/read_text_file is no notification"}},
	{"a notification that is a request", func(r *traffic) {
		at := r.find(promptAnswer)
		r.insert(at, wire.Agent, `{"jsonrpc":"2.0","id":"c","result":{}}`)
		r.insert(at, wire.Client, `{"jsonrpc":"2.0","id":"c","method":"session/cancel","params":{"sessionId":"s"}}`)
	}, []string{"session/cancel is no request"}},

	// Requests and answers.
	{"an answer too few", func(r *traffic) { r.remove(r.find(promptAnswer)) }, []string{"session/prompt on line "}},
	{"an answer too many", func(r *traffic) { r.insert(len(r.lines), wire.Agent, string(r.lines[r.find(promptAnswer)].Msg)) }, []string{"answered before"}},
	{"an answer to nothing", func(r *traffic) { r.insert(1, wire.Agent, `{"jsonrpc":"2.0","id":"0","result":{}}`) }, []string{`no request "0"`}},
	{"an id twice at a time", func(r *traffic) { r.insert(1, wire.Client, string(r.lines[0].Msg)) }, []string{"not answered yet", "second initialize"}},
	{"no initialize", func(r *traffic) { r.remove(0); r.remove(0) }, []string{"the first message is not initialize", "no initialize"}},
	{"initialize late", func(r *traffic) { r.move(0, 2); r.move(0, 2) }, []string{"the first message is not initialize"}},
	{"a cancellation of nothing", func(r *traffic) {
		r.insert(1, wire.Agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`)
	}, []string{"no request 7 to cancel"}},

	// Order.
	{"an update before its session", func(r *traffic) { r.move(r.find(`"agent_thought_chunk"`), r.find(newAnswer)) }, []string{"before the answer that makes it"}},
	{"commands before their session", func(r *traffic) {
		line := strings.Replace(string(r.lines[r.find(`"sessionUpdate":"plan"`)].Msg), `"sessionUpdate":"plan"`, `"sessionUpdate":"available_commands_update","availableCommands":[]`, 1)
		r.insert(r.find(newAnswer), wire.Agent, line)
	}, []string{"before the answer that makes it"}},
	{"text after the answer", func(r *traffic) { r.move(r.last(`"agent_message_chunk"`), len(r.lines)-1) }, []string{"agent_message_chunk outside a turn"}},
	{"text before the prompt", func(r *traffic) { r.move(r.find(`"agent_message_chunk"`), r.find(`"session/prompt"`)) }, []string{"agent_message_chunk outside a turn"}},
	{"a call that is not announced", func(r *traffic) { r.remove(r.find(`"name":"write_file"`)) }, []string{"was not announced", "was not announced"}},
	{"a cancelled question that is answered", func(r *traffic) {
		session := r.lines[r.find(newAnswer)].Msg
		_, id, _ := strings.Cut(string(session), `"sessionId":"`)
		id, _, _ = strings.Cut(id, `"`)
		r.insert(r.find(question)+1, wire.Client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"`+id+`"}}`)
	}, []string{"the outcome is `cancelled`", "its stop reason is `cancelled`"}},
}

// TestJudge: what judges the traffic finds nothing in a good recording, and finds each thing that is done to it, and no more.
func TestJudge(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.typeScriptHost(t, "allow")
	good := p.judged(t)[0]
	schema, err := publishedSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			r := &traffic{t, slices.Clone(good.Lines)}
			m.do(r)
			faults := schema.Judge(&wire.Recording{File: m.name, Lines: r.lines})
			ok := len(faults) == len(m.want)
			for i := 0; ok && i < len(m.want); i++ {
				ok = strings.Contains(faults[i].Why, m.want[i])
			}
			if !ok {
				var found []string
				for _, f := range faults {
					found = append(found, f.String())
				}
				t.Errorf("want %d faults: %q\nfound %d:\n%s", len(m.want), m.want, len(found), strings.Join(found, "\n"))
			}
		})
	}
}
