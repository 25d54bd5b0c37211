package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// inTime makes one call to a server on the other side of a net.Pipe, in time that passes by itself. It returns how long the
// call took.
func inTime(t *testing.T, limits Limits, serve http.HandlerFunc, check func(o outcome, took time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else the server does not notice that the client goes
			serve(w, r)
		})}
		go server.Serve(l)
		transport := NewTransport(limits)
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			l.conns <- there
			return here, nil
		}
		c, err := New(Config{BaseURL: "http://pipe", Model: "m", Limits: limits, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		o := ask(c, t.Context(), &model.Request{})
		took := time.Since(start)
		transport.CloseIdleConnections()
		server.Close()
		check(o, took)
	})
}

type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// every writes a piece again and again until the client has gone.
func every(d time.Duration, first, again string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pieces(first)(w, r)
		for again != "" {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(d):
			}
			io.WriteString(w, again)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		serve   http.HandlerFunc
		message string
		took    time.Duration
	}{
		"no byte": {every(0, text("a"), ""), "pipe sent nothing for 2m0s", 2 * time.Minute},
		"comments keep it alive, but not for ever": {every(time.Minute, text("a"), ": keep-alive\n\n"), "pipe kept the stream open for 10m0s without sending data", 10 * time.Minute},
		"no answer": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "pipe did not answer in time: net/http: timeout awaiting response headers", 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, Limits{}, test.serve, func(o outcome, took time.Duration) {
				e, ok := o.err.(*model.Error)
				if !ok || e.Error() != test.message || !e.Silent || !e.Retryable() || took != test.took {
					t.Errorf("%v after %v", o.err, took)
				}
			})
		})
	}
}

func TestLongWaits(t *testing.T) {
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		took  time.Duration
	}{
		"comments, then data": {func(w http.ResponseWriter, r *http.Request) {
			for range 9 {
				pieces(": keep-alive\n\n")(w, r)
				time.Sleep(time.Minute)
			}
			pieces(text("a"), finish("stop"), end)(w, r)
		}, 9 * time.Minute},
		"slow data": {func(w http.ResponseWriter, r *http.Request) {
			for range 60 {
				pieces(delta(`"reasoning_content":"x"`))(w, r)
				time.Sleep(time.Minute)
			}
			pieces(text("a"), finish("stop"), end)(w, r)
		}, time.Hour},
		"a slow beginning": {func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(9 * time.Minute)
			pieces(text("a"), finish("stop"), end)(w, r)
		}, 9 * time.Minute},
		"usage, but no end": {func(w http.ResponseWriter, r *http.Request) {
			pieces(text("a"), finish("stop"))(w, r)
			time.Sleep(5 * time.Second)
			pieces(`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\n")(w, r)
			every(time.Second, "", ": keep-alive\n\n")(w, r)
		}, 15 * time.Second},
		"the reason on every chunk, with pauses": {func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				pieces(strings.ReplaceAll(text(""), `"delta":{"content":""}`, `"delta":{"reasoning":"x"},"finish_reason":"stop"`))(w, r)
				time.Sleep(time.Minute)
			}
			pieces(text("a"), end)(w, r)
		}, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, Limits{}, test.serve, func(o outcome, took time.Duration) {
				if o.err != nil || o.text != "a" || o.result.Finish != "stop" || took != test.took {
					t.Errorf("%+v after %v", o, took)
				}
			})
		})
	}
}
