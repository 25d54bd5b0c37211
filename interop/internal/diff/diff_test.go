package diff

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/conformance"
)

const ours = `client {"id":1,"method":"initialize","params":{}}
agent {"id":1,"result":{"protocolVersion":1,"options":[{"id":"a","v":1},{"id":"b"}]}}
client {"id":"p","method":"session/prompt","params":{}}
agent {"method":"_reasonix.io/session/status_update","params":{"sequence":1,"event":"phase","status":{"sequence":1,"phase":"starting"}}}
agent {"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi."}}}}
agent {"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","status":"in_progress"}}}
agent {"id":1,"method":"session/request_permission","params":{"options":[1,2]}}
client {"id":1,"result":{}}
agent {"id":"p","error":{"code":-32603,"message":"session/prompt: it broke","data":{"description":"words"}}}
exit 0
`

func sections(t *testing.T, text string) [][]Line {
	t.Helper()
	lines, err := conformance.ParseTranscript([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Normalise(&conformance.Transcript{Lines: lines})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNormalise(t *testing.T) {
	var got []string
	for _, section := range sections(t, ours) {
		got = append(got, "---")
		for _, l := range section {
			got = append(got, l.Key+": "+text(l.Value))
		}
	}
	want := []string{
		"---", "---",
		`response 1 initialize: {"result":{"options":[{"id":"a","v":1},{"id":"b"}],"protocolVersion":1}}`, "---",
		`status phase starting: {"event":"phase","sequence":"$sequence","status":{"phase":"starting","sequence":"$sequence"}}`,
		`update agent_message_chunk: {"update":{"content":{"text":"Hi.","type":"text"},"sessionUpdate":"agent_message_chunk"}}`,
		`update tool_call_update in_progress: {"update":{"sessionUpdate":"tool_call_update","status":"in_progress"}}`,
		`request session/request_permission: {"options":[1,2]}`, "---",
		`response "p" session/prompt: {"error":{"code":-32603,"data":{"description":"…"},"message":"session/prompt: …"}}`,
		`exit: "0"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNormaliseText(t *testing.T) {
	for in, want := range map[string]any{
		"<session-context version=\"1\">\nlinux\n</session-context>\n\nHello.": "$contextHello.",
		"<session-context version=\"1\"> This is cut...":                       "$context",
		"a <session-contextual> word":                                          "a <session-contextual> word",
	} {
		if got := own(in, ""); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	object := map[string]any{"description": "", "deprecatedNotice": "gone", "message": "no such thing", "name": "a name"}
	want := map[string]any{"description": "", "deprecatedNotice": "…", "message": "…", "name": "a name"}
	if d := cmp.Diff(want, own(object, "session/new")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPlanted: each change of a transcript is seen, where it is and as what it is; no change is no difference.
func TestPlanted(t *testing.T) {
	update := `agent {"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","status":"in_progress"}}}` + "\n"
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"nothing", "", "", nil},
		{"a value", `"v":1`, `"v":2`, []string{"s | response 1 initialize | /result/options/a/v | 1 | 2"}},
		{"a type", `"v":1`, `"v":[1]`, []string{"s | response 1 initialize | /result/options/a/v | 1 | [1]"}},
		{"a member gone", `,"v":1`, ``, []string{"s | response 1 initialize | /result/options/a/v | 1 | absent"}},
		{"a member more", `"protocolVersion":1`, `"protocolVersion":1,"a/b~":null`, []string{"s | response 1 initialize | /result/a~1b~0 | absent | null"}},
		{"an element of another name", `{"id":"b"}`, `{"id":"c"}`, []string{
			`s | response 1 initialize | /result/options/b | {"id":"b"} | absent`, `s | response 1 initialize | /result/options/c | absent | {"id":"c"}`}},
		{"another order", `{"id":"a","v":1},{"id":"b"}`, `{"id":"b"},{"id":"a","v":1}`, []string{`s | response 1 initialize | /result/options | ["a","b"] | ["b","a"]`}},
		{"an element without a name", `[1,2]`, `[1,3]`, []string{"s | request session/request_permission | /options/1 | 2 | 3"}},
		{"an element less", `[1,2]`, `[1]`, []string{"s | request session/request_permission | /options | [1,2] | [1]"}},
		{"a line gone", update, "", []string{`s | update tool_call_update in_progress | - | {"update":{"sessionUpdate":"tool_call_update","status":"in_progress"}} | absent`}},
		{"a line twice", update, update + update, []string{`s | update tool_call_update in_progress | - | absent | {"update":{"sessionUpdate":"tool_call_update","status":"in_progress"}}`}},
		{"an answer instead of an error", `"error":{"code":-32603,"message":"session/prompt: it broke","data":{"description":"words"}}`, `"result":{}`,
			[]string{`s | response "p" session/prompt | /error | {"code":-32603,"data":{"description":"…"},"message":"session/prompt: …"} | absent`}},
		{"an answer of null", `"result":{"protocolVersion":1,"options":[{"id":"a","v":1},{"id":"b"}]}`, `"result":null`,
			[]string{`s | response 1 initialize | /result | {"options":[{"id":"a","v":1},{"id":"b"}],"protocolVersion":1} | null`}},
		{"another code", `-32603`, `-32600`, []string{`s | response "p" session/prompt | /error/code | -32603 | -32600`}},
		{"another exit", `exit 0`, `exit 1`, []string{`s | exit | - | "0" | "1"`}},
		{"other words", `it broke`, `something else`, nil},
		{"no method before the words", `session/prompt: it`, `it`, []string{`s | response "p" session/prompt | /error/message | "session/prompt: …" | "…"`}},
		{"another sequence", `"sequence":1`, `"sequence":9`, nil},
	} {
		got, err := Compare("s", sections(t, ours), sections(t, strings.Replace(ours, c.from, c.to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, d := range got {
			lines = append(lines, d.String())
		}
		if d := cmp.Diff(c.want, lines); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	if _, err := Compare("s", sections(t, ours), sections(t, strings.Replace(ours, "client {\"id\":1,\"result\":{}}\n", "", 1))); err == nil {
		t.Error("a host that did something else was taken for the same")
	}
}

// TestMoved: a line that comes earlier is one that is missing here and one too many there.
func TestMoved(t *testing.T) {
	line := func(keys ...string) (lines []Line) {
		for _, k := range keys {
			lines = append(lines, Line{Key: k})
		}
		return lines
	}
	got, err := Compare("s", [][]Line{line("update a", "update b", "update c")}, [][]Line{line("update b", "update c", "update a")})
	want := []Difference{{"s", "update a", "", "null", Absent}, {"s", "update a", "", Absent, "null"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
