package openai

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
)

const key = "sk-0123456789abcdef0123456789abcdef"

func withKey() string { return key }

// failure is the *model.Error of an outcome; it never holds the key.
func failure(t *testing.T, err error) *model.Error {
	t.Helper()
	e, ok := err.(*model.Error)
	if !ok {
		t.Fatalf("%T %v", err, err)
	}
	if strings.Contains(e.Error()+e.Body, key) || strings.Contains(e.Error()+e.Body, "0123456789abcdef") {
		t.Errorf("the key is shown: %v", e)
	}
	return e
}

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		status  int
		headers map[string]string
		body    string
		message string
		check   func(*model.Error) bool
	}{
		{401, nil, `{"error":{"message":"Your api key: ****cdef is invalid","code":"invalid_request_error"}}`, "the provider answered 401: Your api key: [redacted] is invalid",
			func(e *model.Error) bool { return e.KeyRefused() && !e.Retryable() }},
		{401, nil, "bad key " + key, "the provider answered 401: bad key [redacted]", (*model.Error).KeyRefused},
		{403, nil, `{"error":{"message":"region"}}`, "the provider answered 403: region", (*model.Error).Forbidden},
		{402, nil, `{"error":{"message":"Insufficient Balance"}}`, "the provider answered 402: Insufficient Balance", (*model.Error).OutOfFunds},
		{404, nil, `{"error":{"message":"no such model"}}`, "the provider answered 404: no such model", (*model.Error).NotFound},
		{404, map[string]string{"Content-Type": "text/html"}, "<html>\n<h1>Not\n Found</h1>", "the provider answered 404 with a web page: <html> <h1>Not Found</h1>", (*model.Error).NotFound},
		{502, map[string]string{"Content-Type": "text/html"}, "<html>", "the provider answered 502 with a web page: <html>", (*model.Error).Retryable},
		{429, map[string]string{"Retry-After": "7", "X-Should-Retry": "true"}, `{"error":{"code":"rate_limit_exceeded","message":"slow"}}`, "the provider answered 429: slow",
			func(e *model.Error) bool {
				wait, ok := e.RetryAfter()
				return e.RateLimited() && e.Retryable() && ok && wait == 7*time.Second
			}},
		{429, map[string]string{"retry-after-ms": "250"}, ``, "the provider answered 429", func(e *model.Error) bool { wait, _ := e.RetryAfter(); return wait == 250*time.Millisecond }},
		{503, nil, `{"error":{"code":"server_is_overloaded","message":"busy"}}`, "the provider answered 503: busy", (*model.Error).Retryable},
		{400, nil, strings.Repeat("€", 1<<20), "", func(e *model.Error) bool { return len(e.Body) <= maxBody+3 && !e.Retryable() }},
		{201, nil, `{}`, "the provider answered 201: {}", func(e *model.Error) bool { return !e.Retryable() }},
	} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for name, value := range test.headers {
				w.Header().Set(name, value)
			}
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		})
		got := failure(t, ask(e.client(t, Config{Key: withKey}), t.Context(), &model.Request{}).err)
		if got.Status != test.status || test.message != "" && got.Error() != test.message || !test.check(got) {
			t.Errorf("%d: %q %+v", test.status, got.Error(), got.Headers)
		}
		if len(e.seen()) != 1 {
			t.Errorf("%d: %d requests", test.status, len(e.seen()))
		}
	}
}

func TestContentType(t *testing.T) {
	good := text("a") + finish("stop") + end
	for _, test := range []struct{ kind, body, message string }{
		{"text/event-stream", good, ""},
		{"Text/Event-Stream; charset=utf-8", good, ""},
		{"application/json", good, ""},
		{"", "\n: hello\n\n" + good, ""},
		{"application/octet-stream", "\uFEFFevent: x\n" + good, ""},
		{"text/html; charset=utf-8", "<html>Log in\n with " + key + "</html>", "URL answered with text/html instead of an event stream; is base_url right? It begins: <html>Log in with [redacted]</html>"},
		{"text/html", good, "URL answered with text/html instead of an event stream; is base_url right? It begins: data: {"},
		{"text/plain", strings.Repeat("x", 1<<20), "URL answered with text/plain instead of an event stream; is base_url right? It begins: xxx"},
		{"application/json", `{"choices":[{"message":{"content":"whole"}}]}`, "URL answered with application/json instead of an event stream"},
		{"application/json", `{"error":{"message":"not today","code":"slow_down"}}`, "the provider answered 200: not today"},
		{"application/json", "", "URL answered with application/json instead of an event stream; is base_url right?"},
	} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = []string{test.kind}
			io.WriteString(w, test.body)
		})
		o := ask(e.client(t, Config{Key: withKey}), t.Context(), &model.Request{})
		if test.message == "" {
			if o.err != nil || o.text != "a" {
				t.Errorf("%q: %+v", test.kind, o)
			}
			continue
		}
		got := failure(t, o.err)
		if want := strings.ReplaceAll(test.message, "URL", e.URL); !strings.HasPrefix(got.Error(), want) || len(got.Error()) > 1024 {
			t.Errorf("%q: %q\nwant %q", test.kind, got.Error(), want)
		}
	}
}

