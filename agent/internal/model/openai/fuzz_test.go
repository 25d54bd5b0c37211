package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// FuzzStream: whatever a provider sends, the decoder ends with a result or a *model.Error, gives out whole characters, shows no
// markup, and does not care how the bytes are cut into reads. Seeds are in testdata/fuzz.
func FuzzStream(f *testing.F) {
	f.Add(text("a")+finish("stop")+end, true)
	f.Fuzz(func(t *testing.T, script string, tags bool) {
		d := deepseek
		d.ThinkTags = tags
		whole := decodeFrom(t, d, strings.NewReader(script))
		if e, ok := whole.err.(*model.Error); whole.err != nil && (!ok || e.Error() == "") {
			t.Errorf("%T %v", whole.err, whole.err)
		}
		if whole.err != nil && len(whole.result.Calls) > 0 {
			t.Errorf("calls of a failed answer")
		}
		for _, delta := range whole.deltas {
			if !utf8.ValidString(delta.Text+delta.Thought) || (delta.Text == "") == (delta.Thought == "") {
				t.Errorf("%+q", delta)
			}
		}
		for _, call := range whole.result.Calls {
			if len(call.Args) == 0 || !utf8.Valid(call.Args) {
				t.Errorf("%+q", call)
			}
		}
		for _, m := range markup {
			if i := strings.Index(whole.text, m); i == 0 || i > 0 && strings.IndexByte("`'\"", whole.text[i-1]) < 0 {
				t.Errorf("markup is shown: %q", whole.text)
			}
		}
		bytewise := decodeFrom(t, d, iotest.OneByteReader(strings.NewReader(script)))
		if fmt.Sprint(whole.deltas, whole.err) != fmt.Sprint(bytewise.deltas, bytewise.err) || fmt.Sprintf("%+v", whole.result.Calls) != fmt.Sprintf("%+v", bytewise.result.Calls) {
			t.Errorf("%+v\nbytewise\n%+v", whole, bytewise)
		}
	})
}

// BenchmarkStream decodes an answer of 20,000 chunks.
func BenchmarkStream(b *testing.B) {
	var script strings.Builder
	for i := range 20_000 {
		word, _ := json.Marshal(fmt.Sprintf("word %d and ", i))
		fmt.Fprintf(&script, `data: {"id":"0ff1ce","object":"chat.completion.chunk","created":1764300000,"model":"deepseek-flash","system_fingerprint":"fp_1",`+
			`"choices":[{"index":0,"delta":{"content":%s},"logprobs":null,"finish_reason":null}]}`+"\n\n", word)
	}
	script.WriteString(finish("stop") + end)
	b.SetBytes(int64(script.Len()))
	b.ReportAllocs()
	for b.Loop() {
		w := newWatch(Limits{}.complete(), func(error) {})
		a := newAnswer(deepseek, func(model.Delta) error { return nil })
		if err := a.read(newEvents(w.reader(strings.NewReader(script.String()))), w); err != nil {
			b.Fatal(err)
		}
		w.stop()
	}
}
