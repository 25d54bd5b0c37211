package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	src := `client {"id":1,"method":"a"}
agent {"id":1,"result":{"z":1,"a":"é\u00e9"}}
client raw "{oops\t\x00"
client bytes "{\"id\""
client padded 90 {"id":2,"method":"a"}
agent raw "Welcome!"
kill
restart
exit 0
exit signal: killed
`
	lines, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []Line{
		{From: Client, Message: []byte(`{"id":1,"method":"a"}`)},
		{From: Agent, Message: []byte(`{"id":1,"result":{"z":1,"a":"é\u00e9"}}`)},
		{From: Client, Kind: KindRaw, Text: "{oops\t\x00"},
		{From: Client, Kind: KindBytes, Text: `{"id"`},
		{From: Client, Kind: KindPadded, Size: 90, Message: []byte(`{"id":2,"method":"a"}`)},
		{From: Agent, Kind: KindRaw, Text: "Welcome!"},
		{Kind: KindKill},
		{Kind: KindRestart},
		{Kind: KindExit, Text: "0"},
		{Kind: KindExit, Text: "signal: killed"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := string(Format(lines)); got != src {
		t.Errorf("formatted again:\n%s", got)
	}
	if lines, err := Parse(nil); lines != nil || err != nil {
		t.Errorf("empty transcript: %v, %v", lines, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"exit 0", "no newline"},
		{"kill\n\n", "transcript:2: a line begins with"},
		{"host {}\n", "a line begins with"},
		{"client {oops}\n", "invalid character"},
		{"client\n", "unexpected end"},
		{"agent raw x\n", "raw wants a Go string"},
		{"agent raw `x`\n", "spelled"},
		{"client {\"id\": 1}\n", "spelled"},
		{"client padded x {}\n", "wants the number of bytes"},
		{"client padded 09 {}\n", "spelled"},
		{"client padded 9\n", "unexpected end"},
		{"exit\n", "exit without a status"},
		{"kill now\n", "spelled"},
	} {
		_, err := Parse([]byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.src, err, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	if s := Shorten("short"); s != "short" {
		t.Errorf("short text became %q", s)
	}
	if s := Shorten("x" + strings.Repeat("é", 300)); s != "x"+strings.Repeat("é", 199)+"… (601 bytes)" {
		t.Errorf("long text became %q", s)
	}
}
