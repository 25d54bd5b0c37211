package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent/internal/model"
)

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.BaseURL == "" {
		cfg.BaseURL = "https://h"
	}
	if cfg.Model == "" {
		cfg.Model = "m"
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Caches of providers work on exact prefixes: what was sent before is sent again with the same bytes, and new matter stands
// behind it.
func TestStablePrefix(t *testing.T) {
	req := &model.Request{
		System: "You are \"it\".\n",
		Tools: []model.ToolSpec{
			{Name: "write", Description: "Writes.", Params: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}, {Name: "ask"},
		},
		Messages: []model.Message{{Role: model.User, Text: "hi"}},
	}
	turns := []model.Message{
		{Role: model.Assistant, Thought: "hm", Calls: []model.Call{{ID: "call_1", Name: "write", Args: json.RawMessage(`{"z": 1, "a": 2}`)}}},
		{Role: model.Tool, CallID: "call_1", Name: "write", Text: ""},
		{Role: model.Assistant, Text: "done"},
		{Role: model.User, Text: "é\u2028<&>"},
	}
	for _, d := range []Dialect{deepseek, glm, kimi, mistral, plain} {
		c := newClient(t, Config{Dialect: &d, ExtraBody: map[string]json.RawMessage{"b": []byte("1"), "a": []byte("2"), "c": []byte("3")}})
		req := *req
		before, rest := halves(t, c, &req)
		for _, m := range turns {
			req.Messages = append(req.Messages, m)
			for range 3 {
				messages, tail := halves(t, c, &req)
				if !strings.HasPrefix(messages, before+",") || tail != rest {
					t.Fatalf("%s:\n%s\nthen\n%s\n%s\nthen\n%s", d.Name, before, messages, rest, tail)
				}
			}
			before, _ = halves(t, c, &req)
		}
	}
}

// halves parts a body behind the last message.
func halves(t *testing.T, c *Client, req *model.Request) (messages, rest string) {
	t.Helper()
	body := string(c.body(req))
	if !json.Valid([]byte(body)) {
		t.Fatal(body)
	}
	messages, rest, ok := strings.Cut(body, `],"stream":true`)
	if !ok {
		t.Fatal(body)
	}
	return messages, rest
}

func TestWholeRequest(t *testing.T) {
	c := newClient(t, Config{BaseURL: "https://api.deepseek.com", Model: "deepseek-flash", MaxOutputTokens: 500_000})
	got := string(c.body(&model.Request{
		System: "s", Effort: "max",
		Messages: []model.Message{
			{Role: model.User, Text: "u"},
			{Role: model.Assistant, Calls: []model.Call{{ID: "1", Name: "f"}}}, {Role: model.Tool, CallID: "1", Name: "f", Text: "r", Failed: true},
			{Role: model.Assistant, Text: ""},
		},
		Tools: []model.ToolSpec{{Name: "f", Description: "d", Params: json.RawMessage(`{}`)}},
	}))
	want := `{"model":"deepseek-flash","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},` +
		`{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"1","content":"r"},{"role":"assistant","content":"","reasoning_content":""}],` +
		`"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{}}}],` +
		`"max_tokens":393216,"thinking":{"type":"enabled"},"reasoning_effort":"max"}`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestEffort(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		efforts string // words
		want    string // behind stream_options
	}{
		{deepseek, " auto", ``},
		{deepseek, "minimal low LOW", `"thinking":{"type":"enabled"},"reasoning_effort":"low"`},
		{deepseek, "medium high xhigh", `"thinking":{"type":"enabled"},"reasoning_effort":"high"`},
		{deepseek, "max ultra", `"thinking":{"type":"enabled"},"reasoning_effort":"max"`},
		{deepseek, "none off disabled", `"thinking":{"type":"disabled"}`},
		{deepseek, "on enabled", `"thinking":{"type":"enabled"}`},
		{deepseek, "brandnew", `"thinking":{"type":"enabled"},"reasoning_effort":"brandnew"`},
		{deepseekPro, "minimal low medium high", `"thinking":{"type":"enabled"},"reasoning_effort":"high"`},
		{deepseekPro, "xhigh max ultra", `"thinking":{"type":"enabled"},"reasoning_effort":"max"`},
		{glm, "none", `"thinking":{"type":"disabled"}`},
		{glm53, "none ", ``},
		{glm53, "medium", `"reasoning_effort":"high"`},
		{kimi, "low max on", `"thinking":{"type":"enabled"}`},
		{kimi, "none", `"thinking":{"type":"disabled"}`},
		{kimiK3, "xhigh", `"reasoning_effort":"max"`},
		{kimiK3, "none", ``},
		{qwen, "none", `"enable_thinking":false`},
		{qwen, "low", `"reasoning_effort":"low","enable_thinking":true`},
		{openRouter, "none", `"reasoning":{"effort":"none"}`},
		{openRouter, "xhigh", `"reasoning":{"effort":"xhigh"}`},
		{openRouter, "on", `"reasoning":{"enabled":true}`},
		{minimax, "high", `"thinking":{"type":"adaptive"}`},
		{minimax, "none", `"thinking":{"type":"disabled"}`},
		{official, "none", `"reasoning_effort":"none"`},
		{plain, "medium", `"reasoning_effort":"medium"`},
		{plain, " on", ``},
	} {
		test.dialect.NoStreamOptions = true
		c := newClient(t, Config{Dialect: &test.dialect})
		for _, effort := range strings.Split(test.efforts, " ") {
			_, rest := halves(t, c, &model.Request{Effort: effort})
			if got := strings.TrimPrefix(strings.TrimSuffix(rest, "}"), ","); got != test.want {
				t.Errorf("%s, %q: %s, want %s", test.dialect.Name, effort, got, test.want)
			}
		}
	}
}

func TestLimitMember(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		limit   uint32
		want    string
	}{
		{plain, 0, ``}, {plain, 7, `,"max_tokens":7`}, {kimiK3, 7, `,"max_completion_tokens":7`}, {glm53, 1 << 20, `,"max_tokens":131072`},
	} {
		test.dialect.NoStreamOptions = true
		_, rest := halves(t, newClient(t, Config{Dialect: &test.dialect, MaxOutputTokens: test.limit}), &model.Request{})
		if rest != test.want+"}" {
			t.Errorf("%s %d: %s", test.dialect.Name, test.limit, rest)
		}
	}
	_, rest := halves(t, newClient(t, Config{Dialect: &glm}), &model.Request{Tools: []model.ToolSpec{{Name: "f"}}})
	if !strings.HasSuffix(rest, `"tool_stream":true}`) || strings.Contains(rest, "stream_options") {
		t.Error(rest)
	}
}

