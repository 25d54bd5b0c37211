package provider

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// TestFraming: the same two events as bytes, in every way that there is.
func TestFraming(t *testing.T) {
	const events = `"events":[{"a":1},"not JSON"]`
	for _, c := range []struct{ reply, want string }{
		{`{` + events + `}`, "data: {\"a\":1}\n\ndata: not JSON\n\ndata: [DONE]\n\n"},
		{`{` + events + `,"framing":{"newline":"crlf"},"comments":1}`, ": keep-alive\r\n\r\ndata: {\"a\":1}\r\n\r\ndata: not JSON\r\n\r\ndata: [DONE]\r\n\r\n"},
		{`{` + events + `,"framing":{"newline":"cr"}}`, "data: {\"a\":1}\r\rdata: not JSON\r\rdata: [DONE]\r\r"},
		{`{` + events + `,"framing":{"noSpace":true},"comments":2,"comment":"OPENROUTER PROCESSING"}`, ":OPENROUTER PROCESSING\n\n:OPENROUTER PROCESSING\n\ndata:{\"a\":1}\n\ndata:not JSON\n\ndata:[DONE]\n\n"},
		{`{` + events + `,"framing":{"noBlank":true}}`, "data: {\"a\":1}\n\ndata: not JSON\n\ndata: [DONE]\n"},
		{`{` + events + `,"framing":{"noDone":true}}`, "data: {\"a\":1}\n\ndata: not JSON\n\n"},
		{`{` + events + `,"framing":{"noDone":true,"noBlank":true}}`, "data: {\"a\":1}\n\ndata: not JSON\n"},
		{`{` + events + `,"framing":{"lines":true}}`, "data: {\ndata:   \"a\": 1\ndata: }\n\ndata: not JSON\n\ndata: [DONE]\n\n"},
		{`{"events":["x"],"framing":{"fields":true}}`, "event: message\nid: 1\nretry: 1000\ndata: x\n\nevent: message\nid: 2\nretry: 1000\ndata: [DONE]\n\n"},
		{`{"events":[]}`, "data: [DONE]\n\n"},
		{`{"events":[],"framing":{"noDone":true}}`, ""},
		{`{"raw":"anything\n"}`, "anything\n"},
	} {
		if got := ask(t, scripted(t, c.reply)); got.body() != c.want || got.ending != "end" || got.status != 200 {
			t.Errorf("%s\ngot  %q\nwant %q", c.reply, got.body(), c.want)
		}
	}
}

// TestSplit: the body comes in single bytes, so that characters are cut too, and yet is the same.
func TestSplit(t *testing.T) {
	s := scripted(t, `{"text":"é｜"}`, `{"text":"é｜","framing":{"split":1}}`)
	plain, split := ask(t, s), ask(t, s)
	if want := strings.ReplaceAll(plain.body(), "chatcmpl-1", "chatcmpl-2"); split.body() != want {
		t.Errorf("got  %q\nwant %q", split.body(), want)
	}
	cut := false
	for _, chunk := range split.chunks {
		if len(chunk) != 1 {
			t.Errorf("a chunk is %q", chunk)
		}
		cut = cut || !utf8.ValidString(chunk)
	}
	if !cut {
		t.Error("no character was cut")
	}
}

// TestTime: when what is written, on a clock of the test's own.
func TestTime(t *testing.T) {
	reply, err := ParseReply([]byte(`{"text":"abc","chunks":3,"delayMs":100,"waitMs":1000,"keepAliveMs":300}`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := httptest.NewRecorder()
		var at []string
		d := &delivery{answer: answerTo(chat{}, &call{stream: true}, reply), ctx: t.Context(), w: w, state: func(State) {}}
		d.flush = func() error {
			line, _, _ := strings.Cut(w.Body.String(), "\n")
			if i := strings.Index(line, `"delta":`); i >= 0 {
				line = line[i+len(`"delta":`) : strings.Index(line, `,"finish`)]
			}
			w.Body.Reset()
			at = append(at, time.Since(start).String()+" "+line)
			return nil
		}
		if state := d.run(); state != StateDone {
			t.Errorf("ended as %s", state)
		}
		want := []string{"0s ", "300ms : keep-alive", "600ms : keep-alive", "900ms : keep-alive", `1s {"role":"assistant","content":""}`,
			`1.1s {"content":"a"}`, `1.2s {"content":"b"}`, `1.3s {"content":"c"}`, "1.3s {}", "1.3s data: [DONE]"}
		if !slices.Equal(at, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(at, "\n"), strings.Join(want, "\n"))
		}
	})
}
