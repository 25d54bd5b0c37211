package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// The rules of a decoder that reads every endpoint we know of, one test each.

func TestRule1Framing(t *testing.T) {
	script := "\uFEFF: keep-alive\r\n\r\n:\r\nevent: x\r\nid: 7\r\nretry: 5\r\nodd\r\nodd: data\r\n" +
		"data:{\"id\":\"c\",\"what\":[1,{}],\"choices\":[{\"delta\":\r\ndata: {\"content\":\"a\",\"new\":0}}]}\r\n\r\n" +
		": OPENROUTER PROCESSING\n\n\n\n" + text(" b") + "data\n\n" + finish("stop") + "data: [DONE]"
	everyCut(t, Config{}, script, func(t *testing.T, o outcome) {
		if o.err != nil || o.text != "a b" || o.result.Finish != "stop" {
			t.Errorf("%+v", o)
		}
	})
}

func TestRule2Reasoning(t *testing.T) {
	for name, script := range map[string]string{
		"reasoning_content": delta(`"reasoning_content":"think","content":null`),
		"reasoning":         delta(`"reasoning":"think","content":""`),
		"both":              delta(`"reasoning_content":"think","reasoning":"think"`),
		"first empty":       delta(`"reasoning_content":"","reasoning":"think"`),
		"parts":             delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"th"},{"type":"text","text":"ink"}]},{"type":"odd"}]`),
		"tags":              text(`\n <think>think`) + text("</think>\\n\\n"),
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, script+text("say")+finish("stop")+end)
			if o.err != nil || o.thought != "think" || o.text != "say" {
				t.Errorf("%+v", o)
			}
		})
	}
	t.Run("tags cut anywhere", func(t *testing.T) {
		whole := " <think>a<b </thx</think>\n<think>no</think>"
		for i := range len(whole) + 1 {
			for j := i; j <= len(whole); j++ {
				var w strings.Builder
				for _, piece := range []string{whole[:i], whole[i:j], whole[j:]} {
					quoted, _ := json.Marshal(piece)
					w.WriteString(delta(`"content":` + string(quoted)))
				}
				o := decode(t, plain, w.String()+finish("stop"))
				if o.err != nil || o.thought != "a<b </thx" || o.text != "<think>no</think>" {
					t.Fatalf("cut at %d and %d: %+v", i, j, o)
				}
			}
		}
	})
	t.Run("tags are text", func(t *testing.T) {
		for _, test := range []struct {
			dialect Dialect
			script  string
			text    string
		}{
			{deepseek, text("<think>x</think>"), "<think>x</think>"}, // has a member for it
			{plain, text("a <think>x</think>"), "a <think>x</think>"},
			{plain, delta(`"reasoning":"r"`) + text("<think>x</think>"), "<think>x</think>"},
			{plain, text("<thin"), "<thin"},
			{plain, text(" \\n"), " \n"},
		} {
			if o := decode(t, test.dialect, test.script+finish("stop")); o.err != nil || o.text != test.text {
				t.Errorf("%s: %+v", test.script, o)
			}
		}
		if o := decode(t, plain, text("<think>to the end</th")+finish("stop")); o.err != nil || o.thought != "to the end</th" || o.text != "" {
			t.Errorf("%+v", o)
		}
	})
}

func TestRule3Content(t *testing.T) {
	o := play(t, Config{}, delta(`"role":"assistant","content":null`)+text("a")+delta(`"content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]`)+
		delta(`"content":5`)+delta(`"content":[]`)+text("d")+finish("stop")+end)
	if o.err != nil || o.text != "abcd" {
		t.Errorf("%+v", o)
	}
}

