// Package host is a small ACP host (client): it launches an agent or talks to
// one over a pipe, answers what the agent asks, and collects what a session
// shows. It is for programs that drive an agent: a terminal front end, a test,
// an editor plug-in. It draws nothing and decides no permission by itself; it
// serves files or terminals only through the functions it is given.
//
// What it promises:
//
//   - updates reach the handler in wire order per session, none is lost, and a
//     slow handler slows the agent down instead of filling the memory;
//   - what it keeps of them by itself is bounded (Config.MaxRecord), for
//     sessions that nobody opened too;
//   - nothing waits for ever on an agent that hangs: Initialize, a cancelled
//     prompt and Close have limits, and say what is known of the agent;
//   - when the agent ends, every call fails at once with the reason;
//   - Close ends the agent and all that it has started.
//
// Requests and notifications of the agent that nobody here knows are answered
// "method not found" or passed over; an update that does not decode is logged
// and passed over. Neither ends a turn.
package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/rpc"
)

const (
	defaultMaxRecord         = 256 << 20
	defaultCancelGrace       = 30 * time.Second
	defaultInitializeTimeout = 2 * time.Minute
	defaultCloseGrace        = 10 * time.Second
)

// ErrNoAnswer is in the chain of the errors that say an agent hangs: it has not
// answered Initialize or a cancelled prompt, or has not closed its output, in
// time. Other sessions may still work; to start the agent anew is the safe way.
var ErrNoAnswer = errors.New("the agent does not answer")

// Config says who the host is and what it serves. The zero value works: every
// permission is then refused, and no files or terminals are offered.
type Config struct {
	// Info names the host to the agent. Default: name "acpkit", version "0".
	Info acp.Implementation
	// Handlers are the host's side of the protocol. SessionUpdate is called for
	// each update that decodes, in order per session, before the Session records
	// it; also for sessions that the Host does not know (yet). While it runs,
	// the updates behind it wait, and with them the answers behind those: calls
	// that it makes must have its context.
	// SessionRequestPermission is called with a context that ends when the
	// prompt is cancelled; the answer is then `cancelled` whatever it returns.
	// What stands here is what is advertised: fs and terminal methods.
	Handlers acp.ClientHandlers
	// Capabilities are advertised beside those that follow from Handlers.
	Capabilities acp.ClientCapabilities
	// MaxLine bounds a line from the agent; see rpc.Config.
	MaxLine int
	// MaxRecord bounds, in bytes, what is kept of the updates of a turn, of a
	// replay, between the turns of a session, and of all sessions together that
	// are not open yet. What goes beyond is counted; the SessionUpdate handler
	// gets it all the same. Default 256 MiB; with a negative bound nothing is
	// kept.
	MaxRecord int
	// CancelGrace is how long a cancelled prompt may take to be answered, which
	// the protocol promises. Default 30 s.
	CancelGrace time.Duration
	// InitializeTimeout is how long Initialize waits. Default 2 min, because a
	// package runner may have to download the agent first.
	InitializeTimeout time.Duration
	// CloseGrace is how long Close waits for the agent to close its output. A
	// Process has limits of its own, in Command. Default 10 s.
	CloseGrace time.Duration
	// Logger gets what is odd on the connection. Default: none.
	Logger *slog.Logger
}

// Host is the host's end of one connection.
type Host struct {
	// Agent has a typed call for each method of the agent.
	Agent acp.Agent

	conf     Config
	handlers acp.ClientHandlers // conf's, with our own where we have a part
	log      *slog.Logger
	diary    *diary
	conn     *rpc.Conn
	in       *input
	stop     context.CancelCauseFunc // ends the connection the hard way
	done     chan struct{}           // closed when the connection has ended
	err      error                   // why; set before done is closed
	closing  atomic.Bool
	close    func() error                          // closes once
	process  *Process                              // nil after Connect
	agent    atomic.Pointer[acp.AgentCapabilities] // nil before Initialize

	sessions registry
}

// Connect starts a host on a connection whose other end is an agent: it reads
// the agent's messages from r and writes to w. Close closes w. Where Close has
// to give the agent up, it ends a hanging Read of r by closing r.
func Connect(r io.Reader, w io.WriteCloser, c Config) *Host {
	h := newHost(r, w, c)
	h.start()
	return h
}

func newHost(r io.Reader, w io.WriteCloser, c Config) *Host {
	c.Info.Name = cmp.Or(c.Info.Name, "acpkit")
	c.Info.Version = cmp.Or(c.Info.Version, "0")
	c.MaxRecord = cmp.Or(c.MaxRecord, defaultMaxRecord)
	c.CancelGrace = cmp.Or(c.CancelGrace, defaultCancelGrace)
	c.InitializeTimeout = cmp.Or(c.InitializeTimeout, defaultInitializeTimeout)
	c.CloseGrace = cmp.Or(c.CloseGrace, defaultCloseGrace)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{conf: c, handlers: c.Handlers, done: make(chan struct{}), in: newInput(w)}
	h.diary = newDiary(c.Logger.Handler())
	h.log = slog.New(h.diary)
	h.sessions = registry{max: c.MaxRecord, log: h.log, open: map[acp.SessionID]*Session{}}
	h.handlers.SessionRequestPermission = h.permission
	h.close = sync.OnceValue(h.closeConn)
	h.conn = rpc.New(r, h.in, rpc.Config{Key: sessionKey, MaxLine: c.MaxLine, Logger: h.log, Handler: h.handle})
	h.Agent = acp.Agent{Caller: caller{h}}
	return h
}

