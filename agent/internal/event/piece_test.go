package event

import (
	"encoding/json"
	"testing"

	"github.com/go-faster/jx"
	"pgregory.net/rapid"
)

// hostile is what may stand between the quotes of a piece's record and beside
// them: what we write, what another encoder writes, and what is damaged.
var hostile = []string{
	``, `a`, `two words`, `ü🙂`, `\n`, `\r\t`, `\"`, `\\`, `\\\"`, `\\"`, `\`, `"`, `\"}`, `","Text":"`, `","New":"`, `"},{"Text":"`, `"} {"Text":"`,
	`\u0041`, `\u003c`, `\u003C`, `\u2028`, "\u2028\u2029", `\ud83d\ude42`, `\ud83d`, `\ude42\ud83d`, `\ud83dx`, `\u00`, `\b`, `\f`, `\/`, `\x`, `\N`,
	`\u0000`, `\u001f`, `\u007f`, "\x00", "\x1f", "\x7f", "\n", "\r", "\t", "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f", "<&>", "\u0085\u00a0\ufeff\ufffd",
}

// TestVerbatim: words that are taken as they stand are what an encoder makes of
// the decoded event, whatever the record holds.
func TestVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in string
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			in += rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.StringMatching(`[a-z\\"nu]{0,6}`)).Draw(t, "part")
		}
		checkVerbatim(t, `{"Text":"`+in+`"}`)
		checkVerbatim(t, rapid.SampledFrom([]string{`{"Text": "`, `{ "Text":"`, `{"text":"`, `{"Text":5,"Text":"`, `{"New":1,"Text":"`, `[{"Text":"`, ``}).Draw(t, "head")+in+
			rapid.SampledFrom([]string{`" }`, `","New":1}`, `"}]`, `"}}`, `"`, ``}).Draw(t, "tail"))
	})
	for _, one := range hostile {
		for _, other := range hostile {
			checkVerbatim(t, `{"Text":"`+one+other+`"}`)
		}
	}
}

func checkVerbatim(t interface{ Errorf(string, ...any) }, record string) {
	for _, kind := range []string{"text", "thought"} {
		words, ok := Verbatim(kind, json.RawMessage(record))
		if !ok {
			continue
		}
		e, err := Decode(kind, json.RawMessage(record))
		var w jx.Writer
		switch e := e.(type) {
		case Text:
			w.Str(e.Text)
		case Thought:
			w.Str(e.Text)
		}
		if want := string(w.Buf); err != nil || `"`+string(words)+`"` != want {
			t.Errorf("%q, taken as %q, is %q, %v", record, words, want, err)
		}
	}
}

// TestVerbatimIsUsual: what a model writes, code too, is taken as it stands, or
// the other test would show nothing. Other kinds never are.
func TestVerbatimIsUsual(t *testing.T) {
	for _, words := range []string{"", "word", " ünï🙂\u0085", "a\n\nb\r\n\t\"quoted\" \\ back", `{"json":["\\n"]}`} {
		kind, data, err := Encode(Text{words})
		if _, ok := Verbatim(kind, data); !ok || err != nil {
			t.Errorf("%q is decoded", words)
		}
	}
	for _, e := range []Event{Prompt{Text: "x"}, Output{"x"}, Warning{"x"}} {
		kind, data, _ := Encode(e)
		if _, ok := Verbatim(kind, data); ok {
			t.Errorf("%#v is taken for a piece", e)
		}
	}
}