func TestRule4CallKey(t *testing.T) {
	call := func(s string) string { return delta(`"tool_calls":[` + s + `]`) }
	for name, test := range map[string]struct {
		script string
		want   []model.Call
	}{
		"interleaved": {call(`{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}`) +
			call(`{"index":0,"function":{"arguments":"{\"x\":1}"}},{"index":1,"function":{"arguments":"}"}}`),
			[]model.Call{{ID: "a", Name: "f", Args: []byte(`{"x":1}`)}, {ID: "b", Name: "g", Args: []byte(`{}`)}}},
		"gaps and no order": {call(`{"index":7,"id":"a","function":{"name":"f","arguments":"{"}},{"index":3,"id":"b","function":{"name":"g","arguments":"{}"}}`) +
			call(`{"index":7,"function":{"arguments":"}"}}`),
			[]model.Call{{ID: "a", Name: "f", Args: []byte(`{}`)}, {ID: "b", Name: "g", Args: []byte(`{}`)}}},
		"minus one": {call(`{"index":-1,"id":"a","function":{"name":"f","arguments":"{"}}`) + call(`{"index":0,"function":{"arguments":"}"}}`),
			[]model.Call{{ID: "a", Name: "f", Args: []byte(`{}`)}}},
		"ids only": {call(`{"id":"a","function":{"name":"f","arguments":"{"}}`) + call(`{"id":"b","function":{"name":"f","arguments":"{"}}`) +
			call(`{"id":"a","function":{"arguments":"}"}}`) + call(`{"id":"b","function":{"arguments":"}"}}`),
			[]model.Call{{ID: "a", Name: "f", Args: []byte(`{}`)}, {ID: "b", Name: "f", Args: []byte(`{}`)}}},
		"names only": {call(`{"function":{"name":"f","arguments":"{"}}`) + call(`{"function":{"arguments":"}"}}`) + call(`{"function":{"name":"f","arguments":"{}"}}`),
			[]model.Call{{Name: "f", Args: []byte(`{}`)}, {Name: "f", Args: []byte(`{}`)}}},
		"one index for all": {call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + call(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`),
			[]model.Call{{ID: "a", Name: "f", Args: []byte(`{}`)}, {ID: "b", Name: "g", Args: []byte(`{}`)}}},
		"nothing": {call(`{}`) + call(`5`) + call(`{"index":0}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, test.script+finish("tool_calls")+end)
			if diff := cmp.Diff(test.want, o.result.Calls); diff != "" || o.err != nil {
				t.Error(diff, o.err)
			}
		})
	}
}

