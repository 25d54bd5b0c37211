// Package session holds the open sessions: what each one owns, and that it runs
// one turn at a time. It knows no JSON-RPC and no protocol version.
package session

import (
	"context"
	"errors"
	"sync"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// Errors of a session that cannot take a prompt.
var (
	ErrBusy   = errors.New("a prompt is running in this session")
	ErrClosed = errors.New("the session is closed")
)

// Session is one conversation. What it owns is shared with no other session.
type Session struct {
	ID        string
	Workspace *workspace.Workspace
	ModelRef  string // provider/model
	Model     model.Model
	Tools     *tool.Set
	History   *turn.History
	Policy    *permission.Policy
	MaxSteps  int
	EachDelta bool

	mu     sync.Mutex
	cancel context.CancelFunc // of the running turn, nil when idle
	closed bool
}

// Begin makes the session busy. The returned context ends when ctx does or when
// the turn is cancelled; end must be called when the turn is over.
func (s *Session) Begin(ctx context.Context) (turnCtx context.Context, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, ErrClosed
	case s.cancel != nil:
		return nil, nil, ErrBusy
	}
	ctx, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	return ctx, func() {
		cancel()
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
	}, nil
}

// Cancel ends the running turn; without one it does nothing.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// Registry finds sessions by id. The zero value is empty.
type Registry struct {
	mu   sync.Mutex
	byID map[string]*Session
}

// Add registers a session under its id.
func (r *Registry) Add(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]*Session{}
	}
	r.byID[s.ID] = s
}

// Find returns the session with this id, or nil.
func (r *Registry) Find(id string) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}
