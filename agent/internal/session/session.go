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

// ErrBusy is the error of a session that runs a turn already.
var ErrBusy = errors.New("a prompt is running in this session")

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

	mu   sync.Mutex
	turn *running // nil when idle
}

// running is a turn that has begun.
type running struct {
	cancel    context.CancelFunc
	cancelled bool
	done      chan struct{} // closed when it has ended
}

// Begin makes the session busy. The returned context ends when ctx does or when
// the turn is cancelled; end must be called when the turn is over. A turn that
// was cancelled is waited for: a host that cancels and asks anew at once is not
// told that the session is busy.
func (s *Session) Begin(ctx context.Context) (turnCtx context.Context, end func(), err error) {
	for {
		s.mu.Lock()
		old := s.turn
		if old == nil {
			break
		}
		cancelled := old.cancelled
		s.mu.Unlock()
		if !cancelled {
			return nil, nil, ErrBusy
		}
		<-old.done // a cancelled turn ends soon, whatever it waits for
	}
	defer s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	t := &running{cancel: cancel, done: make(chan struct{})}
	s.turn = t
	return ctx, func() {
		cancel()
		s.mu.Lock()
		s.turn = nil
		s.mu.Unlock()
		close(t.done)
	}, nil
}

// Cancel ends the running turn; without one it does nothing.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.cancelled = true
		s.turn.cancel()
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
