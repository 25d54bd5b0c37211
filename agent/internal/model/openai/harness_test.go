package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint is a provider that answers as a test tells it to, over real connections.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
}

type request struct {
	method, path, query, body string
	header                    http.Header
}

func serve(t *testing.T, answer http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.requests = append(e.requests, request{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header})
		e.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) seen() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests
}

// pieces answers with an event stream whose pieces are sent one by one.
func pieces(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, piece := range list {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
}

// client is a client of the endpoint.
func (e *endpoint) client(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.BaseURL == "" {
		cfg.BaseURL = e.URL
	}
	if cfg.Model == "" {
		cfg.Model = "some-model"
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// outcome is what a stream gave.
type outcome struct {
	thought, text string
	deltas        []model.Delta
	result        model.Result
	err           error
}

func ask(c *Client, ctx context.Context, req *model.Request) (o outcome) {
	o.result, o.err = c.Stream(ctx, req, func(d model.Delta) error {
		o.deltas = append(o.deltas, d)
		o.thought += d.Thought
		o.text += d.Text
		return nil
	})
	return o
}

// play makes one call that the endpoint answers with the pieces.
func play(t *testing.T, cfg Config, list ...string) outcome {
	t.Helper()
	return ask(serve(t, pieces(list...)).client(t, cfg), t.Context(), &model.Request{})
}

// everyCut calls check with the outcome of the script sent whole, byte by byte, and cut in two at each byte.
func everyCut(t *testing.T, cfg Config, script string, check func(t *testing.T, o outcome)) {
	t.Helper()
	var list []string
	e := serve(t, func(w http.ResponseWriter, r *http.Request) { pieces(list...)(w, r) })
	c := e.client(t, cfg)
	try := func(parts ...string) {
		list = parts
		check(t, ask(c, t.Context(), &model.Request{}))
		if t.Failed() {
			t.Fatalf("sent as %q", parts)
		}
	}
	try(script)
	bytes := make([]string, len(script))
	for i := range len(script) {
		bytes[i] = script[i : i+1]
	}
	try(bytes...)
	for i := 1; i < len(script); i++ {
		try(script[:i], script[i:])
	}
}

func delta(members string) string {
	return `data: {"choices":[{"index":0,"delta":{` + members + `}}]}` + "\n\n"
}

func text(s string) string { return delta(`"content":"` + s + `"`) }

func finish(word string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}` + "\n\n"
}

const end = "data: [DONE]\n\n"

// decode reads a script without a connection.
func decode(t *testing.T, d Dialect, script string) (o outcome) {
	t.Helper()
	return decodeFrom(t, d, strings.NewReader(script))
}

func decodeFrom(t testing.TB, d Dialect, r io.Reader) (o outcome) {
	t.Helper()
	w := newWatch(Limits{}.complete(), func(error) {})
	defer w.stop()
	a := newAnswer(d, func(delta model.Delta) error {
		o.deltas = append(o.deltas, delta)
		o.thought += delta.Thought
		o.text += delta.Text
		return nil
	})
	if o.err = a.read(newEvents(w.reader(r)), w); o.err == nil {
		o.result, o.err = a.result()
	}
	return o
}
