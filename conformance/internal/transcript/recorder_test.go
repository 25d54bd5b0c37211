package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	uuid1 = "0a1b2c3d-1111-4222-8333-444455556666"
	uuid2 = "0A1B2C3D-1111-4222-8333-444455556677"
	uuid3 = "0a1b2c3d-1111-4222-8333-444455556688"
)

// recordAll returns the transcript of agent lines, given without jsonrpc, in a play of script.
func recordAll(t *testing.T, script, work string, lines ...string) string {
	t.Helper()
	s, err := ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(s, work)
	for _, l := range lines {
		r.Agent(ParseMessage([]byte(`{"jsonrpc":"2.0",`+l[1:]), ""))
	}
	return strings.ReplaceAll(string(Format(r.Lines())), "agent ", "")
}

func TestNormalise(t *testing.T) {
	for _, c := range []struct {
		name, script string
		lines        []string
		want         string
	}{
		{
			name: "sessions by first appearance in a result, everywhere else by name",
			lines: []string{
				`{"id":1,"result":{"sessionId":"` + uuid2 + `"}}`,
				`{"id":2,"result":{"sessions":[{"sessionId":"` + uuid1 + `"},{"sessionId":"` + uuid2 + `"}]}}`,
				`{"method":"x","params":{"sessionId":"` + uuid1 + `","text":"unknown session ` + uuid2 + `."}}`,
			},
			want: `{"id":1,"result":{"sessionId":"$session1"}}
{"id":2,"result":{"sessions":[{"sessionId":"$session2"},{"sessionId":"$session1"}]}}
{"method":"x","params":{"sessionId":"$session2","text":"unknown session $session1."}}
`,
		},
		{
			name: "a session that is first seen outside a result",
			lines: []string{
				`{"method":"x","params":{"sessionId":"` + uuid1 + `"}}`,
				`{"method":"x","params":{"sessionId":"` + uuid3 + `"}}`,
				`{"id":1,"result":{"sessionId":"` + uuid1 + `"}}`,
			},
			want: `{"method":"x","params":{"sessionId":"$session1"}}
{"method":"x","params":{"sessionId":"$session2"}}
{"id":1,"result":{"sessionId":"$session1"}}
`,
		},
		{
			name: "ids that are no UUIDs: short ones as whole values only, long ones also in text, the longest first",
			lines: []string{
				`{"id":1,"result":{"sessionId":"s1"}}`,
				`{"id":2,"result":{"sessionId":"ses_abcdef"}}`,
				`{"id":3,"result":{"sessionId":"ses_abcdef-2"}}`,
				`{"method":"x","params":{"parentSessionId":"s1","text":"s1 ses_abcdef ses_abcdef-2 ses_abcdefg"}}`,
			},
			want: `{"id":1,"result":{"sessionId":"$session1"}}
{"id":2,"result":{"sessionId":"$session2"}}
{"id":3,"result":{"sessionId":"$session3"}}
{"method":"x","params":{"parentSessionId":"$session1","text":"s1 $session2 $session3 ses_abcdefg"}}
`,
		},
		{
			name: "message ids, other UUIDs, in member names too",
			lines: []string{
				`{"method":"x","params":{"messageId":"7","n":"7","id":"` + uuid1 + `"}}`,
				`{"method":"x","params":{"messageId":"` + uuid2 + `","call":"call_` + uuid1 + `","` + uuid3 + `":"see ` + uuid2 + `"}}`,
				`{"id":"` + uuid1 + `","method":"x","params":{"no":"f` + uuid1 + `"}}`,
			},
			want: `{"method":"x","params":{"messageId":"$message1","n":"7","id":"$id1"}}
{"method":"x","params":{"messageId":"$message2","call":"call_$id1","$id2":"see $message2"}}
{"id":"$id1","method":"x","params":{"no":"f` + uuid1 + `"}}
`,
		},
		{
			name:  "times and the version of the agent",
			lines: []string{`{"id":1,"result":{"agentInfo":{"version":"1.2"},"version":"1.2","at":"2026-01-02T03:04:05.678Z","text":"from 2026-01-02T03:04:05+01:00, on 2026-01-02"}}`},
			want: `{"id":1,"result":{"agentInfo":{"version":"$version"},"version":"1.2","at":"$time","text":"from $time, on 2026-01-02"}}
`,
		},
		{
			name:  "the work directory",
			lines: []string{`{"id":1,"result":{"cwd":"/w/case","/w/case":"file:///w/case/a%20b, /w/case. /w/case2 /w/case-2","up":"/w"}}`},
			want: `{"id":1,"result":{"cwd":"$WORK","$WORK":"file://$WORK/a%20b, $WORK. /w/case2 /w/case-2","up":"/w"}}
`,
		},
		{
			name: "what the script spells out is not volatile",
			script: `send {"id":1,"method":"session/load","params":{"sessionId":"` + uuid1 + `"}}
send {"id":2,"method":"session/load","params":{"sessionId":"fixed"}}
raw ` + uuid2 + ` 2026-01-02T03:04:05Z
`,
			lines: []string{`{"id":1,"result":{"sessionId":"` + uuid1 + `","other":{"sessionId":"fixed"},"x":"` + uuid2 + ` ` + uuid3 + ` 2026-01-02T03:04:05Z"}}`},
			want: `{"id":1,"result":{"sessionId":"` + uuid1 + `","other":{"sessionId":"fixed"},"x":"` + uuid2 + ` $id1 2026-01-02T03:04:05Z"}}
`,
		},
		{
			name:   "masks",
			script: "mask engine ms\n",
			lines:  []string{`{"id":1,"result":{"engine":"landlock","ms":12,"sub":{"ms":{"id":"` + uuid1 + `"}},"x":"` + uuid2 + `"}}`},
			want: `{"id":1,"result":{"engine":"$engine","ms":"$ms","sub":{"ms":"$ms"},"x":"$id1"}}
`,
		},
		{
			name:  "spelling and order are kept where nothing is replaced; other versions of JSON-RPC show",
			lines: []string{`{"z":"\u00e9é\/<>\ud83d","id":1.50,"a":[ 1 , 2 ],"z":null}`},
			want: `{"z":"\u00e9é\/<>\ud83d","id":1.50,"a":[1,2],"z":null}
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, recordAll(t, c.script, "/w/case", c.lines...)); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkBehindASymlink(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	real, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	got := recordAll(t, "", link, fmt.Sprintf(`{"id":1,"result":{"a":%q,"b":%q}}`, link+"/x", real+"/x"))
	if want := `{"id":1,"result":{"a":"$WORK/x","b":"$WORK/x"}}` + "\n"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestChunks(t *testing.T) {
	chunk := func(session, kind, text, more string) string {
		return fmt.Sprintf(`{"method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q,"content":{"type":"text","text":"%s"}%s}}}`,
			session, kind, text, more)
	}
	const say, think, user = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
	for _, c := range []struct {
		name        string
		lines, want []string
	}{
		{"one kind", []string{chunk("a", say, `1\n`, ""), chunk("a", say, "", ""), chunk("a", say, "é<", "")}, []string{chunk("a", say, `1\né<`, "")}},
		{"kinds apart", []string{chunk("a", say, "1", ""), chunk("a", think, "2", ""), chunk("a", user, "3", ""), chunk("a", user, "4", "")},
			[]string{chunk("a", say, "1", ""), chunk("a", think, "2", ""), chunk("a", user, "34", "")}},
		{"sessions apart", []string{chunk("a", say, "1", ""), chunk("b", say, "2", "")}, []string{chunk("a", say, "1", ""), chunk("b", say, "2", "")}},
		{"one message id", []string{chunk("a", say, "1", `,"messageId":"m"`), chunk("a", say, "2", `,"messageId":"m"`), chunk("a", say, "3", `,"messageId":"n"`), chunk("a", say, "4", "")},
			[]string{chunk("a", say, "12", `,"messageId":"$message1"`), chunk("a", say, "3", `,"messageId":"$message2"`), chunk("a", say, "4", "")}},
		{"more members", []string{chunk("a", say, "1", `,"_meta":{}`), chunk("a", say, "2", `,"_meta":{}`)}, []string{chunk("a", say, "1", `,"_meta":{}`), chunk("a", say, "2", `,"_meta":{}`)}},
		{"other kinds", []string{chunk("a", "x_chunk", "1", ""), chunk("a", "x_chunk", "2", "")}, []string{chunk("a", "x_chunk", "1", ""), chunk("a", "x_chunk", "2", "")}},
		{"halves of a character stay visible", []string{chunk("a", say, `\ud83d`, ""), chunk("a", say, `\ude00`, "")}, []string{chunk("a", say, `\ud83d`, ""), chunk("a", say, `\ude00`, "")}},
		{"values that were cut", []string{chunk("a", say, "in /w/ca", ""), chunk("a", say, "se, "+uuid1[:9], ""), chunk("a", say, uuid1[9:], "")}, []string{chunk("a", say, "in $WORK, $id1", "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(c.want, "\n")+"\n", recordAll(t, "", "/w/case", c.lines...)); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

// The number of an id must not depend on whether a chunk happened to carry it whole.
func TestIDsInChunksAreNamedLast(t *testing.T) {
	const format = `{"method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`
	other := `{"method":"x","params":{"id":"` + uuid2 + `"}}`
	whole := recordAll(t, "", "/w", fmt.Sprintf(format, uuid1), other)
	cut := recordAll(t, "", "/w", fmt.Sprintf(format, uuid1[:5]), fmt.Sprintf(format, uuid1[5:]), other)
	if diff := cmp.Diff(whole, cut); diff != "" {
		t.Errorf("transcript of whole and cut text:\n%s", diff)
	}
	if !strings.Contains(whole, `"text":"$id2"`) {
		t.Errorf("transcript:\n%s", whole)
	}
}

func TestExpand(t *testing.T) {
	script, err := ParseScript(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(script, `/w/"case"`)
	r.Agent(ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a\"b"}}`), ""))
	got, err := r.Expand(`["$WORK/x","$session1","$sessionX","$session1x","$5","$time","\u0024session1"]`)
	if want := `["/w/\"case\"/x","a\"b","$sessionX","$session1x","$5","$time","\u0024session1"]`; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := r.ExpandText("$session1 $WORK"); got != `a"b /w/"case"` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = r.Expand(`["$session2","$id1"]`)
	if err == nil || err.Error() != "$session2, $id1: nothing has that name yet (names so far: $WORK, $session1)" {
		t.Errorf("error %v", err)
	}
}

func TestRecorderShowsBothSides(t *testing.T) {
	script, err := ParseScript(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(script, "/w")
	if err := r.Client(`{ "jsonrpc":"2.0", "id":1, "params":{"cwd":"/w"} }`); err != nil {
		t.Fatal(err)
	}
	if err := r.Client(`{"jsonrpc":"1.0","id":1}`); err != nil {
		t.Fatal(err)
	}
	if err := r.Client("oops"); err == nil {
		t.Error("a client message that is not JSON is accepted")
	}
	r.ClientText(KindRaw, "{oops /w/a")
	r.ClientText(KindBytes, "é\xff")
	r.Agent(ParseMessage([]byte("Reading /w/a\x1b[0m"), ""))
	r.Process(KindExit, "0")
	r.Process(KindRestart, "")
	r.Process(KindKill, "")
	want := `client {"id":1,"params":{"cwd":"$WORK"}}
client {"jsonrpc":"1.0","id":1}
client raw "{oops $WORK/a"
client bytes "é\xff"
agent raw "Reading $WORK/a\x1b[0m"
exit 0
restart
kill
`
	got := Format(r.Lines())
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	lines, err := Parse(got)
	if diff := cmp.Diff(r.Lines(), lines); diff != "" || err != nil {
		t.Errorf("parsed back: %v (-recorded +parsed):\n%s", err, diff)
	}
}

// TestGivenNames: the longest value first, never a part of a longer word, and both ways.
func TestGivenNames(t *testing.T) {
	s, err := ParseScript([]byte("eof\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorder(s, "/w")
	r.Call("ADDR", "127.0.0.1:4123")
	r.Call("URL", "http://127.0.0.1:4123")
	for value, want := range map[string]string{
		"POST http://127.0.0.1:4123/v1: dial 127.0.0.1:4123": "POST $URL/v1: dial $ADDR",
		"http://127.0.0.1:41234":                             "http://127.0.0.1:41234",
	} {
		if got := r.names.normalise("", "text", value); got != want {
			t.Errorf("%s: %s", value, got)
		}
	}
	if got, err := r.ExpandText("$URL/v1 $URLS $ADDR"); err != nil || got != "http://127.0.0.1:4123/v1 $URLS 127.0.0.1:4123" {
		t.Error(got, err)
	}
}
