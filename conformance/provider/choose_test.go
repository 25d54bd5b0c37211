package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// text is what an answer says, or its status.
func text(t *testing.T, s *Server, body string) string {
	t.Helper()
	got := post(t, s, body).all()
	if got.status != 200 {
		return fmt.Sprint(got.status)
	}
	var v struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(got.body()), &v); err != nil {
		return got.ending + " " + got.body()
	}
	return v.Choices[0].Message.Content
}

// history is a model call without a stream. Roles are told by the first letter: u, a, s, t.
func history(messages ...string) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	roles := map[byte]string{'u': "user", 'a': "assistant", 's': "system", 't': "tool"}
	var list []message
	for _, m := range messages {
		list = append(list, message{roles[m[0]], m[2:]})
	}
	return string(marshal(map[string]any{"model": "m", "messages": list}))
}

// TestScript: one line per call, in order; then an error that no client retries. A new script begins at its first line.
func TestScript(t *testing.T) {
	s := scripted(t, `{"text":"one"}`, ``, `{"status":503}`, `{"text":"three"}`)
	for i, want := range []string{"one", "503", "three", "400", "400"} {
		if got := text(t, s, history("u hi")); got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
	}
	if got := post(t, s, streamed).all(); !strings.Contains(got.body(), "the script has 3 replies and none left for request 6") {
		t.Error(got.body())
	}
	if err := s.SetScript([]byte(`{"text":"new"}`)); err != nil {
		t.Fatal(err)
	}
	if got := text(t, s, history("u hi")); got != "new" {
		t.Error(got)
	}
	if err := s.SetScript([]byte("{}\n{\"txt\":1}")); err == nil || err.Error() != `script: line 2: unknown member "txt"` {
		t.Error(err)
	}
	if calls := s.Calls(); calls[2].Source != "script" || calls[2].Reply != 3 || calls[3].Source != "" || calls[6].Reply != 1 {
		t.Errorf("%+v", calls)
	}
}

// TestNoScript: somebody who only wants to see his agent work needs none.
func TestNoScript(t *testing.T) {
	s := start(t, Config{})
	if got := text(t, s, history("u hi")); got != "ok" || s.Calls()[0].Source != "default" {
		t.Errorf("%q", got)
	}
	s = start(t, Config{Script: []byte{}})
	if got := text(t, s, history("u hi")); got != "400" {
		t.Errorf("an empty script: %q", got)
	}
}

// TestHandler goes before everything else, but only if it has something to say.
func TestHandler(t *testing.T) {
	s := start(t, Config{Script: []byte(`{"text":"script"}`), Handler: func(r Request) *Reply {
		switch {
		case strings.Contains(string(r.Body), "handle"):
			return &Reply{Text: new("handled " + r.Model + " " + r.Path)}
		case strings.Contains(string(r.Body), "nonsense"):
			return &Reply{Cut: true, Hang: true}
		}
		return nil
	}})
	for body, want := range map[string]string{"u handle @@[{}]@@": "handled m /v1/chat/completions", "u nonsense": "400", "u else": "script"} {
		if got := text(t, s, history(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestPrompt: a script that rides in the user's prompt.
func TestPrompt(t *testing.T) {
	const two = `u do it @@[{"text":"one"},{"text":"two"}]@@ please`
	const retry = `u @@[{"status":429},{"text":"","finish":"stop"},{"text":"x","finish":"insufficient_system_resource"},{"text":"again","retried":true},{"text":"one"},{"cut":true,"at":"head"},{"text":"two"}]@@`
	for _, c := range []struct {
		name  string
		calls []string // a history, then what is said
	}{
		{"steps", []string{history("s you are", two), "one", history("s you are", two, "a one"), "two", history("s you are", two, "a one", "t result", "a two"), "ok"}},
		{"another session", []string{history(two), "one", history(two), "one", history(two, "a one"), "two", history(two), "one"}},
		{"the last script", []string{history(two, "a one", `u then @@[{"text":"b"}]@@`), "b", history(two, "a one", "u no script"), "two"}},
		{"the last in one text", []string{history(`u @@[{"text":"a"}]@@ and @@[{"text":"b"}]@@`), "b"}},
		{"what fails is asked again", []string{history(retry), "429", history(retry), "", history(retry), "x", history(retry), "again", history(retry), "one",
			history(retry, "a one"), "close ", history(retry, "a one"), "two", history(retry, "a one", "a two"), "ok", history(retry), "429"}},
		{"quoted", []string{history(`u "say @@[{\"text\":\"a \\\"b\\\"\"}]@@"`), `a "b"`}},
		{"at signs inside", []string{history(`u @@[{"text":"a@@[]@@"},{"text":"b"}]@@`), "a@@[]@@"}},
		{"broken", []string{history(`u @@[{"text":}]@@`), "400", history(`u @@[{"txt":"a"}]@@`), "400", history(`u @@[{}]`), "400"}},
		{"not in a tool's result", []string{history("u hi", "a ", `t @@[{"text":"b"}]@@`), "file"}},
		{"parts", []string{`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"@@[{\"text\":\"b\"}]@@"}]}]}`, "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scripted(t, `{"text":"file"}`)
			for i := 0; i < len(c.calls); i += 2 {
				if got := text(t, s, c.calls[i]); got != c.calls[i+1] {
					t.Errorf("call %d: %q, want %q", i/2+1, got, c.calls[i+1])
				}
			}
		})
	}
}

// TestOtherPaths: the list of models, and what is not served.
func TestOtherPaths(t *testing.T) {
	s := start(t, Config{Models: []string{"a", "b"}})
	for path, want := range map[string]string{
		"/v1/models":           `200 {"object":"list","data":[{"id":"a","object":"model","created":1,"owned_by":"fake"},{"id":"b","object":"model","created":1,"owned_by":"fake"}]}`,
		"/v1/chat/completions": `404 {"error":{"message":"nothing is served at GET /v1/chat/completions","type":"invalid_request_error","param":null,"code":null}}`,
		"/_nothing":            "404 there is no GET /_nothing\n",
	} {
		if got := get(t, http.MethodGet, s.URL()+path, ""); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if list := s.Requests(); len(list) != 2 || len(s.Calls()) != 0 {
		t.Errorf("recorded %d", len(list))
	}
}
