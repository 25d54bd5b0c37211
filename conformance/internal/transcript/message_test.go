package transcript

import (
	"strings"
	"testing"
)

func TestParseMessage(t *testing.T) {
	for _, c := range []struct {
		line string
		want Message
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a"}`, Message{Kind: Request, ID: "1", Method: "a"}},
		{`{"jsonrpc":"2.0","id":null,"method":"a"}`, Message{Kind: Request, ID: "null", Method: "a"}},
		{`{"jsonrpc":"2.0","method":"a"}`, Message{Kind: Notification, Method: "a"}},
		{`{"jsonrpc":"2.0","Method":"a"}`, Message{}},
		{`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}` + "\r", Message{Kind: Notification, Method: "session/update", Update: "plan"}},
		{`{"jsonrpc":"2.0","method":"session/update","params":[]}`, Message{Kind: Notification, Method: "session/update"}},
		{`{"jsonrpc":"2.0","id":"1","result":null}`, Message{Kind: Response, ID: `"1"`}},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, Message{Kind: Response, ID: "null", Code: "-32700"}},
		{`{"jsonrpc":"2.0","error":{"code":-32700}}`, Message{Code: "-32700"}},
		{`{"jsonrpc":"2.0","id":1,"error":null}`, Message{Kind: Response, ID: "1"}},
		{`{"jsonrpc":"2.0"}`, Message{}},
		{`{"id":1,"result":null}`, Message{Fault: `jsonrpc is not "2.0"`}},
		{`{"jsonrpc":2.0,"id":1,"result":null}`, Message{Fault: `jsonrpc is not "2.0"`}},
		{`[{"jsonrpc":"2.0"}]`, Message{Fault: "not a JSON object"}},
		{`Welcome!`, Message{Fault: "not JSON: invalid character 'W' looking for beginning of value"}},
		{`{} {}`, Message{Fault: "not JSON: invalid character '{' after top-level value"}},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}", Message{Fault: "not UTF-8"}},
	} {
		got := ParseMessage([]byte(c.line), "")
		if got.Kind != c.want.Kind || got.ID != c.want.ID || got.Method != c.want.Method || got.Update != c.want.Update ||
			got.Code != c.want.Code || got.Fault != c.want.Fault {
			t.Errorf("%s\n got %+v\nwant %+v", c.line, *got, c.want)
		}
	}
	if m := ParseMessage([]byte(`{"jsonrpc":"2.0"}`), "too long"); m.Fault != "too long" || m.String() != `{"jsonrpc":"2.0"}` {
		t.Errorf("a fault of the reader: %+v", m)
	}
}

func TestParamsContain(t *testing.T) {
	m := ParseMessage([]byte(`{"jsonrpc":"2.0","method":"x","params":{"a":{"b":1.0,"c":[1,{"d":2}]},"e":null}}`), "")
	for want, holds := range map[string]bool{
		"": true, `{}`: true, `{"a":{}}`: true, `{"a":{"b":1.0}}`: true, `{"a":{"c":[1,{"d":2}]},"e":null}`: true,
		`{"a":{"b":1}}`: false, `{"a":{"c":[1]}}`: false, `{"a":{"c":[1,{}]}}`: false, `{"f":null}`: false, `[]`: false, `{"e":{}}`: false,
	} {
		if m.ParamsContain(want) != holds {
			t.Errorf("contains %s: %v", want, !holds)
		}
	}
	if m := ParseMessage([]byte(`{"jsonrpc":"2.0","method":"x"}`), ""); m.ParamsContain("{}") {
		t.Error("absent params contain something")
	}
}

func TestMessageText(t *testing.T) {
	const format = `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"KIND","content":{"type":"text","text":"\u00e9"},"_meta":{}}}}`
	for kind, want := range map[string]string{"agent_message_chunk": "é", "agent_thought_chunk": "", "plan": ""} {
		if got := ParseMessage([]byte(strings.Replace(format, "KIND", kind, 1)), "").MessageText(); got != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
