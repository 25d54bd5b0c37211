package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Request is what was recorded of one request. Requests are numbered from 1 in the order in which they had arrived in full.
type Request struct {
	Number   int
	Received time.Time
	Ended    time.Time // zero while it is open
	Method   string
	Path     string      // with its query, keys in it replaced by fingerprints
	Header   http.Header // as sent, but keys replaced by fingerprints
	Key      string      // Fingerprint of the key, wherever it stood; "" without one
	Body     []byte      // every byte
	Wire     string      // "chat"; "" if it is no model call
	Model    string      // the model that was asked for
	Source   string      // who answered: "handler", "prompt", "script", "default"; "" for what has no reply
	Reply    int         // which reply of the script, from 1; 0 if Source is another
	State    State
}

// State is how far the answer to a request has come.
type State string

// The states of a request.
const (
	StateOpen    State = "open"    // being answered
	StateHanging State = "hanging" // silent, until it is released or the client goes
	StateDone    State = "done"    // answered to the end
	StateCut     State = "cut"     // broken off by its reply
	StateGone    State = "gone"    // the client went before the end
)

// Fingerprint stands for a key in the record, which may be shown to others: keys can be compared but not read.
func Fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// MarshalJSON is the form of GET /_requests: members in camelCase; body is a string, or bodyBase64 if it is not UTF-8.
func (r Request) MarshalJSON() ([]byte, error) {
	v := struct {
		Number   int         `json:"number"`
		Received time.Time   `json:"received"`
		Ended    *time.Time  `json:"ended,omitempty"`
		Method   string      `json:"method"`
		Path     string      `json:"path"`
		Headers  http.Header `json:"headers"`
		Key      string      `json:"key,omitempty"`
		Wire     string      `json:"wire,omitempty"`
		Model    string      `json:"model,omitempty"`
		Source   string      `json:"source,omitempty"`
		Reply    int         `json:"reply,omitempty"`
		State    State       `json:"state"`
		Body     *string     `json:"body,omitempty"`
		Base64   []byte      `json:"bodyBase64,omitempty"`
	}{Number: r.Number, Received: r.Received, Method: r.Method, Path: r.Path, Headers: r.Header, Key: r.Key, Wire: r.Wire, Model: r.Model,
		Source: r.Source, Reply: r.Reply, State: r.State}
	if !r.Ended.IsZero() {
		v.Ended = &r.Ended
	}
	if utf8.Valid(r.Body) {
		v.Body = new(string(r.Body))
	} else {
		v.Base64 = r.Body
	}
	return json.Marshal(v)
}

// entry is a request in the record. The server's lock guards what changes.
type entry struct {
	Request
	released bool
	let      chan struct{} // closed by a release
}

// newRequest copies what is recorded. Keys stay out of it.
func newRequest(r *http.Request, body []byte) Request {
	req := Request{Method: r.Method, Header: r.Header.Clone(), Body: body, Received: time.Now(), State: StateOpen}
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		for i, value := range req.Header[name] {
			scheme, key, found := strings.Cut(value, " ")
			if !found {
				scheme, key = "", value
			}
			req.Key = Fingerprint(key)
			req.Header[name][i] = strings.TrimSpace(scheme + " " + req.Key)
		}
	}
	u := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	if query := u.Query(); query.Get("key") != "" {
		req.Key = Fingerprint(query.Get("key"))
		query.Set("key", req.Key)
		u.RawQuery = query.Encode()
	}
	req.Path = u.String()
	return req
}

// Requests returns what has been recorded so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests()
}

func (s *Server) requests() []Request {
	list := make([]Request, len(s.entries))
	for i, e := range s.entries {
		list[i] = e.Request
	}
	return list
}

// Calls returns the model calls among the requests.
func (s *Server) Calls() []Request { return calls(s.Requests()) }

func calls(list []Request) []Request {
	return slices.DeleteFunc(list, func(r Request) bool { return r.Wire == "" })
}

// Wait returns the record as soon as enough says that it is enough, or the error of ctx.
func (s *Server) Wait(ctx context.Context, enough func([]Request) bool) ([]Request, error) {
	for {
		s.mu.Lock()
		list, changed := s.requests(), s.changed
		s.mu.Unlock()
		if enough(list) {
			return list, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return list, ctx.Err()
		case <-s.ctx.Done():
			return list, http.ErrServerClosed
		}
	}
}

// Release lets go the requests with these numbers, or all if none is named, and returns how many of them were hanging.
func (s *Server) Release(numbers ...int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.entries {
		if e.State == StateHanging && !e.released && (len(numbers) == 0 || slices.Contains(numbers, e.Number)) {
			e.released = true
			close(e.let)
			n++
		}
	}
	return n
}

// Forget empties the record, but for requests that are still open. Numbers go on.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = slices.DeleteFunc(s.entries, func(e *entry) bool { return !e.Ended.IsZero() })
	s.notify()
}

// setState is called by the goroutine that answers e.
func (s *Server) setState(e *entry, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.State = state
	if state != StateOpen && state != StateHanging {
		e.Ended = time.Now()
	}
	s.notify()
}

// notify wakes who waits. The lock is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}