// The id of a call that came without one is made by the turn, which knows the ids of the session; here both halves of the pair
// carry what it made.
func TestRule5MissingID(t *testing.T) {
	e := serve(t, pieces(delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]`)+finish("stop")+end))
	c := e.client(t, Config{})
	o := ask(c, t.Context(), &model.Request{})
	if o.err != nil || len(o.result.Calls) != 1 || o.result.Calls[0].ID != "" {
		t.Fatalf("%+v", o)
	}
	o.result.Calls[0].ID = "call_1"
	ask(c, t.Context(), &model.Request{Messages: []model.Message{
		{Role: model.Assistant, Calls: o.result.Calls}, {Role: model.Tool, CallID: "call_1", Name: "f", Text: ""},
	}})
	want := `"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":""}]`
	if body := e.seen()[1].body; !strings.Contains(body, want) {
		t.Error(body)
	}
}

func TestRule6NameAndArguments(t *testing.T) {
	for name, test := range map[string]struct{ script, name, args string }{
		"repeated name":      {`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\""}},{"index":0,"function":{"name":"f","arguments":":1}"}}`, "f", `{"a":1}`},
		"object":             {`{"index":0,"id":"a","function":{"name":"f","arguments":{"a": [1, "é"]}}}`, "f", `{"a": [1, "é"]}`},
		"object twice":       {`{"index":0,"id":"a","function":{"name":"f","arguments":{"a":1}}},{"index":0,"function":{"arguments":{"a":1}}}`, "f", `{"a":1}`},
		"empty":              {`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`, "f", `{}`},
		"null":               {`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`, "f", `{}`},
		"absent":             {`{"index":0,"id":"a","function":{"name":"f"}}`, "f", `{}`},
		"malformed, as sent": {`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":"}}`, "f", `{"a":`},
		"a split character":  {"{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\xe2\x82\"}},{\"index\":0,\"function\":{\"arguments\":\"\xac\\\"}\"}}", "f", `{"a":"€"}`},
		"bad bytes":          {"{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\xe2\\\"}\"}}", "f", "{\"a\":\"\uFFFD\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, delta(`"tool_calls":[`+test.script+`]`)+finish("tool_calls")+end)
			if want := []model.Call{{ID: "a", Name: test.name, Args: []byte(test.args)}}; o.err != nil || !cmp.Equal(want, o.result.Calls) {
				t.Error(cmp.Diff(want, o.result.Calls), o.err)
			}
		})
	}
}

func TestRule7Finish(t *testing.T) {
	call := delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`)
	const usage = `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}` + "\n\n"
	for name, test := range map[string]struct {
		script string
		finish string
		ending model.Ending
		calls  int
		err    string
	}{
		"stop with calls":           {script: call + finish("stop") + end, finish: "stop", calls: 1},
		"marker only":               {script: text("a") + end},
		"reason only":               {script: text("a") + finish("stop"), finish: "stop"},
		"empty reasons":             {script: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":""}]}` + "\n\n" + end},
		"null does not erase":       {script: text("a") + finish("length") + `data: {"choices":[{"delta":{},"finish_reason":null}]}` + "\n\n" + end, finish: "length", ending: model.Length},
		"on every chunk":            {script: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n" + end, finish: "stop"},
		"filtered, nothing else":    {script: finish("content_filter") + end, finish: "content_filter", ending: model.Filtered},
		"refusal":                   {script: delta(`"refusal":"I cannot"`) + finish("stop") + end, finish: "refusal", ending: model.Filtered},
		"no capacity":               {script: text("a") + finish("insufficient_system_resource") + end, finish: "insufficient_system_resource", ending: model.Broken},
		"empty, but counted":        {script: finish("stop") + usage + end, finish: "stop"},
		"neither":                   {script: text("a"), err: "the provider's stream broke off"},
		"nothing at all":            {script: "", err: "the provider's stream broke off"},
		"only comments":             {script: ": keep-alive\n\n", err: "the provider's stream broke off"},
		"a call, cut":               {script: call, err: "the provider's stream broke off"},
		"empty is no answer":        {script: finish("stop") + end, err: "the provider sent a stream without text, calls and usage"},
		"only the marker":           {script: end, err: "the provider sent a stream without text, calls and usage"},
		"a second choice is not us": {script: text("a") + `data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}` + "\n\n" + end},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, test.script)
			if test.err != "" {
				e, ok := o.err.(*model.Error)
				if !ok || e.Error() != test.err || !e.Retryable() || e.Cut != strings.Contains(test.err, "broke off") || len(o.result.Calls) != 0 {
					t.Errorf("%v, want %s", o.err, test.err)
				}
				return
			}
			if o.err != nil || o.result.Finish != test.finish || o.result.Ending() != test.ending || len(o.result.Calls) != test.calls {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestRule8Usage(t *testing.T) {
	for name, test := range map[string]struct {
		usage string
		want  *model.Usage
	}{
		"openai":    {`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}`, &model.Usage{Input: 10, Output: 5, Cached: 4, Reasoning: 3}},
		"deepseek":  {`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4,"prompt_tokens_details":{"cached_tokens":1}}`, &model.Usage{Input: 10, Output: 5, Cached: 6}},
		"anthropic": {`{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":2}`, &model.Usage{Input: 19, Output: 5, Cached: 7}},
		"groq":      {`{"queue_time":0.1,"prompt_tokens":1,"completion_tokens":2,"total_time":0.2}`, &model.Usage{Input: 1, Output: 2}},
		"hit and miss only": {`{"completion_tokens":2,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}`,
			&model.Usage{Input: 10, Output: 2, Cached: 6}},
		"nothing":   {`{}`, nil},
		"null":      {`null`, nil},
		"nonsense":  {`"many"`, nil},
		"half good": {`{"prompt_tokens":-1,"completion_tokens":2}`, &model.Usage{Output: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, text("a")+finish("stop")+`data: {"choices":[],"usage":`+test.usage+"}\n\n"+end)
			if !cmp.Equal(o.result.Usage, test.want) || o.err != nil {
				t.Error(cmp.Diff(test.want, o.result.Usage), o.err)
			}
		})
	}
	t.Run("the last one wins", func(t *testing.T) {
		u := func(n string) string { return `"usage":{"prompt_tokens":1,"completion_tokens":` + n + `}` }
		for place, script := range map[string]string{
			"on every chunk": `data: {"choices":[{"delta":{"content":"a"}}],` + u("1") + "}\n\n" + `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],` + u("2") + "}\n\n",
			"then null":      text("a") + finish("stop") + `data: {"choices":[],` + u("2") + "}\n\n" + `data: {"choices":[],"usage":null}` + "\n\n",
			"in the choice":  text("a") + `data: {"choices":[{"delta":{},"finish_reason":"stop",` + u("2") + "}]}\n\n",
			"x_groq":         text("a") + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r",` + u("2") + "}}\n\n",
		} {
			if o := play(t, Config{}, script+end); o.err != nil || o.result.Usage == nil || *o.result.Usage != (model.Usage{Input: 1, Output: 2}) {
				t.Errorf("%s: %+v", place, o)
			}
		}
	})
	t.Run("known of a failed stream", func(t *testing.T) {
		o := play(t, Config{}, `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`+"\n\n")
		if o.err == nil || o.result.Usage == nil || o.result.Usage.Input != 1 {
			t.Errorf("%+v", o)
		}
	})
}

