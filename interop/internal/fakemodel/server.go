package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/acpkit/generated/script"
)

// Server plays a Script over HTTP, on loopback. As it is meant to be the only address that an agent in a test knows, it
// also takes the part of a proxy: whoever wants to reach anything else asks it, is refused, and that is a fault.
type Server struct {
	URL    string // without a slash at its end; the base URL of the provider, and the address of the proxy
	script *Script
	http   *http.Server
	closed chan struct{} // ends what hangs
	close  func() error  // closes closed, once

	mu     sync.Mutex
	faults []string // guarded by mu
}

// Serve starts a server; Close ends it.
func Serve(s *Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &Server{URL: "http://" + l.Addr().String(), script: s, closed: make(chan struct{})}
	server.close = sync.OnceValue(func() error {
		close(server.closed)
		return server.http.Close()
	})
	server.http = &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.http.Serve(l) }() // ends with Close
	return server, nil
}

// Close ends the server and every answer that is still being given.
func (s *Server) Close() error { return s.close() }

// Faults are the requests that no reply was there for.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.faults...)
}

// ServeHTTP answers one call of a model.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply, stream, err := s.choose(r)
	if err != nil {
		s.mu.Lock()
		s.faults = append(s.faults, err.Error())
		s.mu.Unlock()
		fail(w, http.StatusBadRequest, err.Error()) // not repeated by clients, as a 500 would be
		return
	}
	if reply.Status != nil {
		for name, value := range reply.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(int(*reply.Status))
		_, _ = io.WriteString(w, or(reply.Body, ""))
		return
	}
	if !stream {
		fail(w, http.StatusBadRequest, "this server only streams")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.play(writer{w, r.Context().Done(), s.closed}, reply)
}

func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
}

func (s *Server) choose(r *http.Request) (reply script.Reply, stream bool, err error) {
	if r.Method != http.MethodPost || r.URL.IsAbs() || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return reply, false, fmt.Errorf("nobody serves %s %s", r.Method, r.URL)
	}
	var body struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return reply, false, fmt.Errorf("the request is no JSON: %w", err)
	}
	var messages []message
	for _, m := range body.Messages {
		messages = append(messages, message{m.Role, text(m.Content)})
	}
	reply, err = s.script.reply(messages)
	return reply, body.Stream, err
}

// text joins a content, which is a string, null or a list of parts.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts) // what is neither holds no prompt
	for _, p := range parts {
		s += p.Text + "\n"
	}
	return s
}

// play streams one reply.
func (s *Server) play(w writer, r script.Reply) {
	w.delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, kind := range []struct{ member, text string }{{"reasoning_content", or(r.Think, "")}, {"content", or(r.Text, "")}} {
		for _, piece := range pieces(kind.text, or(r.Chunks, 1)) {
			if !w.wait(time.Duration(or(r.DelayMS, 0)) * time.Millisecond) {
				return
			}
			w.delta(map[string]any{kind.member: piece}, nil)
		}
	}
	if r.Hang {
		w.wait(-1)
		return
	}
	if r.Cut {
		panic(http.ErrAbortHandler) // breaks the connection off
	}
	finish := "stop"
	for i, t := range r.Tools {
		finish = "tool_calls"
		w.delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": *t.ID, "type": "function",
			"function": map[string]any{"name": t.Name, "arguments": arguments(t.Args)}}}}, nil)
	}
	if r.Finish != nil {
		finish = string(*r.Finish)
	}
	w.delta(map[string]any{}, finish)
	if r.Usage != nil {
		w.event(map[string]any{"choices": []any{}, "usage": usage(*r.Usage)})
	}
	w.line("[DONE]")
}

// usage is as DeepSeek reports it.
func usage(u script.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_cache_hit_tokens": u.Cached, "prompt_cache_miss_tokens": u.Input - u.Cached,
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

// arguments are a text: that of a JSON string, or the JSON as it stands.
func arguments(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0:
		return "{}"
	case json.Unmarshal(raw, &s) == nil:
		return s
	}
	return string(raw)
}

// writer writes an event stream. Errors of the connection show as gone.
type writer struct {
	http.ResponseWriter
	gone, closed <-chan struct{}
}

// wait waits; a negative time is as long as the client stays. It is false when the client has gone.
func (w writer) wait(d time.Duration) bool {
	var over <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return true
	case <-w.gone:
	case <-w.closed:
	}
	return false
}

func (w writer) delta(delta map[string]any, finish any) {
	w.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (w writer) event(members map[string]any) {
	members["id"], members["object"], members["created"], members["model"] = "chatcmpl-1", "chat.completion.chunk", 1, "fake"
	data, err := json.Marshal(members)
	if err != nil {
		panic(err) // only values that can be encoded are given
	}
	w.line(string(data))
}

func (w writer) line(data string) {
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}
