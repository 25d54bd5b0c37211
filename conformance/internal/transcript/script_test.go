package transcript

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseScript(t *testing.T) {
	src := `# a comment

mask engine workDurationMs
send {"id":1,"method":"initialize"}
  send {"jsonrpc":"1.0","id":2}
send {}
raw {oops
raw "a\tb"
bytes "half"
await response "a"
await update tool_call_update {"update":{"status":"failed"}}
await request session/request_permission
await notification _reasonix.io/session/status_update
await error -32700
await text "two  words"
answer fs/read_text_file {"content":""}
answer-error fs/read_text_file {"code":-32002,"message":"no"}
padded 100 {"id":3}
eof
restart
kill
timeout 1m
`
	got, err := ParseScript([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{Line: 4, Op: OpSend, JSON: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`},
		{Line: 5, Op: OpSend, JSON: `{"jsonrpc":"1.0","id":2}`},
		{Line: 6, Op: OpSend, JSON: `{"jsonrpc":"2.0"}`},
		{Line: 7, Op: OpRaw, Raw: "{oops"},
		{Line: 8, Op: OpRaw, Raw: "a\tb"},
		{Line: 9, Op: OpBytes, Raw: "half"},
		{Line: 10, Op: OpAwait, Kind: AwaitResponse, Arg: `"a"`},
		{Line: 11, Op: OpAwait, Kind: AwaitUpdate, Arg: "tool_call_update", Params: `{"update":{"status":"failed"}}`},
		{Line: 12, Op: OpAwait, Kind: AwaitRequest, Arg: "session/request_permission"},
		{Line: 13, Op: OpAwait, Kind: AwaitNotification, Arg: "_reasonix.io/session/status_update"},
		{Line: 14, Op: OpAwait, Kind: AwaitError, Arg: "-32700"},
		{Line: 15, Op: OpAwait, Kind: AwaitText, Arg: "two  words"},
		{Line: 16, Op: OpAnswer, Method: "fs/read_text_file", JSON: `{"content":""}`},
		{Line: 17, Op: OpAnswerError, Method: "fs/read_text_file", JSON: `{"code":-32002,"message":"no"}`},
		{Line: 18, Op: OpPadded, Size: 100, JSON: `{"jsonrpc":"2.0","id":3}`},
		{Line: 19, Op: OpEOF},
		{Line: 20, Op: OpRestart},
		{Line: 21, Op: OpKill},
		{Line: 22, Op: OpTimeout, Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, got.Steps, cmpopts.IgnoreFields(Step{}, "Text")); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if got.Steps[1].Text != `send {"jsonrpc":"1.0","id":2}` {
		t.Errorf("text of a step: %q", got.Steps[1].Text)
	}
	if diff := cmp.Diff([]string{"engine", "workDurationMs"}, got.Masks); diff != "" {
		t.Errorf("masks (-want +got):\n%s", diff)
	}
}

func TestParseScriptErrors(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"wait response 1", "script:1: a step begins with send"},
		{"\n\nsend {oops", "script:3: invalid character 'o'"},
		{"send [1]", "send wants a JSON object"},
		{"send", "script:1: unexpected end of JSON input"},
		{"padded 10", "unexpected end of JSON input"},
		{"padded {}", "want: padded BYTES JSON"},
		{"padded 0 {}", "want: padded BYTES JSON"},
		{"padded 1073741825 {}", "with at most 1073741824 bytes"},
		{"raw", `for an empty line write ""`},
		{`raw "x`, "must be a Go string"},
		{"bytes x", "bytes wants a Go string"},
		{"await", "want: await response ID"},
		{"await response", "want: await response ID"},
		{"await response a", "spelled as in JSON"},
		{"await response {}", "spelled as in JSON"},
		{"await error x", "whole number"},
		{"await silence 1s", "await knows"},
		{"await update plan {", "unexpected end of JSON input"},
		{"await text \"x", "must be a Go string"},
		{"answer session/request_permission", "want: answer METHOD JSON"},
		{"answer-error session/request_permission {", "unexpected end of JSON input"},
		{"eof now", "eof stands alone"},
		{"timeout 5", "missing unit in duration"},
		{"timeout 0s", "longer than nothing"},
		{"mask", "want: mask MEMBER"},
		{"restart", "script:1: the agent still runs here"},
		{"eof\nsend {}", "script:2: the agent does not run here"},
		{"kill\nkill", "script:2: the agent does not run here"},
	} {
		_, err := ParseScript([]byte(c.script))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.script, err, c.want)
		}
	}
}
