package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Config says what a server answers. The zero value answers "ok" on a port of 127.0.0.1 that is free.
type Config struct {
	Addr   string // host:port to listen on; "" is 127.0.0.1:0
	Public bool   // Addr may be reachable from other machines; otherwise only a loopback address is accepted

	Script  []byte                 // JSON lines; nil is no script, while an empty one has no reply for any call
	Handler func(r Request) *Reply // asked before any script; nil is no opinion. Calls are serial, and it must not call the server
	Models  []string               // what GET …/models lists; nil is "fake-model"
}

// maxBody is how much of a request is read.
const maxBody = 64 << 20

// Server is a fake model server on a real socket.
type Server struct {
	cfg    Config
	url    string
	wires  []wire
	http   *http.Server
	ctx    context.Context // ends what hangs
	cancel context.CancelFunc
	done   sync.WaitGroup // Serve, and every request

	mu      sync.Mutex // guards what follows, and the entries
	entries []*entry
	number  int // of the last request
	changed chan struct{}
	script  []Reply
	played  int // of script
	prompts prompts
	closed  bool
}

// Start starts a server, which listens when Start returns. An error is a script that cannot be read or an address that
// cannot be had.
func Start(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, wires: wires(), changed: make(chan struct{}), prompts: prompts{}}
	if cfg.Script != nil {
		if err := s.SetScript(cfg.Script); err != nil {
			return nil, err
		}
	}
	addr := cfg.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if err := local(addr); err != nil && !cfg.Public {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), BaseContext: func(net.Listener) context.Context { return s.ctx }}
	s.done.Go(func() { _ = s.http.Serve(l) })
	return s, nil
}

// local makes an error of an address that is not on the loopback interface alone. Names are not looked up.
func local(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not a loopback address: others could reach the server, which asks nobody who he is", addr)
}

// URL is the base URL, without a slash at its end: http://127.0.0.1:41234. A path such as /v1 may be put behind it.
func (s *Server) URL() string { return s.url }

// SetScript replaces the script by JSON lines; the next call gets the first of them.
func (s *Server) SetScript(src []byte) error {
	replies, err := ParseScript(src)
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.played = replies, 0
	return nil
}

// Close ends the server and every answer that is under way, and returns when all is over.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	err := s.http.Close()
	s.done.Wait()
	return err
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.done.Done()
	if strings.HasPrefix(r.URL.Path, "/_") {
		s.control(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	e, a := s.admit(r, body, err)
	if a == nil {
		return // the client went while it sent
	}
	d := &delivery{answer: a, ctx: r.Context(), w: w, flush: http.NewResponseController(w).Flush, let: e.let, state: func(st State) { s.setState(e, st) }}
	state := d.run()
	s.setState(e, state)
	if state == StateGone {
		panic(http.ErrAbortHandler) // or the body would seem to end properly to whoever still reads it
	}
}

// enter counts a request in, unless the server is being closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.done.Add(1)
	return true
}

// admit records a request and finds its answer, both in one step, so that the order of the record is the order of the
// script. The answer is nil if the request has not arrived in full.
func (s *Server) admit(r *http.Request, body []byte, err error) (*entry, *answer) {
	e := &entry{Request: newRequest(r, body), let: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	e.Number = s.number
	s.entries = append(s.entries, e)
	defer s.notify()
	var tooLarge *http.MaxBytesError
	switch at := slices.IndexFunc(s.wires, func(w wire) bool { return w.accepts(r.URL.Path) }); {
	case errors.As(err, &tooLarge):
		return e, failure(chat{}, http.StatusRequestEntityTooLarge, "the request is too large")
	case err != nil:
		e.State, e.Ended = StateGone, e.Received
		return e, nil
	case at >= 0 && r.Method == http.MethodPost:
		return e, s.modelCall(s.wires[at], e, r.URL.Path)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		return e, short(http.StatusOK, s.models())
	}
	return e, failure(chat{}, http.StatusNotFound, "nothing is served at "+r.Method+" "+r.URL.Path)
}

// modelCall is the part of admit that chooses a reply. The lock is held.
func (s *Server) modelCall(w wire, e *entry, path string) *answer {
	c := w.read(path, e.Body)
	c.number = e.Number
	e.Wire, e.Model = w.name(), c.model
	reply, err := s.choose(e, &c)
	if err != nil {
		return failure(w, http.StatusBadRequest, "acpconform provider: "+err.Error())
	}
	return answerTo(w, &c, reply)
}

// short is a JSON answer that no script asks for.
func short(status int, body []byte) *answer {
	a := &answer{status: status, header: map[string]string{"Content-Type": "application/json"}}
	a.single(body)
	return a
}

func failure(w wire, status int, message string) *answer {
	return short(status, w.failure(status, message))
}

func (s *Server) models() []byte {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int    `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	ids := s.cfg.Models
	if ids == nil {
		ids = []string{"fake-model"}
	}
	list := []model{}
	for _, id := range ids {
		list = append(list, model{id, "model", 1, "fake"})
	}
	return marshal(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", list})
}
