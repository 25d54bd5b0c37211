package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// get is a request by an ordinary client: status and body.
func get(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status[:3] + " " + string(data)
}

// TestRecord: every byte of a request, in order, and no key.
func TestRecord(t *testing.T) {
	s := scripted(t, `{"text":"a"}`, `{"status":500}`, `{"text":"b"}`)
	bodies := []string{streamed, "{\"messages\": [] ,\n \"model\":\"é\"}", "\xff no JSON"}
	for _, body := range bodies {
		post(t, s, body).all()
	}
	list := s.Requests()
	for i, r := range list {
		if string(r.Body) != bodies[i] || r.Number != i+1 || r.Method != "POST" || r.Path != "/v1/chat/completions" || r.Wire != "chat" ||
			r.State != StateDone || r.Received.IsZero() || r.Ended.Before(r.Received) || r.Reply != i+1 {
			t.Errorf("%+v", r)
		}
		if r.Key != Fingerprint("sk-test") || r.Header.Get("Authorization") != "Bearer "+r.Key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("key %q, headers %v", r.Key, r.Header)
		}
	}
	if list[1].Model != "é" || Fingerprint("sk-test") == Fingerprint("sk-tess") {
		t.Error(list[1].Model)
	}

	got, ok := strings.CutPrefix(get(t, "GET", s.URL()+"/_requests?calls=3", ""), "200 ")
	var shown []struct {
		Number, Reply         int
		Method, Path, Key     string
		State, Source, Model  string
		Headers               map[string][]string
		Body                  *string
		BodyBase64            []byte
		Received, Ended, Wire string
	}
	if err := json.Unmarshal([]byte(got), &shown); err != nil || !ok || len(shown) != 3 {
		t.Fatal(err, got)
	}
	if *shown[1].Body != bodies[1] || shown[2].Body != nil || string(shown[2].BodyBase64) != bodies[2] || shown[0].State != "done" || shown[0].Source != "script" || shown[2].Reply != 3 {
		t.Errorf("%+v", shown)
	}
	if strings.Contains(got, "sk-test") {
		t.Error("the record shows a key")
	}
	if got := get(t, "DELETE", s.URL()+"/_requests", ""); got != "200 {}\n" || len(s.Requests()) != 0 {
		t.Error(got)
	}
}

// TestKeys: wherever a key stands, it is recognised and not shown.
func TestKeys(t *testing.T) {
	s := start(t, Config{})
	for _, header := range []string{"api-key", "x-api-key", "x-goog-api-key", "?key=", ""} {
		url := s.URL() + "/models"
		if strings.HasPrefix(header, "?") {
			url += header + "sk-1&alt=sse"
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" && header[0] != '?' {
			req.Header.Set(header, "sk-1")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		list := s.Requests()
		r := list[len(list)-1]
		if want := Fingerprint("sk-1"); header != "" && r.Key != want || header == "" && r.Key != "" {
			t.Errorf("%s: key %q", header, r.Key)
		}
		if shown, err := json.Marshal(r); err != nil || strings.Contains(string(shown), "sk-1") {
			t.Errorf("%v %s", err, shown)
		}
		if header == "?key=" && !strings.Contains(r.Path, "alt=sse") {
			t.Error(r.Path)
		}
	}
}

// TestControl: a test in another language does by HTTP what Go does by methods.
func TestControl(t *testing.T) {
	s := start(t, Config{})
	if got := get(t, "POST", s.URL()+"/_script", "{\"text\":\"a\",\"hang\":true}\n{\"text\":\"b\",\"hang\":true}"); got != "200 {}\n" {
		t.Fatal(got)
	}
	if got := get(t, "POST", s.URL()+"/_script", `{"text":1}`); !strings.HasPrefix(got, "400 script: line 1: ") {
		t.Error(got)
	}
	answers := make(chan seen)
	for range 2 {
		c := post(t, s, streamed)
		go func() { answers <- c.all() }()
	}
	if got := get(t, "GET", s.URL()+"/_requests?calls=2&hanging=2", ""); strings.Count(got, `"state":"hanging"`) != 2 {
		t.Error(got)
	}
	for _, c := range []struct{ query, want string }{
		{"?number=x", "400 number=x is no number\n"}, {"?number=7", "200 {\"released\":0}\n"}, {"?number=1", "200 {\"released\":1}\n"}, {"", "200 {\"released\":1}\n"},
	} {
		if got := get(t, "POST", s.URL()+"/_release"+c.query, ""); got != c.want {
			t.Errorf("%s: %s", c.query, got)
		}
	}
	for range 2 {
		if got := <-answers; got.ending != "end" {
			t.Errorf("ends by %s", got.ending)
		}
	}
}

// TestLoopbackOnly unless more is asked for.
func TestLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "nothing"} {
		if s, err := Start(Config{Addr: addr}); err == nil {
			s.Close()
			t.Errorf("%s is listened on", addr)
		}
	}
	start(t, Config{Addr: "localhost:0"})
	start(t, Config{Addr: "0.0.0.0:0", Public: true})
}
