package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/conformance/provider"
)

// TestCancelMoments: BL-033, BL-034, BL-037, BL-043, BL-044, BL-045. Whenever it
// comes, a cancel ends the prompt as cancelled and without a token count that says
// nothing, the provider's connection is closed, and the session takes the next one.
func TestCancelMoments(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		hangs  bool // the model does
		ready  func(o *online)
	}{
		"before the first byte": {`{"hang":true,"at":"connection"}`, true, nil},
		"before the first word": {`{"hang":true,"at":"head"}`, true, nil},
		"in a stalled text":     {`{"text":"some words","chunks":3,"hang":true}`, true, func(o *online) { o.await("text", has("some")) }},
		"under keep-alives":     {`{"think":"hm","hang":true,"keepAliveMs":1}`, true, func(o *online) { o.await("thought", has("hm")) }},
		"in a tool": {`{"tools":[{"id":"b","name":"bash","args":{"command":"sleep 60"}}]}`, false, func(o *online) {
			o.await("command", has(`"in_progress"`))
		}},
		"in a question": {`{"tools":[{"id":"b","name":"web_fetch","args":{"url":"https://example.com/"}}]}`, false, func(o *online) { o.asked(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			o := startOnline(t, c.script+"\n"+`{"text":"fine"}`, "")
			o.create()
			id := o.say("s1", "go")
			if c.hangs {
				o.hangs()
			}
			if c.ready != nil {
				c.ready(o)
			}
			o.send(cancel("s1"))
			if r := o.response(id); r != stopped {
				t.Errorf("%.300s", r)
			}
			if c.hangs {
				o.until("the connection closed", provider.StateGone)
			}
			o.want("s1", "again", ended)
			o.chats()
		})
	}
}

// has fits a message with the text in it.
func has(text string) func(map[string]json.RawMessage) bool {
	return func(m map[string]json.RawMessage) bool { return strings.Contains(string(m["params"]), text) }
}

// TestOneOutcome: BL-035. Each way to end has its own answer, also one after the
// other in one session.
func TestOneOutcome(t *testing.T) {
	o := startOnline(t, `{"text":"fine"}`+"\n"+`{"status":400,"body":"no"}`+"\n"+`{"text":"x","hang":true}`+"\n"+`{"text":"fine"}`, "")
	o.create()
	o.want("s1", "one", ended)
	o.want("s1", "two", `{"code":-32603`)
	id := o.say("s1", "three")
	o.hangs()
	o.send(cancel("s1"))
	if r := o.response(id); r != stopped {
		t.Error(r)
	}
	o.want("s1", "four", ended)
}

// TestCancelWithAQuestion: BL-036. A cancel with a question open, whose answer
// comes after it, harms neither this session nor another.
func TestCancelWithAQuestion(t *testing.T) {
	const fetch = `{"tools":[{"name":"web_fetch","args":{"url":"https://example.com/"}}]}`
	o := startOnline(t, fetch+"\n"+`{"text":"fine"}`+"\n"+`{"text":"fine"}`, "")
	o.create()
	o.create()
	id := o.say("s1", "go")
	question, _ := o.asked(1)
	o.send(cancel("s1"))
	o.answer(question, `{"outcome":{"outcome":"cancelled"}}`)
	if r := o.response(id); r != stopped {
		t.Error(r)
	}
	o.want("s1", "again", ended)
	o.want("s2", "here too", ended)
	o.chats()
}

// TestNewAndCancel: BL-038. A cancel right behind session/new does nothing, and
// the session is there.
func TestNewAndCancel(t *testing.T) {
	o := startOnline(t, `{"text":"fine"}`, "")
	o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", o.work) + cancel("s1"))
	if r := o.response(`"n"`); !strings.Contains(r, `"sessionId":"s1"`) {
		t.Fatal(r)
	}
	o.want("s1", "go", ended)
	if r := o.call("session/list", ""); strings.Count(r, `"sessionId"`) != 1 {
		t.Error(r)
	}
}

// TestBackgroundOutlivesTheTurn: BL-039, BL-022. What a turn leaves in the
// background goes on over the next prompts, and ends with its session.
func TestBackgroundOutlivesTheTurn(t *testing.T) {
	command := "echo $$ > pid; until [ -e go ]; do sleep 0.02; done; echo done"
	o := startOnline(t, fmt.Sprintf(`{"tools":[{"id":"b","name":"bash","args":{"command":%q,"run_in_background":true}}]}`, command)+"\n"+
		`{"text":"started"}`+"\n"+`{"text":"between"}`+"\n"+`{"tools":[{"id":"w","name":"wait","args":{"id":"bash_1"}}]}`+"\n"+`{"text":"end"}`, "[sandbox]\nbash = \"off\"\n[permissions]\nallow = [\"Bash\"]\n")
	o.create()
	o.want("s1", "start", ended)
	o.want("s1", "in between", ended)
	if err := os.WriteFile(filepath.Join(o.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.want("s1", "wait for it", ended)
	if said := o.last().Content; !strings.Contains(said, "exit code 0") || !strings.Contains(said, "done") {
		t.Errorf("the command that runs in the background: %q", said)
	}
}

// TestCloseEndsTheWork: BL-042. Closing a session in the middle of a turn answers
// the prompt, ends the model call and runs no further tool.
func TestCloseEndsTheWork(t *testing.T) {
	o := startOnline(t, `{"text":"x","tools":[{"name":"write_file","args":{"path":"late","content":"x"}}],"hang":true}`, "")
	o.create()
	id := o.say("s1", "go")
	o.hangs()
	if r := o.call("session/close", `"sessionId":"s1"`); r != "{}" {
		t.Error(r)
	}
	if r := o.response(id); r != stopped {
		t.Error(r)
	}
	o.until("the connection closed", provider.StateGone)
	o.server.Release()
	o.end()
	if _, err := os.Stat(filepath.Join(o.work, "late")); err == nil || len(o.server.Calls()) != 1 {
		t.Errorf("after the close: %v, %d model calls", err, len(o.server.Calls()))
	}
}
