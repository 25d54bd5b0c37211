package provider

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestCuts: where an answer breaks off, and how the connection ends.
func TestCuts(t *testing.T) {
	const role = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	text := strings.Replace(role, `{"role":"assistant","content":""}`, `{"content":"aé"}`, 1)
	json := text[len("data: ") : len(text)-2]
	for _, c := range []struct{ reply, body, ending string }{
		{`{"text":"aé","cut":true}`, role + text, "close"},
		{`{"text":"aé","cut":true,"cutBy":"end"}`, role + text, "end"},
		{`{"text":"aé","cut":true,"at":"head"}`, "", "close"},
		{`{"text":"aé","cut":true,"at":"head","cutBy":"end"}`, "", "end"},
		{`{"text":"aé","cut":true,"at":"json"}`, role + "data: " + json[:len(json)/2], "close"},
		{`{"text":"aé","cut":true,"at":"json","cutBy":"end"}`, role + "data: " + json[:len(json)/2], "end"},
		{`{"text":"aé","cut":true,"at":"character"}`, role + text[:strings.Index(text, "é")+1], "close"},
		{`{"cut":true}`, role, "close"},
		{`{"cut":true,"events":[],"comments":1}`, ": keep-alive\n\n", "close"},
		{`{"cut":true,"raw":"data: {","cutBy":"end"}`, "data: {", "end"},
		{`{"cut":true,"status":500,"body":"abcd","at":"json"}`, "ab", "close"},
		{`{"cut":true,"status":500,"body":"abcd"}`, "abcd", "close"},
	} {
		s := scripted(t, c.reply)
		got := ask(t, s)
		if got.body() != c.body || got.ending != c.ending {
			t.Errorf("%s: ends by %s\ngot  %q\nwant %q", c.reply, got.ending, got.body(), c.body)
		}
		if calls := s.Calls(); calls[0].State != StateCut || calls[0].Ended.IsZero() {
			t.Errorf("%s: recorded as %s", c.reply, calls[0].State)
		}
	}
}

// TestCutBeforeTheAnswer: the connection ends without a byte, or by a reset.
func TestCutBeforeTheAnswer(t *testing.T) {
	s := scripted(t, `{"cut":true,"at":"connection"}`, `{"cut":true,"at":"connection","cutBy":"reset"}`)
	if got := ask(t, s); got.status != 0 || got.ending != "close" {
		t.Errorf("status %d, ends by %s", got.status, got.ending)
	}
	if got := ask(t, s); got.status != 0 || got.ending != "reset" {
		t.Errorf("status %d, ends by %s", got.status, got.ending)
	}
}

// TestReset: a stream that is reset; what the client has not read by then may be lost.
func TestReset(t *testing.T) {
	s := scripted(t, `{"text":"a","cut":true,"cutBy":"reset"}`, `{"status":500,"cut":true,"cutBy":"reset"}`)
	for range 2 {
		if got := ask(t, s); got.ending != "reset" {
			t.Errorf("ends by %s", got.ending)
		}
	}
}

// TestHang: nothing comes until the request is released; then the rest does.
func TestHang(t *testing.T) {
	for _, place := range []string{"connection", "head", "output", "json", "character"} {
		s := scripted(t, `{"text":"é","hang":true,"at":"`+place+`"}`, `{"text":"é"}`)
		c := post(t, s, streamed)
		hung := make(chan seen)
		go func() { hung <- c.all() }()
		if _, err := s.Wait(t.Context(), hanging(1)); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-hung:
			t.Errorf("%s: answered %d %q while it hangs", place, got.status, got.body())
		default:
		}
		if n := s.Release(2, 3); n != 0 {
			t.Errorf("%s: released %d of others", place, n)
		}
		if n := s.Release(1); n != 1 {
			t.Errorf("%s: released %d", place, n)
		}
		got, plain := <-hung, ask(t, s)
		if want := strings.ReplaceAll(plain.body(), "chatcmpl-2", "chatcmpl-1"); got.ending != "end" || got.body() != want {
			t.Errorf("%s: ends by %s\ngot  %q\nwant %q", place, got.ending, got.body(), want)
		}
		if calls := s.Calls(); calls[0].State != StateDone {
			t.Errorf("%s: recorded as %s", place, calls[0].State)
		}
	}
}