func TestKeyAndHeaders(t *testing.T) {
	// Nothing of this is ours to read.
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "DEEPSEEK_API_KEY"} {
		t.Setenv(name, "from-the-environment")
	}
	e := serve(t, pieces(text("a")+finish("stop")+end))
	current := ""
	c := e.client(t, Config{BaseURL: e.URL + "/v1/?api-version=3", Key: func() string { return current }, Headers: map[string]string{"X-Title": "me"}})
	for _, next := range []string{"", "first", " second\n"} {
		current = next
		if o := ask(c, t.Context(), &model.Request{}); o.err != nil {
			t.Fatal(o.err)
		}
	}
	current = "new\nline"
	if got := failure(t, ask(c, t.Context(), &model.Request{}).err); !strings.Contains(got.Error(), "characters") || strings.Contains(got.Error(), "new") || got.Retryable() {
		t.Error(got)
	}
	seen := e.seen()
	for i, want := range []string{"", "Bearer first", "Bearer second"} {
		r := seen[i]
		if r.header.Get("Authorization") != want || r.path != "/v1/chat/completions" || r.query != "api-version=3" || r.method != "POST" ||
			r.header.Get("Content-Type") != "application/json" || r.header.Get("Accept") != "text/event-stream" || r.header.Get("X-Title") != "me" || r.header.Get("User-Agent") != "acpkit" {
			t.Errorf("%+v", r)
		}
		for name, values := range r.header {
			if strings.Contains(strings.Join(values, " "), "from-the-environment") {
				t.Errorf("%s: %s", name, values)
			}
		}
	}
	c = e.client(t, Config{Key: withKey, Dialect: &mimo})
	ask(c, t.Context(), &model.Request{})
	if r := e.seen()[3]; r.header.Get("Api-Key") != key || r.header.Get("Authorization") != "" {
		t.Errorf("%+v", r)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{Model: "m"}, {BaseURL: "ftp://h", Model: "m"}, {BaseURL: "https://", Model: "m"}, {BaseURL: "https://me:" + key + "@h", Model: "m"}, {BaseURL: "https://h"},
		{BaseURL: "https://h", Model: "m", ExtraBody: map[string]json.RawMessage{"x": []byte("{")}}, {BaseURL: "https://h", Model: "m", Headers: map[string]string{"a b": key}},
		{BaseURL: "https://h", Model: "m", Headers: map[string]string{"a": key + "\n"}}, {BaseURL: "https://h\x7f" + key, Model: "m"},
	} {
		if c, err := New(cfg); err == nil || c != nil || strings.Contains(err.Error(), key) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestRedirect(t *testing.T) {
	var stolen atomic.Int32
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { stolen.Add(1) })
	target, status := "", 0
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved/chat/completions" {
			pieces(text("a")+finish("stop")+end)(w, r)
			return
		}
		http.Redirect(w, r, target, status)
	})
	c := e.client(t, Config{Key: withKey})
	for _, status = range []int{301, 302, 303, 307, 308} {
		target = other.URL + "/chat/completions?token=abc"
		got := failure(t, ask(c, t.Context(), &model.Request{}).err)
		if got.Status != status || got.Retryable() || !strings.Contains(got.Error(), other.URL+"/chat/completions") || strings.Contains(got.Error(), "abc") {
			t.Error(got)
		}
		target = "/moved/chat/completions"
		o := ask(c, t.Context(), &model.Request{})
		if same := status >= 307; same != (o.err == nil) { // the others turn the request into a GET
			t.Errorf("%d: %v", status, o.err)
		}
	}
	target = "/again" // for ever
	failure(t, ask(c, t.Context(), &model.Request{}).err)
	if stolen.Load() != 0 {
		t.Error("the key went to another host")
	}
}