func TestRule9ErrorInStream(t *testing.T) {
	for name, test := range map[string]struct {
		data, message string
		retry         bool
	}{
		"object":         {`{"error":{"message":"no capacity","type":"server_error"}}`, "the provider failed in the middle of its answer: no capacity", true},
		"with a choice":  {`{"id":"x","error":{"code":502,"message":"upstream"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`, "the provider failed in the middle of its answer: upstream", true},
		"number for 402": {`{"error":{"code":402,"message":"credits"}}`, "the provider failed in the middle of its answer: credits", false},
		"text":           {`{"error":"overloaded"}`, "the provider failed in the middle of its answer: overloaded", true},
		"odd":            {`{"error":[1]}`, `the provider failed in the middle of its answer: {"error":[1]}`, true},
		"flat":           {`{"object":"error","message":"flat","type":"invalid_request_error","code":3280}`, "the provider failed in the middle of its answer: flat", false},
		"no JSON":        {`oops`, "the provider sent what is no chunk of an answer", true},
		"cut JSON":       {`{"choices":[{"delta":{"conte`, "the provider sent what is no chunk of an answer", true},
		"array":          {`[]`, "the provider sent what is no chunk of an answer", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, Config{}, text("half")+"data: "+test.data+"\n\n"+end)
			e, ok := o.err.(*model.Error)
			if !ok || e.Error() != test.message || e.Retryable() != test.retry || o.text != "half" {
				t.Errorf("%q %v", o.err, o.text)
			}
		})
	}
	if o := play(t, Config{}, `data: {"error":null,"choices":[{"delta":{"content":"a"}}]}`+"\n\n"+finish("stop")); o.err != nil || o.text != "a" {
		t.Errorf("error:null is no error: %+v", o)
	}
}

