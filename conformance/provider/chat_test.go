package provider

import (
	"fmt"
	"strings"
	"testing"
)

// choice is a choice as payloads shows it, the only one of its chunk.
func choice(delta string) string {
	return `{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func finished(word string) string { return `{"index":0,"delta":{},"finish_reason":"` + word + `"}]}` }

// TestShapes: what a reply looks like on the wire, event by event, behind the first one, which carries the role.
func TestShapes(t *testing.T) {
	calls := func(pieces ...string) (list []string) {
		for _, p := range pieces {
			list = append(list, choice(`{"tool_calls":[`+p+`]}`))
		}
		return append(list, finished("tool_calls"), "[DONE]")
	}
	for _, c := range []struct {
		name, reply string
		want        []string
	}{
		{"empty", `{}`, []string{finished("stop"), "[DONE]"}},
		{"thought and text in pieces", `{"think":"hm","text":"héy you","chunks":2}`, []string{
			choice(`{"reasoning_content":"h"}`), choice(`{"reasoning_content":"m"}`), choice(`{"content":"héy"}`), choice(`{"content":" you"}`), finished("stop"), "[DONE]"}},
		{"repeated", `{"text":"ab","repeat":2}`, []string{choice(`{"content":"ab"}`), choice(`{"content":"ab"}`), finished("stop"), "[DONE]"}},
		{"markup", `{"text":"<｜DSML｜tool_calls>"}`, []string{choice(`{"content":"<｜DSML｜tool_calls>"}`), finished("stop"), "[DONE]"}},
		{"reasoning", `{"think":"a","thinkAs":"reasoning"}`, []string{choice(`{"reasoning":"a"}`), finished("stop"), "[DONE]"}},
		{"both names", `{"think":"a","thinkAs":"both"}`, []string{choice(`{"reasoning_content":"a","reasoning":"a"}`), finished("stop"), "[DONE]"}},
		{"lists", `{"think":"a","thinkAs":"list","text":"b","contentList":true}`, []string{
			choice(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}`), choice(`{"content":[{"type":"text","text":"b"}]}`), finished("stop"), "[DONE]"}},
		{"tags, cut", `{"think":"a","thinkAs":"tag","text":"b","chunks":3}`, []string{
			choice(`{"content":"<thin"}`), choice(`{"content":"k>a</"}`), choice(`{"content":"think>"}`), choice(`{"content":"b"}`), finished("stop"), "[DONE]"}},
		{"a call in pieces", `{"tools":[{"id":"c1","name":"f","args":{ "a":1 },"pieces":2}]}`, calls(
			`{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}`, `{"index":0,"function":{"arguments":"{ \"a"}}`, `{"index":0,"function":{"arguments":"\":1 }"}}`)},
		{"no id, no index", `{"tools":[{"name":"f","noIndex":true}]}`, calls(
			`{"type":"function","function":{"name":"f","arguments":""}}`, `{"function":{"arguments":"{}"}}`)},
		{"any index", `{"tools":[{"name":"f","index":-1,"whole":true},{"name":"g","index":7,"whole":true}]}`, calls(
			`{"index":-1,"type":"function","function":{"name":"f","arguments":"{}"}}`, `{"index":7,"type":"function","function":{"name":"g","arguments":"{}"}}`)},
		{"whole", `{"tools":[{"id":"c","name":"f","args":{"a":1},"whole":true}]}`, calls(`{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}`)},
		{"interleaved", `{"interleave":true,"tools":[{"name":"f","args":"ab","pieces":2},{"name":"g","args":"c"}]}`, calls(
			`{"index":0,"type":"function","function":{"name":"f","arguments":""}}`, `{"index":1,"type":"function","function":{"name":"g","arguments":""}}`,
			`{"index":0,"function":{"arguments":"a"}}`, `{"index":1,"function":{"arguments":"c"}}`, `{"index":0,"function":{"arguments":"b"}}`)},
		{"arguments as an object", `{"tools":[{"name":"f","args":{"a":1},"argsObject":true}]}`, calls(
			`{"index":0,"type":"function","function":{"name":"f"}}`, `{"index":0,"function":{"arguments":{"a":1}}}`)},
		{"malformed arguments", `{"tools":[{"name":"f","args":"{\"a\":","whole":true}]}`, calls(`{"index":0,"type":"function","function":{"name":"f","arguments":"{\"a\":"}}`)},
		{"no arguments at all", `{"tools":[{"name":"f","args":""}]}`, calls(`{"index":0,"type":"function","function":{"name":"f","arguments":""}}`)},
		{"name and id repeated", `{"tools":[{"id":"c","name":"f","args":"ab","pieces":2,"repeatName":true,"repeatId":true}]}`, calls(
			`{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"c","function":{"name":"f","arguments":"a"}}`, `{"index":0,"id":"c","function":{"name":"f","arguments":"b"}}`)},
		{"members of a call", `{"tools":[{"name":"f","whole":true,"extra":{"extra_content":{"google":{"thought_signature":"s"}}}}]}`, calls(
			`{"extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"},"index":0,"type":"function"}`)},
		{"any finish", `{"text":"a","finish":"insufficient_system_resource"}`, []string{choice(`{"content":"a"}`), finished("insufficient_system_resource"), "[DONE]"}},
		{"empty finish", `{"finish":""}`, []string{finished(""), "[DONE]"}},
		{"stop with calls", `{"finish":"stop","tools":[{"name":"f","whole":true}]}`, []string{
			choice(`{"tool_calls":[{"index":0,"type":"function","function":{"name":"f","arguments":"{}"}}]}`), finished("stop"), "[DONE]"}},
		{"finish on the last", `{"text":"a","finishOn":"last"}`, []string{`{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"}},
		{"finish never", `{"text":"a","finishOn":"never"}`, []string{choice(`{"content":"a"}`), "[DONE]"}},
		{"usage", `{"usage":{"input":10,"output":4,"cached":6,"reasoning":1}}`, []string{finished("stop"),
			`],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":1}}}`, "[DONE]"}},
		{"usage of DeepSeek", `{"usage":{"input":10,"output":4,"cached":6},"usageShape":"deepseek","usageOn":"last"}`, []string{
			strings.TrimSuffix(finished("stop"), "}") + `,"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":0}}}`, "[DONE]"}},
		{"usage of Anthropic", `{"usage":{"input":10,"output":4,"cached":6},"usageShape":"anthropic"}`, []string{finished("stop"),
			`],"usage":{"input_tokens":4,"output_tokens":4,"cache_read_input_tokens":6,"cache_creation_input_tokens":0}}`, "[DONE]"}},
		{"usage raw, in the choice", `{"usageRaw":"many","usageOn":"choice"}`, []string{`{"index":0,"delta":{},"finish_reason":"stop","usage":"many"}]}`, "[DONE]"}},
		{"usage for Groq", `{"usageRaw":{"prompt_tokens":1},"usageOn":"x_groq"}`, []string{strings.TrimSuffix(finished("stop"), "}") + `,"x_groq":{"usage":{"prompt_tokens":1}}}`, "[DONE]"}},
		{"usage on the only chunk", `{"usageRaw":1,"usageOn":"last","text":"a","finishOn":"never"}`, []string{strings.TrimSuffix(choice(`{"content":"a"}`), "}") + `,"usage":1}`, "[DONE]"}},
		{"error", `{"text":"a","error":{"message":"overloaded","code":502}}`, []string{choice(`{"content":"a"}`), `{"error":{"message":"overloaded","code":502}}`}},
		{"error null", `{"error":null}`, []string{`{"error":null}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scripted(t, c.reply)
			got := ask(t, s)
			if got.status != 200 || got.ending != "end" || got.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
				t.Errorf("status %d, %v, ends by %s", got.status, got.header, got.ending)
			}
			same(t, payloads(t, got.body())[1:], c.want)
			if first := payloads(t, got.body())[0]; first != choice(`{"role":"assistant","content":""}`) {
				t.Errorf("first chunk %s", first)
			}
		})
	}
}

// TestEverywhere: what is to stand on every chunk stands on every chunk.
func TestEverywhere(t *testing.T) {
	s := scripted(t, `{"text":"abc","chunks":3,"finishOn":"every","usageOn":"every","usage":{"input":2,"output":8}}`, `{"text":"a","extra":{"error":null,"model":"other"}}`)
	got := payloads(t, ask(t, s).body())
	if len(got) != 6 {
		t.Fatalf("%d events: %q", len(got), got)
	}
	for i, want := range []int{1, 3, 4, 6, 8} { // running totals
		if !strings.Contains(got[i], `"finish_reason":"stop"`) || !strings.Contains(got[i], fmt.Sprintf(`"completion_tokens":%d,`, want)) {
			t.Errorf("chunk %d: %s, want %d tokens", i, got[i], want)
		}
	}
	for _, chunk := range payloads(t, ask(t, s).body())[:3] {
		if !strings.Contains(chunk, `"error":null`) || !strings.Contains(chunk, `"model":"other"`) || !strings.Contains(chunk, `"choices":[`) {
			t.Error(chunk)
		}
	}
}

// TestUsageAskedFor: a client that asks for token counts finds null in the chunks that have none.
func TestUsageAskedFor(t *testing.T) {
	s := scripted(t, `{"text":"a","usageRaw":{"n":1}}`)
	got := payloads(t, post(t, s, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`).all().body())
	for i, chunk := range got[:3] {
		if !strings.HasSuffix(chunk, `],"usage":null}`) {
			t.Errorf("chunk %d: %s", i, chunk)
		}
	}
	same(t, got[3:], []string{`],"usage":{"n":1}}`, "[DONE]"})
}

// TestWhole: a call that asks for no stream.
func TestWhole(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{`{"think":"hm","text":"hi","usageRaw":{"n":1}}`, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"hm","content":"hi"},"finish_reason":"stop"}],"usage":{"n":1}}`},
		{`{"tools":[{"id":"c","name":"f","args":{"a":1}}]}`, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}`},
		{`{"error":{"code":1}}`, `{"error":{"code":1}}`},
		{`{"raw":"<html>"}`, `<html>`},
		{`{"events":[{"a":1}]}`, `{"a":1}`},
	} {
		got := post(t, scripted(t, c.reply), `{"model":"m","messages":[]}`).all()
		if got.status != 200 || got.body() != c.want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s\n%s", c.reply, got.status, got.header, got.body())
		}
	}
}