func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	hangUp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp.Close()
	go func() {
		for {
			conn, err := hangUp.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plainServer := serve(t, http.NotFound)
	for name, test := range map[string]struct {
		base, message string
		retry         bool
	}{
		"nobody listens": {"http://" + closed.Addr().String() + "/?token=" + key, "cannot reach " + closed.Addr().String() + ": ", true},
		"hangs up":       {"http://" + hangUp.Addr().String(), "cannot reach " + hangUp.Addr().String() + ": ", true},
		"no such host":   {"http://does-not-exist.invalid", "cannot reach does-not-exist.invalid: ", true},
		"certificate":    {secure.URL, "no secure connection to " + secure.Listener.Addr().String() + ": ", false},
		"not TLS":        {strings.Replace(plainServer.URL, "http:", "https:", 1), "no secure connection to ", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(Config{BaseURL: test.base, Model: "m", Key: withKey})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			got := failure(t, ask(c, t.Context(), &model.Request{}).err)
			if !got.Unreachable || !strings.HasPrefix(got.Error(), test.message) || test.retry != got.Retryable() || got.Err == nil {
				t.Errorf("%v, retry %t", got, got.Retryable())
			}
		})
	}
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(pieces(text("a"), text("b"), finish("stop")+end))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	transport := NewTransport(Limits{})
	transport.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	defer transport.CloseIdleConnections()
	c, err := New(Config{BaseURL: s.URL, Model: "m", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	if o := ask(c, t.Context(), &model.Request{}); o.err != nil || o.text != "ab" {
		t.Errorf("%+v", o)
	}
}

func TestProxy(t *testing.T) {
	proxy := serve(t, pieces(text("by proxy")+finish("stop")+end))
	transport := NewTransport(Limits{})
	// net/http reads the variables once in a process, so what they would give is set here.
	if transport.Proxy == nil {
		t.Fatal("no proxy")
	}
	to, _ := url.Parse(proxy.URL)
	transport.Proxy = http.ProxyURL(to)
	defer transport.CloseIdleConnections()
	c, err := New(Config{BaseURL: "http://somewhere.invalid/v1", Model: "m", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	if o := ask(c, t.Context(), &model.Request{}); o.err != nil || o.text != "by proxy" {
		t.Errorf("%+v", o)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(pieces(text("a"), finish("stop"), end))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	transport := NewTransport(Limits{})
	defer transport.CloseIdleConnections()
	for range 3 {
		c, err := New(Config{BaseURL: s.URL, Model: "m", Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if o := ask(c, t.Context(), &model.Request{}); o.err != nil {
				t.Fatal(o.err)
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 9 calls", n)
	}
}

// A server that keeps the stream open behind its end does not keep the caller.
func TestOpenEnd(t *testing.T) {
	for _, script := range []string{text("a") + finish("stop") + end, text("a") + finish("stop")} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			pieces(script)(w, r)
			<-r.Context().Done()
		})
		o := ask(e.client(t, Config{Limits: Limits{Tail: 10 * time.Millisecond}}), t.Context(), &model.Request{})
		if o.err != nil || o.text != "a" || o.result.Finish != "stop" {
			t.Errorf("%+v", o)
		}
	}
}

func TestCancel(t *testing.T) {
	for name, script := range map[string][]string{"before the answer": nil, "in the stream": {text("a")}, "on a comment": {": x\n\n"}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if script != nil {
					pieces(script...)(w, r)
				}
				cancel()
				<-r.Context().Done()
			})
			if o := ask(e.client(t, Config{}), ctx, &model.Request{}); o.err != context.Canceled {
				t.Errorf("%+v", o)
			}
		})
	}
	t.Run("in emit", func(t *testing.T) {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			pieces(text("a"), text("b"))(w, r)
			<-r.Context().Done()
		})
		full := errors.New("full")
		n := 0
		_, err := e.client(t, Config{}).Stream(t.Context(), &model.Request{}, func(model.Delta) error { n++; return full })
		if err != full || n != 1 {
			t.Error(err, n)
		}
	})
}

func TestBrokenConnection(t *testing.T) {
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		pieces(text("half"))(w, r)
		panic(http.ErrAbortHandler)
	})
	o := ask(e.client(t, Config{}), t.Context(), &model.Request{})
	if got := failure(t, o.err); !got.Cut || !got.Retryable() || o.text != "half" || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("%+v", got)
	}
}