// TestHangSaysWhatComesBefore and, if it is wanted, that it is alive.
func TestHangSaysWhatComesBefore(t *testing.T) {
	s := scripted(t, `{"text":"a","hang":true,"keepAliveMs":1,"comment":"WAIT"}`)
	c := post(t, s, streamed)
	if _, err := c.head(); err != nil {
		t.Fatal(err)
	}
	var chunks []string
	for range 5 {
		chunk, err := c.chunk()
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, chunk)
	}
	if body := strings.Join(chunks, ""); !strings.HasSuffix(body, `{"content":"a"},"finish_reason":null}]}`+"\n\n: WAIT\n\n: WAIT\n\n: WAIT\n\n") {
		t.Errorf("%q", body)
	}
	s.Release()
	var rest string
	for {
		chunk, err := c.chunk()
		if err != nil {
			t.Fatal(err)
		}
		if chunk == "" {
			break
		}
		rest += chunk
	}
	if !strings.HasSuffix(rest, "data: [DONE]\n\n") {
		t.Errorf("after the release: %q", rest)
	}
}

// TestClientGoes: a client that hangs up ends what hangs, and that is seen.
func TestClientGoes(t *testing.T) {
	s := scripted(t, `{"hang":true,"at":"connection"}`, `{"text":"a","hang":true}`)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/chat/completions", strings.NewReader(streamed))
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan error)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			gone <- err
		}()
		if _, err := s.Wait(t.Context(), hanging(1)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-gone; err == nil {
			t.Error("the client was answered")
		}
		if _, err := s.Wait(t.Context(), hanging(0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Calls() {
		if r.State != StateGone || r.Ended.IsZero() {
			t.Errorf("request %d: %s", r.Number, r.State)
		}
	}
}

// TestCloseEndsWhatHangs: Close returns although nobody releases or reads.
func TestCloseEndsWhatHangs(t *testing.T) {
	s, err := Start(Config{Script: []byte(`{"text":"a","hang":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	c := post(t, s, streamed)
	if _, err := s.Wait(t.Context(), hanging(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := c.all(); got.ending == "end" {
		t.Errorf("ends by %s: %q", got.ending, got.body())
	}
	if calls := s.Calls(); calls[0].State != StateGone {
		t.Errorf("recorded as %s", calls[0].State)
	}
}

// hanging is enough when exactly n requests hang.
func hanging(n int) func([]Request) bool {
	return func(list []Request) bool {
		hang := 0
		for _, r := range list {
			if r.State == StateHanging {
				hang++
			}
		}
		return hang == n
	}
}

// TestStatus: failures that come instead of a stream.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		reply  string
		status int
		header map[string]string
		body   string
	}{
		{`{"status":429,"headers":{"Retry-After":"2","x-should-retry":"true"},"body":"{\"error\":{}}"}`, 429, map[string]string{"Retry-After": "2", "X-Should-Retry": "true", "Content-Type": "application/json"}, `{"error":{}}`},
		{`{"status":401}`, 401, map[string]string{"Content-Type": "application/json"}, `{"error":{"message":"scripted status 401","type":"authentication_error","param":null,"code":null}}`},
		{`{"status":402,"body":""}`, 402, map[string]string{"Content-Length": "0"}, ""},
		{`{"status":404,"body":"no such model"}`, 404, map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "no such model"},
		{`{"status":529}`, 529, nil, `{"error":{"message":"scripted status 529","type":"server_error","param":null,"code":null}}`},
		{`{"status":200,"body":"<html>log in</html>"}`, 200, map[string]string{"Content-Type": "text/html; charset=utf-8"}, "<html>log in</html>"},
		{`{"status":503,"body":"<html>","headers":{"content-type":"text/plain"}}`, 503, map[string]string{"Content-Type": "text/plain"}, "<html>"},
	} {
		got := ask(t, scripted(t, c.reply))
		if got.status != c.status || got.body() != c.body || got.ending != "end" {
			t.Errorf("%s: %d, ends by %s, %q", c.reply, got.status, got.ending, got.body())
		}
		for name, want := range c.header {
			if value := got.header.Get(name); value != want {
				t.Errorf("%s: %s is %q", c.reply, name, value)
			}
		}
	}
}
