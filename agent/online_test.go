package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/conformance/provider"
)

// testKey is the provider's key in these tests.
const testKey = "sk-test-4f1c9a7e2b8d4c6fa0e1"

// online is a peer whose agent asks a model server.
type online struct {
	*peer
	t      *testing.T
	home   string
	server *provider.Server
	ids    int
}

// startOnline serves an agent on a home of its own, whose model server plays the
// script. settings go behind the provider in its configuration.
func startOnline(t *testing.T, script, settings string) *online {
	t.Helper()
	server, err := provider.Start(provider.Config{Script: []byte(script)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	o := &online{t: t, home: t.TempDir(), server: server}
	config := fmt.Sprintf("[[providers]]\nname = \"net\"\nkind = \"openai\"\nbase_url = %q\napi_key_env = \"TEST_KEY\"\nmodels = [\"m\"]\ncontext_window = 64000\n%s", server.URL()+"/v1", settings)
	if err := os.WriteFile(filepath.Join(o.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o.again()
	return o
}

// again serves another agent on the same home, after the one before has ended.
func (o *online) again() {
	o.t.Helper()
	work := ""
	if o.peer != nil {
		o.peer.end()
		work = o.work
	}
	o.peer = serve(o.t, agent.Config{Home: o.home, Model: "net/m", Getenv: func(name string) string {
		switch name {
		case "TEST_KEY":
			return testKey
		case "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "HTTP_HEADERS":
			return "from-the-environment"
		}
		return ""
	}})
	if work != "" {
		o.work = work
	}
}

// request sends a request and returns its id.
func (o *online) request(method, params string, a ...any) (id string) {
	o.t.Helper()
	o.ids++
	id = fmt.Sprintf(`"r%d"`, o.ids)
	o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`+"\n", id, method, fmt.Sprintf(params, a...)))
	return id
}

// call is request with its answer.
func (o *online) call(method, params string, a ...any) (answer string) {
	o.t.Helper()
	return o.response(o.request(method, params, a...))
}

func (o *online) create() {
	o.t.Helper()
	o.newSession(fmt.Sprintf(`"new%d"`, o.count(`"sessionId"`)))
}

func (o *online) say(session, text string) (id string) {
	o.t.Helper()
	return o.request("session/prompt", `"sessionId":%q,"prompt":[{"type":"text","text":%q}]`, session, text)
}

// want runs a turn and compares the beginning of its answer.
func (o *online) want(session, text, answer string) {
	o.t.Helper()
	if r := o.response(o.say(session, text)); !strings.HasPrefix(r, answer) {
		o.t.Errorf("prompt %q: %.500s, want %s", text, r, answer)
	}
}

const ended, stopped = `{"stopReason":"end_turn"`, `{"stopReason":"cancelled"}`

// hangs waits until a model call hangs.
func (o *online) hangs() {
	o.t.Helper()
	o.until("a model call that hangs", provider.StateHanging)
}

// until waits until the last model call is in the state.
func (o *online) until(what string, state provider.State) {
	o.t.Helper()
	if _, err := o.server.Wait(o.t.Context(), func(list []provider.Request) bool {
		return len(list) > 0 && list[len(list)-1].State == state
	}); err != nil {
		o.t.Fatalf("%s: %v", what, err)
	}
}

// count is how many messages have the text in them.
func (p *peer) count(text string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.lines {
		if strings.Contains(string(m["params"])+string(m["result"]), text) {
			n++
		}
	}
	return n
}

// asked waits for the n-th permission request and returns its id.
func (p *peer) asked(n int) (id, params string) {
	p.t.Helper()
	seen := 0
	m := p.await(fmt.Sprintf("permission request %d", n), func(m map[string]json.RawMessage) bool {
		if string(m["method"]) == `"session/request_permission"` {
			seen++
		}
		return seen == n
	})
	return string(m["id"]), string(m["params"])
}

func (p *peer) answer(id, result string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result))
}

// statuses are those of a tool call, in order.
func (p *peer) statuses(call string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, m := range p.lines {
		var params struct {
			Update struct{ ToolCallID, Status string }
		}
		if json.Unmarshal(m["params"], &params) == nil && params.Update.ToolCallID == call && params.Update.Status != "" {
			list = append(list, params.Update.Status)
		}
	}
	return strings.Join(list, " ")
}

// chat is what a request to the model server holds.
type chat struct {
	Messages []chatMessage
	Tools    json.RawMessage
}

type chatMessage struct {
	Role, Content string
	ToolCalls     []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// chats are the requests so far. It fails the test when a provider would refuse
// one: each call has one result, right behind its message, and arguments that
// are an object.
func (o *online) chats() (list []chat) {
	o.t.Helper()
	for _, r := range o.server.Calls() {
		var c chat
		if err := json.Unmarshal(r.Body, &c); err != nil {
			o.t.Fatalf("request %d: %v", r.Number, err)
		}
		list = append(list, c)
		open := map[string]bool{}
		for i, m := range c.Messages {
			if m.Role == "tool" {
				if !open[m.ToolCallID] {
					o.t.Errorf("request %d, message %d: a result for %q, which is not open", r.Number, i, m.ToolCallID)
				}
				delete(open, m.ToolCallID)
				continue
			}
			if len(open) > 0 {
				o.t.Errorf("request %d, message %d: calls without a result: %v", r.Number, i, open)
			}
			for _, call := range m.ToolCalls {
				var args map[string]json.RawMessage
				if json.Unmarshal([]byte(call.Function.Arguments), &args) != nil || open[call.ID] || call.ID == "" {
					o.t.Errorf("request %d, message %d: call %q has the arguments %s", r.Number, i, call.ID, call.Function.Arguments)
				}
				open[call.ID] = true
			}
		}
		if len(open) > 0 {
			o.t.Errorf("request %d: calls without a result at the end: %v", r.Number, open)
		}
	}
	return list
}

// last is the last message of the last request.
func (o *online) last() chatMessage {
	o.t.Helper()
	list := o.chats()
	if len(list) == 0 {
		o.t.Fatal("no model call")
	}
	m := list[len(list)-1].Messages
	return m[len(m)-1]
}