func TestRule10Extra(t *testing.T) {
	for _, name := range []string{"model", "messages", "tools", "stream", "stream_options", "temperature", "max_tokens", "max_completion_tokens", "reasoning_effort", "thinking"} {
		_, err := New(Config{BaseURL: "https://h", Model: "m", ExtraBody: map[string]json.RawMessage{name: []byte("1")}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"Authorization", "content-type", "ACCEPT", "host"} {
		_, err := New(Config{BaseURL: "https://h", Model: "m", Headers: map[string]string{name: "secret-value"}})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := serve(t, pieces(text("a")+finish("stop")))
	c := e.client(t, Config{
		Headers:   map[string]string{"X-Title": "me"},
		ExtraBody: map[string]json.RawMessage{"top_k": []byte("5"), "chat_template_kwargs": []byte(`{"thinking":true}`), "enable_thinking": []byte("false")},
		Dialect:   &qwen,
	})
	if o := ask(c, t.Context(), &model.Request{Effort: "high"}); o.err != nil {
		t.Fatal(o.err)
	}
	got := e.seen()[0]
	if got.header.Get("X-Title") != "me" {
		t.Error(got.header)
	}
	want := `{"model":"some-model","messages":[],"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"high",` +
		`"chat_template_kwargs":{"thinking":true},"enable_thinking":false,"top_k":5}`
	if got.body != want {
		t.Error(got.body)
	}
}

func TestRule11Replay(t *testing.T) {
	history := []model.Message{
		{Role: model.User, Text: "hi"},
		{Role: model.Assistant, Text: "well", Thought: "hm", Origin: "a", Calls: []model.Call{{ID: "call_1", Name: "f", Args: []byte(`{}`), Extra: []byte(`{"google":{"thought_signature":"s"}}`)}}},
		{Role: model.Tool, CallID: "call_1", Name: "f", Text: "done"},
	}
	const hi, toolMessage = `{"role":"user","content":"hi"}`, `{"role":"tool","tool_call_id":"call_1","content":"done"}`
	const calls = `"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for _, test := range []struct {
		name, effort, origin string
		dialect              Dialect
		want                 string
	}{
		{"deepseek", "", "a", deepseek, `{"role":"assistant","content":"well","reasoning_content":"hm",` + calls + "," + toolMessage},
		{"glm", "", "", glm, `{"role":"assistant","content":"well","reasoning_content":"hm",` + calls + "," + toolMessage},
		{"kimi", "", "a", kimi, `{"role":"assistant","content":"well","reasoning_content":"hm",` + calls + "," + toolMessage},
		{"another model's", "", "b", deepseek, `{"role":"assistant","content":"well","reasoning_content":"",` + calls + "," + toolMessage},
		{"thinking is off", "none", "a", deepseek, `{"role":"assistant","content":"well",` + calls + "," + toolMessage},
		{"groq", "", "a", groq, `{"role":"assistant","content":"well",` + calls + "," + toolMessage},
		{"mistral", "", "a", mistral, `{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"well"}],` +
			`"tool_calls":[{"id":"NINE","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"NINE","content":"done"}`},
		{"mistral, another model's", "", "b", mistral, `{"role":"assistant","content":"well",` +
			`"tool_calls":[{"id":"NINE","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"NINE","content":"done"}`},
		{"gemini", "", "a", gemini, `{"role":"assistant","content":"well","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"},` +
			`"extra_content":{"google":{"thought_signature":"s"}}}]},` + toolMessage},
		{"mimo", "", "a", mimo, `{"role":"assistant","content":"well",` + calls + `,{"role":"tool","tool_call_id":"call_1","content":"done","name":"f"}`},
	} {
		c, err := New(Config{BaseURL: "https://h", Model: "m", Dialect: &test.dialect, Origin: test.origin})
		if err != nil {
			t.Fatal(err)
		}
		nine := c.callID("call_1")
		if test.dialect.CallID == NineIDs && (len(nine) != 9 || strings.Trim(nine, letters) != "" || c.callID(nine) != nine) {
			t.Errorf("id %q", nine)
		}
		body := string(c.body(&model.Request{Messages: history, Effort: test.effort}))
		_, messages, _ := strings.Cut(body, `"messages":[`+hi+",")
		messages, _, _ = strings.Cut(messages, `],"stream"`)
		if want := strings.ReplaceAll(test.want, "NINE", nine); messages != want {
			t.Errorf("%s:\n%s\n%s", test.name, messages, want)
		}
	}
}
