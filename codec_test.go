package acpkit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/generated/acp"
)

type codec interface {
	json.Unmarshaler
	json.Marshaler
	AppendJSON(b []byte) []byte
}

// TestRoundTrip: what is read is written again, member for member.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name, in string
		into     codec
		out      string // "" when equal to in
	}{
		{"chunk", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hé\n"}}}`, new(acp.SessionNotification), ""},
		{"tag last", `{"sessionId":"s","update":{"content":{"text":"x","type":"text"},"sessionUpdate":"agent_message_chunk"}}`, new(acp.SessionNotification),
			`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}`},
		{"unknown update kept", `{"sessionId":"s","update":{"sessionUpdate":"tomorrow","n":[1, 2]}}`, new(acp.SessionNotification), ""},
		{"raw values", `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","rawInput":{"a":[1,{"b":null}]},"rawOutput":0}}`, new(acp.SessionNotification), ""},
		{"diff of a new file", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a","newText":"x"}]}}`, new(acp.SessionNotification), ""},
		{"markers", `{"list":{},"delete":{}}`, new(acp.SessionCapabilities), ""},
		{"required list is never null", `{"entries":[]}`, new(acp.Plan), ""},
		{"absent, null and value are three", `{"title":null,"updatedAt":"2026-01-01T00:00:00Z"}`, new(acp.SessionInfoUpdate), ""},
		{"stdio has no tag", `{"type":"stdio","name":"n","command":"c","args":[],"env":[]}`, new(mcpServer), `{"name":"n","command":"c","args":[],"env":[]}`},
		{"http", `{"type":"http","name":"n","url":"u","headers":[{"name":"a","value":"b"}]}`, new(mcpServer), ""},
		{"terminal method", `{"type":"terminal","id":"i","name":"n","args":["setup"],"env":{"B":"1","A":"2"}}`, new(authMethod), `{"type":"terminal","id":"i","name":"n","args":["setup"],"env":{"A":"2","B":"1"}}`},
		{"boolean option", `{"sessionId":"s","configId":"c","type":"boolean","value":true}`, new(acp.SetSessionConfigOptionRequest), ""},
		{"choice option", `{"sessionId":"s","configId":"c","value":"high"}`, new(acp.SetSessionConfigOptionRequest), ""},
		{"grouped options", `{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]}`, new(acp.SessionConfigOption), ""},
		{"form in a session", `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["z"]},"sessionId":"s"}`, new(acp.CreateElicitationRequest), ""},
		{"unknown elicitation mode", `{"message":"m","mode":"voice","sessionId":"s","gain":3}`, new(acp.CreateElicitationRequest), ""},
		{"elicitation content", `{"action":"accept","content":{"s":"x","i":1,"f":1.5,"b":true,"l":["a"]}}`, new(acp.CreateElicitationResponse), ""},
		{"elicitation declined", `{"action":"decline"}`, new(acp.CreateElicitationResponse), ""},
		{"request id kinds", `{"requestId":"1"}`, new(acp.CancelRequestNotification), ""},
		{"request id number", `{"requestId":-7}`, new(acp.CancelRequestNotification), ""},
		{"request id null", `{"requestId":null}`, new(acp.CancelRequestNotification), ""},
		{"1.0 is an integer", `{"protocolVersion":1.0}`, new(acp.InitializeRequest), `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false}}}`},
		{"bad capabilities are none", `{"protocolVersion":1,"clientCapabilities":{"terminal":"yes","fs":null,"elicitation":{"form":{}}},"clientInfo":5}`, new(acp.InitializeRequest),
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false},"elicitation":{"form":{}}}}`},
		{"bad items are dropped", `{"entries":[{"content":"a","priority":"low","status":"pending"},{"content":"b"},7]}`, new(acp.Plan), `{"entries":[{"content":"a","priority":"low","status":"pending"}]}`},
		{"null for an empty list", `{"cwd":"/","mcpServers":null}`, new(acp.NewSessionRequest), `{"cwd":"/","mcpServers":[]}`},
		{"unknown members are let be", `{"cwd":"/","mcpServers":[],"xFuture":{"a":1}}`, new(acp.NewSessionRequest), `{"cwd":"/","mcpServers":[]}`},
		{"open enum", `{"severity":"fatal","title":"t"}`, new(acp.Notice), ""},
		{"error", `{"code":-32602,"message":"m","data":{"pointer":"/cwd"}}`, new(acp.Error), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(c.in), c.into); err != nil {
				t.Fatal(err)
			}
			want := c.out
			if want == "" {
				want = c.in
			}
			if diff := cmp.Diff(want, string(c.into.AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
			m, err := json.Marshal(c.into)
			var compact strings.Builder
			_ = json.NewEncoder(&compact).Encode(json.RawMessage(want))
			if err != nil || string(m)+"\n" != compact.String() {
				t.Errorf("json.Marshal gives %s, %v", m, err)
			}
		})
	}
}

// The unions have no type of their own to hang methods on.
type mcpServer struct{ v acp.MCPServer }

func (m *mcpServer) UnmarshalJSON(b []byte) (err error) { m.v, err = acp.DecodeMCPServer(b); return }
func (m *mcpServer) MarshalJSON() ([]byte, error)       { return m.AppendJSON(nil), nil }
func (m *mcpServer) AppendJSON(b []byte) []byte         { return acp.AppendMCPServer(b, m.v) }

type authMethod struct{ v acp.AuthMethod }

func (m *authMethod) UnmarshalJSON(b []byte) (err error) { m.v, err = acp.DecodeAuthMethod(b); return }
func (m *authMethod) MarshalJSON() ([]byte, error)       { return m.AppendJSON(nil), nil }
func (m *authMethod) AppendJSON(b []byte) []byte         { return acp.AppendAuthMethod(b, m.v) }

// TestRefused: what does not fit is an error with the pointer of the member.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, in string
		into     codec
		pointer  string
		msg      string
	}{
		{"missing", `{"mcpServers":[]}`, new(acp.NewSessionRequest), "/cwd", "missing required member"},
		{"null", `{"cwd":null,"mcpServers":[]}`, new(acp.NewSessionRequest), "/cwd", "expected a string, got null"},
		{"wrong type", `{"cwd":5,"mcpServers":[]}`, new(acp.NewSessionRequest), "/cwd", "expected a string, got number"},
		{"array", `[]`, new(acp.NewSessionRequest), "", "expected an object, got array"},
		{"key case", `{"CWD":"/","mcpServers":[]}`, new(acp.NewSessionRequest), "/cwd", "missing required member"},
		{"twice", `{"cwd":"/","cwd":"/","mcpServers":[]}`, new(acp.NewSessionRequest), "/cwd", `member "cwd" stands twice`},
		{"tag twice", `{"sessionId":"s","prompt":[{"type":"text","type":"image","text":"x"}]}`, new(acp.PromptRequest), "/prompt/0/type", `member "type" stands twice`},
		{"no tag", `{"sessionId":"s","prompt":[{"text":"x"}]}`, new(acp.PromptRequest), "/prompt/0/type", "missing required member"},
		{"known tag, bad members", `{"sessionId":"s","prompt":[{"type":"text"}]}`, new(acp.PromptRequest), "/prompt/0/text", "missing required member"},
		{"http server is not stdio", `{"cwd":"/","mcpServers":[{"type":"http","name":"n"}]}`, new(acp.NewSessionRequest), "/mcpServers/0/url", "missing required member"},
		{"range", `{"protocolVersion":70000}`, new(acp.InitializeRequest), "/protocolVersion", "integer out of range"},
		{"negative", `{"protocolVersion":-1}`, new(acp.InitializeRequest), "/protocolVersion", "integer out of range"},
		{"fraction", `{"protocolVersion":1.5}`, new(acp.InitializeRequest), "/protocolVersion", "expected an integer, got 1.5"},
		{"closed enum", `{"stopReason":"error"}`, new(acp.PromptResponse), "/stopReason", "error is not one of the values allowed here"},
		{"empty title", `{"severity":"info","title":""}`, new(acp.Notice), "/title", "shorter than 1 characters"},
		{"no variant", `{"resource":{"uri":"u"}}`, new(acp.EmbeddedResource), "/resource", "object does not fit any variant of EmbeddedResourceResource"},
		{"pointer escapes", `{"type":"terminal","id":"i","name":"n","env":{"a/b~c":1}}`, new(authMethod), "/env/a~1b~0c", "expected a string, got number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.into.UnmarshalJSON([]byte(c.in))
			var de *acp.DecodeError
			if !errors.As(err, &de) {
				t.Fatalf("got %v, want a DecodeError", err)
			}
			if diff := cmp.Diff(acp.DecodeError{Pointer: c.pointer, Msg: c.msg}, *de); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, bad := range []string{``, `{`, `{"code":1,"message":"m"} {}`, `{"code":1 "message":"m"}`, strings.Repeat("[", 20000)} {
		if err := new(acp.Error).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%.20q decodes", bad)
		}
	}
}

// TestEncodeIsAlwaysOneValidLine: whatever stands in the members.
func TestEncodeIsAlwaysOneValidLine(t *testing.T) {
	for _, v := range []codec{
		&acp.TextContent{Text: "a\xffb\x00\u2028\n"},
		&acp.ToolCall{RawInput: json.RawMessage("{\n  \"a\": 1\n}"), RawOutput: json.RawMessage(`{"cut`)},
		&acp.SessionNotification{},
		&acp.ToolCall{Content: []acp.ToolCallContent{nil}},
		&acp.Cost{Amount: 1e300},
	} {
		b := v.AppendJSON(nil)
		if !json.Valid(b) || strings.ContainsAny(string(b), "\r\n") {
			t.Errorf("%T: %q", v, b)
		}
	}
	if got := string((&acp.ToolCall{RawOutput: json.RawMessage(`{"cut`)}).AppendJSON(nil)); !strings.Contains(got, `"rawOutput":"{\"cut"`) {
		t.Errorf("broken raw value is lost: %s", got)
	}
}