func TestDialectFor(t *testing.T) {
	for _, test := range []struct{ base, model, want string }{
		{"https://api.deepseek.com", "deepseek-flash", "deepseek"},
		{"https://api.deepseek.com:443/v1", "whatever", "deepseek"},
		{"https://API.DeepSeek.com/beta", "DeepSeek-V4-Pro", "deepseek-pro"},
		{"https://deepseek.com.evil.example", "m", "plain"},
		{"https://notdeepseek.com", "m", "plain"},
		{"https://openrouter.ai/api/v1", "deepseek/deepseek-v4-pro", "openrouter"},
		{"https://api.z.ai/api/paas/v4", "glm-5.3", "glm-5.3"},
		{"https://open.bigmodel.cn/api/paas/v4", "glm-4.7", "glm"},
		{"https://api.moonshot.cn/v1", "kimi-k3-preview", "kimi-k3"},
		{"https://api.moonshot.ai/v1", "kimi-k2.6", "kimi"},
		{"https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen4", "qwen"},
		{"https://api.groq.com/openai/v1", "deepseek-flash", "groq"},
		{"https://api.mistral.ai/v1", "m", "mistral"},
		{"https://api.openai.com/v1", "gpt", "openai"},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "gemini", "gemini"},
		{"http://localhost:11434/v1", "gpt-oss:20b", "ollama"},
		{"http://localhost:8000/v1", "deepseek-ai/DeepSeek-V4-Pro", "deepseek-pro"},
		{"http://gateway/v1", "deepseek-flash", "deepseek"},
		{"http://gateway/v1", "my-deepseek-flash", "plain"},
		{"::", "", "plain"},
	} {
		if got := DialectFor(test.base, test.model).Name; got != test.want {
			t.Errorf("%s %s: %s, want %s", test.base, test.model, got, test.want)
		}
	}
	for _, r := range rules {
		if d, ok := DialectNamed(r.dialect.Name); !ok || d.Name != r.dialect.Name {
			t.Errorf("%s is not found by its name", r.dialect.Name)
		}
	}
	if _, ok := DialectNamed("plain"); !ok {
		t.Error("plain is not found")
	}
	if _, ok := DialectNamed("odd"); ok {
		t.Error("odd is found")
	}
}
