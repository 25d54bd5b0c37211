package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const description = `{"prompt":"Do it.","think":"Hm.","text":"I do.","chunks":2,"tools":[{"id":"c1","name":"ls","args":{"path":"."}}],"usage":{"input":10,"output":5,"cached":4,"reasoning":1}}
{"prompt":"Do it.","text":"Done.","usage":{"input":20,"output":2}}

{"prompt":"Do it. Again.","text":"Once more","hang":true}
{"prompt":"Fail.","status":429,"body":"slow down","headers":{"Retry-After":"9"}}
`

func parse(t *testing.T) *Script {
	t.Helper()
	s, err := Parse([]byte(description))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Serve(parse(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ask asks as a client does; the caller closes the body.
func ask(t *testing.T, s *Server, messages string) *http.Response {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"model":"m","stream":true,"messages":%s}`, messages))
	r, err := http.Post(s.URL+"/v1/chat/completions", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Body.Close() })
	return r
}

// said is what a stream says, part by part.
func said(t *testing.T, r io.Reader) (parts []string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			parts = append(parts, data)
			continue
		}
		var event struct {
			Choices []struct {
				Delta  map[string]any
				Finish *string `json:"finish_reason"`
			}
			Usage map[string]any
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		for _, c := range event.Choices {
			text, err := json.Marshal(c.Delta)
			if err != nil {
				t.Fatal(err)
			}
			if c.Finish != nil {
				text = append(text, (" " + *c.Finish)...)
			}
			parts = append(parts, string(text))
		}
		if event.Usage != nil {
			parts = append(parts, fmt.Sprint(event.Usage))
		}
	}
	return parts
}

func TestStream(t *testing.T) {
	s := serve(t)
	got := said(t, ask(t, s, `[{"role":"system","content":"Do it."},{"role":"user","content":[{"type":"text","text":"<context/>"},{"type":"text","text":"Do it."}]}]`).Body)
	want := []string{
		`{"content":"","role":"assistant"}`, "",
		`{"reasoning_content":"H"}`, "", `{"reasoning_content":"m."}`, "",
		`{"content":"I "}`, "", `{"content":"do."}`, "",
		`{"tool_calls":[{"function":{"arguments":"{\"path\":\".\"}","name":"ls"},"id":"c1","index":0,"type":"function"}]}`, "",
		`{} tool_calls`, "",
		`map[completion_tokens:5 completion_tokens_details:map[reasoning_tokens:1] prompt_cache_hit_tokens:4 prompt_cache_miss_tokens:6 prompt_tokens:10 total_tokens:15]`, "",
		"[DONE]", "",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = said(t, ask(t, s, `[{"role":"user","content":"Do it."},{"role":"assistant","content":null},{"role":"tool","content":"x"},{"role":"user","content":"a hint"}]`).Body)
	if !strings.Contains(strings.Join(got, ""), `"Done."`) {
		t.Errorf("the second call got %q", got)
	}
	if faults := s.Faults(); faults != nil {
		t.Error(faults)
	}
}

// TestCut: a connection that breaks off is no end.
func TestCut(t *testing.T) {
	script, err := Parse([]byte(`{"prompt":"Go.","text":"Half","cut":true}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(script)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	body, err := io.ReadAll(ask(t, s, `[{"role":"user","content":"Go."}]`).Body)
	if err == nil || !strings.Contains(string(body), "Half") {
		t.Errorf("%v: %s", err, body)
	}
}

// TestHang: a stream that hangs has said its text, and ends with the client or the server.
func TestHang(t *testing.T) {
	s := serve(t)
	for _, end := range []string{"client", "server"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"Do it. Again."}]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		lines := bufio.NewReader(answer.Body)
		for text := ""; !strings.Contains(text, "Once more"); {
			if text, err = lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if end == "client" {
			cancel()
		} else if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if rest, _ := io.ReadAll(lines); strings.Contains(string(rest), "DONE") {
			t.Errorf("ended by the %s, the stream went on: %s", end, rest)
		}
	}
}

func TestFailure(t *testing.T) {
	r := ask(t, serve(t), `[{"role":"user","content":"Fail."}]`)
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 429 || string(body) != "slow down" || r.Header.Get("Retry-After") != "9" {
		t.Errorf("%d %v %q %v", r.StatusCode, r.Header, body, err)
	}
}

// TestFaults: what the description has no answer for is refused and remembered.
func TestFaults(t *testing.T) {
	for messages, want := range map[string]string{
		`[]`:                                "no messages",
		`[{"role":"user","content":"Hi."}]`: `user says "Hi."`,
		`[{"role":"user","content":"Do it. Again."},{"role":"assistant","content":"x"}]`: "which has 1 replies",
		`5`: "no JSON",
	} {
		s := serve(t)
		r := ask(t, s, messages)
		if faults := s.Faults(); r.StatusCode != 400 || len(faults) != 1 || !strings.Contains(faults[0], want) {
			t.Errorf("%s: status %d, faults %q, want %q", messages, r.StatusCode, faults, want)
		}
	}
	s := serve(t)
	proxy, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	if r, err := client.Get("https://example.test/"); err == nil {
		r.Body.Close()
		t.Error("the proxy served")
	}
	r, err := client.Post("http://example.test/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if faults := strings.Join(s.Faults(), "\n"); !strings.Contains(faults, "CONNECT //example.test:443") || !strings.Contains(faults, "POST http://example.test/") {
		t.Errorf("faults of the proxy: %s", faults)
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":"x"}`:                           "model line 2: no prompt",
		`{"prompt":5}`:                           "no prompt",
		`oops`:                                   "invalid character",
		`{"prompt":"x","text":5}`:                "text",
		`{"prompt":"x","tools":[{"name":"ls"}]}`: "the call of ls has no id",
	} {
		if _, err := Parse([]byte("\n" + line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