func (h *Host) start() {
	ctx, cancel := context.WithCancelCause(context.Background())
	h.stop = cancel
	go func() {
		h.err = h.conn.Run(ctx)
		cancel(nil)
		close(h.done)
	}()
}

// sessionKey keeps the messages of one session in order.
func sessionKey(_ string, params json.RawMessage) string {
	return rpc.Member(params, "sessionId")
}

func (h *Host) handle(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
	if req.ID != "" {
		rpc.Admitted(ctx) // a request starts in order but must not hold up the updates behind it
	} else if req.Method == acp.MethodSessionUpdate {
		return nil, h.update(ctx, req.Params)
	}
	return h.handlers.Handle(ctx, req.Method, req.ID == "", req.Params)
}

// update takes one session/update. An error is logged, and that is all: an
// update that one side gets wrong must not cost the turn.
func (h *Host) update(ctx context.Context, params json.RawMessage) error {
	var n acp.SessionNotification
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := n.UnmarshalJSON(params); err != nil {
		return fmt.Errorf("an update of session %.100q is skipped: %w", rpc.Member(params, "sessionId"), err)
	}
	defer h.sessions.record(n.SessionID, n.Update, len(params)) // also when the handler panics
	if f := h.conf.Handlers.SessionUpdate; f != nil {
		return f(ctx, &n)
	}
	return nil
}

// Done is closed when the connection has ended.
func (h *Host) Done() <-chan struct{} { return h.done }

// Initialize agrees on the protocol version and swaps capabilities. An agent
// with another version than ours is an error; the connection is then of no use.
// An agent that does not answer within Config.InitializeTimeout is an error
// that says what is known of it.
// Source: initialization, version negotiation.
func (h *Host) Initialize(ctx context.Context) (*acp.InitializeResponse, error) {
	caps := h.conf.Capabilities
	caps.FS.ReadTextFile = caps.FS.ReadTextFile || h.conf.Handlers.FSReadTextFile != nil
	caps.FS.WriteTextFile = caps.FS.WriteTextFile || h.conf.Handlers.FSWriteTextFile != nil
	caps.Terminal = caps.Terminal || h.conf.Handlers.TerminalCreate != nil
	ctx, cancel := context.WithTimeoutCause(ctx, h.conf.InitializeTimeout, ErrNoAnswer)
	defer cancel()
	res, err := h.Agent.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: acp.Version, ClientCapabilities: caps, ClientInfo: &h.conf.Info})
	if errors.Is(err, ErrNoAnswer) {
		return nil, fmt.Errorf("initialize: %w, not within %v%s", err, h.conf.InitializeTimeout, h.diagnosis())
	}
	if err != nil {
		return nil, err
	}
	if res.ProtocolVersion != acp.Version {
		return nil, fmt.Errorf("the agent speaks protocol version %d, this host %d", res.ProtocolVersion, acp.Version)
	}
	h.agent.Store(&res.AgentCapabilities)
	return res, nil
}

// diagnosis is what is known of an agent that hangs, to go behind an error.
func (h *Host) diagnosis() (s string) {
	if h.process != nil {
		s = h.process.condition()
	}
	if odd := h.diary.last(); odd != "" {
		s += "; last oddity on the connection: " + odd
	}
	return s
}

// caller is the connection as a Caller. It turns calls away once Close has
// begun, and says how the agent ended where that is why they fail.
type caller struct{ *Host }

func (c caller) Call(ctx context.Context, method string, params interface{ AppendJSON(b []byte) []byte }) (json.RawMessage, error) {
	if c.closing.Load() {
		return nil, fmt.Errorf("%s: %w by this host", method, rpc.ErrClosed)
	}
	raw, err := c.conn.Call(ctx, method, params)
	return raw, c.explain(err)
}

func (c caller) Notify(ctx context.Context, method string, params interface{ AppendJSON(b []byte) []byte }) error {
	if c.closing.Load() {
		return fmt.Errorf("%s: %w by this host", method, rpc.ErrClosed)
	}
	return c.explain(c.conn.Notify(ctx, method, params))
}

func (h *Host) explain(err error) error {
	if h.process == nil || !errors.Is(err, rpc.ErrClosed) {
		return err
	}
	return h.process.explain(err)
}

// Close sends what still waits to be sent, closes the agent's input and waits
// until the agent has closed its output; what comes until then is handled as
// ever, the answer to a running prompt too. Calls made after Close fail at once.
// It returns what ended the connection, nil for a proper end. An agent that
// does not close its output within Config.CloseGrace is given up: the error has
// ErrNoAnswer in its chain.
//
// Close may be called more than once and from several goroutines; each call
// returns, with the same error, when all is over. Because it waits for the
// handlers to return, it must not be called inside one.
func (h *Host) Close() error { return h.close() }

func (h *Host) closeConn() error {
	h.endInput(h.conf.CloseGrace)
	if !within(h.done, h.conf.CloseGrace) {
		h.stop(fmt.Errorf("closing: %w: its output is still open %v after the end of its input", ErrNoAnswer, h.conf.CloseGrace))
		<-h.done
	}
	return h.err
}

// endInput closes the agent's input behind all that has been sent so far. An
// agent that does not read has until limit.
func (h *Host) endInput(limit time.Duration) {
	h.closing.Store(true)
	h.in.closing.Store(true)
	defer h.in.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if h.conn.Notify(ctx, endOfInput, nil) != nil {
		return // the connection has ended, or the output is full
	}
	select {
	case <-h.in.closed:
	case <-h.done:
	case <-ctx.Done():
	}
}

// within waits for done, and reports whether it came in time.
func within(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}
