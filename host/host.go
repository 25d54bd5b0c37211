// Package host is a small ACP host (client): it launches an agent or talks to
// one over a pipe, answers what the agent asks, and collects what a session
// shows. It is for programs that drive an agent: a terminal front end, a test,
// an editor plug-in. It draws nothing and decides no permission by itself; it
// serves files or terminals only through the functions it is given.
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
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/rpc"
)

// Config says who the host is and what it serves. The zero value works: every
// permission is then refused, and no files or terminals are offered.
type Config struct {
	// Info names the host to the agent. Default: name "acpkit", version "0".
	Info acp.Implementation
	// Handlers are the host's side of the protocol. SessionUpdate is called for
	// each update, in order per session, before the Session records it.
	// SessionRequestPermission is called with a context that ends when the
	// prompt is cancelled; the answer is then `cancelled` whatever it returns.
	// What stands here is what is advertised: fs and terminal methods.
	Handlers acp.ClientHandlers
	// Capabilities are advertised beside those that follow from Handlers.
	Capabilities acp.ClientCapabilities
	// MaxLine bounds a line from the agent; see rpc.Config.
	MaxLine int
	// NoRecord leaves Turn.Updates empty, for a host that shows updates as they
	// come: what it keeps does not grow with the turn then.
	NoRecord bool
	// StartTimeout is how long Initialize waits for an answer. Default 60 s.
	StartTimeout time.Duration
	// CancelGrace is how long a cancelled prompt waits for its answer, which the
	// protocol promises, before Prompt gives the turn up. Default 30 s.
	CancelGrace time.Duration
	// Logger gets what is odd on the connection. Default: none.
	Logger *slog.Logger
}

// Host is the host's end of one connection.
type Host struct {
	// Agent has a typed call for each method of the agent.
	Agent acp.Agent

	conf Config
	done chan struct{} // closed when the connection has ended
	err  error         // why; set before done is closed
	quit func()        // ends the connection

	mu       sync.Mutex
	sessions map[acp.SessionID]*Session
	opening  int                      // calls that open a session and are not answered yet
	early    map[acp.SessionID]*State // what was told of sessions that are perhaps being opened
}

// maxEarly bounds Host.early: an agent can make up ids as long as it likes.
const maxEarly = 256

// Connect starts a host on a connection whose other end is an agent: it reads
// the agent's messages from r and writes to w. Close closes w.
func Connect(r io.Reader, w io.WriteCloser, c Config) *Host { return connect(r, w, c, nil) }

// connect is Connect with a function that says why the connection has ended.
func connect(r io.Reader, w io.WriteCloser, c Config, why func() error) *Host {
	c.Info.Name = cmp.Or(c.Info.Name, "acpkit")
	c.Info.Version = cmp.Or(c.Info.Version, "0")
	c.StartTimeout = cmp.Or(c.StartTimeout, time.Minute)
	c.CancelGrace = cmp.Or(c.CancelGrace, 30*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{conf: c, done: make(chan struct{}), sessions: map[acp.SessionID]*Session{}}
	handlers := c.Handlers
	handlers.SessionUpdate = h.update
	handlers.SessionRequestPermission = h.permission
	conn := rpc.New(r, w, rpc.Config{Key: sessionKey, MaxLine: c.MaxLine, Logger: c.Logger,
		Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.ID != "" {
				rpc.Admitted(ctx) // a request starts in order but must not hold up the updates behind it
			}
			return handlers.Handle(ctx, req.Method, req.ID == "", req.Params)
		}})
	h.Agent = acp.Agent{Caller: conn}
	if why != nil {
		h.Agent = acp.Agent{Caller: explaining{conn, why}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.quit = sync.OnceFunc(func() { _ = w.Close() })
	go func() {
		h.err = conn.Run(ctx)
		cancel()
		close(h.done)
	}()
	return h
}

// sessionKey keeps the messages of one session in order.
func sessionKey(_ string, params json.RawMessage) string {
	return rpc.Member(params, "sessionId")
}

// Done is closed when the connection has ended.
func (h *Host) Done() <-chan struct{} { return h.done }

// Close closes the agent's input and waits until the agent has closed its
// output. It returns what ended the connection, nil for a proper end.
func (h *Host) Close() error {
	h.quit()
	<-h.done
	return h.err
}

// Initialize agrees on the protocol version and swaps capabilities. An agent
// with another version than ours is an error, and so is one that does not answer
// within Config.StartTimeout; the connection is then of no use.
// Source: initialization, version negotiation.
func (h *Host) Initialize(ctx context.Context) (*acp.InitializeResponse, error) {
	caps := h.conf.Capabilities
	caps.FS.ReadTextFile = caps.FS.ReadTextFile || h.conf.Handlers.FSReadTextFile != nil
	caps.FS.WriteTextFile = caps.FS.WriteTextFile || h.conf.Handlers.FSWriteTextFile != nil
	caps.Terminal = caps.Terminal || h.conf.Handlers.TerminalCreate != nil
	ctx, stop := context.WithTimeoutCause(ctx, h.conf.StartTimeout, fmt.Errorf("the agent does not answer `initialize`; it had %s", h.conf.StartTimeout))
	defer stop()
	res, err := h.Agent.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: acp.Version, ClientCapabilities: caps, ClientInfo: &h.conf.Info})
	if err != nil {
		return nil, err
	}
	if res.ProtocolVersion != acp.Version {
		return nil, fmt.Errorf("the agent speaks protocol version %d, this host %d", res.ProtocolVersion, acp.Version)
	}
	return res, nil
}

// permission asks the given function, and answers `cancelled` when the prompt
// is cancelled first, as the protocol demands.
func (h *Host) permission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	cancelled := &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}
	f := h.conf.Handlers.SessionRequestPermission
	if f == nil {
		return Choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways), nil
	}
	ctx, stop := h.find(req.SessionID).whilePrompting(ctx)
	defer stop()
	type answer struct {
		res *acp.RequestPermissionResponse
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		res, err := f(ctx, req)
		answered <- answer{res, err}
	}()
	select {
	case a := <-answered:
		if errors.Is(context.Cause(ctx), errPromptCancelled) {
			return cancelled, nil
		}
		return a.res, a.err
	case <-ctx.Done():
		return cancelled, nil
	}
}

// Choose answers a permission request with the first option of one of the
// kinds, in the order of kinds; `cancelled` when there is none.
func Choose(req *acp.RequestPermissionRequest, kinds ...acp.PermissionOptionKind) *acp.RequestPermissionResponse {
	for _, kind := range kinds {
		for _, o := range req.Options {
			if o.Kind == kind {
				return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: o.OptionID}}
			}
		}
	}
	return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}
}
