package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBlocksReachTheModel: BL-089, BL-090, BL-091, BL-092. Of each block that is
// advertised, and of a link, the model gets what is in it; what it cannot use is
// named in its place; and a prompt of nothing else is refused at once.
func TestBlocksReachTheModel(t *testing.T) {
	const text, image = `{"type":"text","text":"MARK-TEXT"}`, `{"type":"image","mimeType":"image/png","data":"!!!not base64"}`
	const blob = `{"type":"resource","resource":{"uri":"file:///a.bin","blob":"AAAA"}}`
	for name, c := range map[string]struct {
		blocks string
		marks  []string // that the model gets
		code   string   // or the prompt is refused
	}{
		"text":               {text, []string{"MARK-TEXT"}, ""},
		"link beside text":   {text + `,{"type":"resource_link","name":"MARK-NAME","uri":"file:///MARK-URI"}`, []string{"MARK-TEXT", "MARK-NAME", "file:///MARK-URI"}, ""},
		"link alone":         {`{"type":"resource_link","name":"MARK-NAME","uri":"file:///MARK-URI"}`, []string{"MARK-NAME", "file:///MARK-URI"}, ""},
		"link without uri":   {text + `,{"type":"resource_link","name":"x"}`, nil, `"code":-32602`},
		"resource alone":     {`{"type":"resource","resource":{"uri":"file:///MARK-URI","text":"MARK-BODY"}}`, []string{"file:///MARK-URI", "MARK-BODY"}, ""},
		"blob beside text":   {text + "," + blob, []string{"MARK-TEXT", "binary resource"}, ""},
		"blob alone":         {blob, nil, `"code":-32602`},
		"image beside text":  {text + "," + image, []string{"MARK-TEXT", "image"}, ""},
		"image alone":        {image, nil, `"code":-32602`},
		"nothing":            {"", nil, `"code":-32602`},
		"unknown kind alone": {`{"type":"hologram","data":"x"}`, nil, `"code":-32602`},
	} {
		t.Run(name, func(t *testing.T) {
			o := startOnline(t, fine+fine, "")
			o.create()
			r := o.call("session/prompt", `"sessionId":"s1","prompt":[%s]`, c.blocks)
			if c.code != "" {
				if !strings.Contains(r, c.code) || len(o.server.Calls()) != 0 {
					t.Errorf("%s; %d model calls", r, len(o.server.Calls()))
				}
				o.want("s1", "and now", ended)
				return
			}
			if !strings.HasPrefix(r, ended) {
				t.Fatal(r)
			}
			for _, mark := range c.marks {
				if said := o.last().Content; !strings.Contains(said, mark) {
					t.Errorf("no %s in %q", mark, said)
				}
			}
		})
	}
}

// TestTokensOfTheTurn: BL-129, BL-130. A turn's tokens are the sum over its model
// calls, and nothing of the turn before; what fills the window is the last
// request's and no sum.
func TestTokensOfTheTurn(t *testing.T) {
	call := func(input, output int) string {
		return fmt.Sprintf(`{"tools":[{"name":"todo_write","args":{"todos":[]}}],"usage":{"input":%d,"output":%d,"cached":10,"reasoning":1}}`+"\n", input, output)
	}
	o := startOnline(t, call(1000, 10)+call(1100, 20)+`{"text":"a","usage":{"input":1200,"output":30}}`+"\n"+`{"text":"b","usage":{"input":1300,"output":5}}`+"\n"+fine, "")
	o.create()
	for i, want := range []struct {
		usage string
		used  int
	}{
		{`"usage":{"inputTokens":3300,"outputTokens":60,"totalTokens":3360,"cachedReadTokens":20,"thoughtTokens":2}`, 1230},
		{`"usage":{"inputTokens":1300,"outputTokens":5,"totalTokens":1305}`, 1305},
	} {
		if r := o.response(o.say("s1", "go")); !strings.Contains(r, want.usage) {
			t.Errorf("turn %d: %s", i+1, r)
		}
		if n := o.count(fmt.Sprintf(`{"sessionUpdate":"usage_update","used":%d,"size":64000}`, want.used)); n != 1 {
			t.Errorf("turn %d: %d updates say %d of 64000", i+1, n, want.used)
		}
	}
	// The third has no count: absent, and not zero.
	if r := o.response(o.say("s1", "go")); strings.Contains(r, "usage") {
		t.Error(r)
	}
}

// TestStablePrefix: what was once sent to the provider stays as it was, byte for
// byte, at the beginning of each later request: the instructions, the tools and
// their order, the messages. Tools, commands, options that do not matter and a
// second process change nothing in it.
func TestStablePrefix(t *testing.T) {
	o := startOnline(t, `{"think":"hm","text":"first <é>","tools":[{"name":"todo_write","args":{"todos":[{"content":"x","status":"pending"}]}}]}`+"\n"+fine+
		fmt.Sprintf(bashCall, "b", "f")+fine+fine+fine, "[permissions]\nallow = [\"Bash\"]\n")
	o.create()
	o.want("s1", "one", ended)
	o.want("s1", "/status", ended) // runs here
	o.call("session/set_config_option", `"sessionId":"s1","configId":"tool_approval","value":"danger-full-access"`)
	o.want("s1", "two", ended)
	o.again()
	o.call("session/load", `"sessionId":"s1","cwd":%q,"mcpServers":[]`, o.work)
	o.want("s1", "three", ended)
	o.again()
	o.call("session/resume", `"sessionId":"s1","cwd":%q,"mcpServers":[]`, o.work)
	o.want("s1", "four", ended)
	var before map[string]json.RawMessage
	for i, r := range o.server.Calls() {
		var body map[string]json.RawMessage
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		if before != nil {
			start := strings.TrimSuffix(string(before["messages"]), "]")
			if !strings.HasPrefix(string(body["messages"]), start+",") {
				t.Errorf("request %d does not go on from the one before:\n%s\n%s", i+1, start, body["messages"])
			}
			for _, member := range []string{"model", "tools"} {
				if string(body[member]) != string(before[member]) {
					t.Errorf("request %d has other %s", i+1, member)
				}
			}
		}
		before = body
	}
	if n := len(o.server.Calls()); n != 6 {
		t.Errorf("%d model calls", n)
	}
	o.chats()
}
