package host

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/acpkit/acpkit/generated/acp"
)

// registry has the open sessions. It also keeps what comes for sessions that
// are not open, but only as long as a session/new is under way, whose answer may
// name them, and no more than max bytes. At other times such updates are counted
// and logged, no more: an agent must not fill the memory with ids.
type registry struct {
	max int
	log *slog.Logger

	mu      sync.Mutex
	open    map[acp.SessionID]*Session
	opening int // calls of session/new under way
	early   map[acp.SessionID]*record
	size    int // of early
	strays  int // updates for sessions that were not open
}

func (r *registry) find(id acp.SessionID) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[id]
}

// record takes an update to its session.
func (r *registry) record(id acp.SessionID, u acp.SessionUpdate, size int) {
	r.mu.Lock()
	s := r.open[id]
	if s == nil {
		r.recordEarly(id, u, size)
	}
	r.mu.Unlock()
	if s != nil {
		s.record(u, size)
	}
}

func (r *registry) recordEarly(id acp.SessionID, u acp.SessionUpdate, size int) {
	if r.opening == 0 {
		r.strays++
		if n := r.strays; n&(n-1) == 0 { // each doubling: the log is bounded too
			r.log.Warn("an update for a session that is not open is not kept", "session", fmt.Sprintf("%.100s", id), "so far", n)
		}
		return
	}
	rec := r.early[id]
	if rec == nil {
		if r.early == nil {
			r.early = map[acp.SessionID]*record{}
		}
		rec = &record{}
		if own := updateSize + len(id); own <= r.max-r.size {
			r.size += own
			r.early[id] = rec
		}
	}
	before := rec.size
	rec.max = r.max - r.size + before
	rec.add(u, size)
	r.size += rec.size - before
}

// begin is called before session/new is sent. What comes from now on for ids
// that are not open is kept until each begin has its end.
func (r *registry) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opening++
}

func (r *registry) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opening--; r.opening > 0 {
		return
	}
	if len(r.early) > 0 {
		r.log.Warn("updates for sessions that were not opened are dropped", "sessions", len(r.early))
	}
	r.early, r.size = nil, 0
}

// add opens a session. It gets what came before.
func (r *registry) add(s *Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[s.ID] != nil {
		return fmt.Errorf("session %q is open already", s.ID)
	}
	r.open[s.ID] = s
	if rec := r.early[s.ID]; rec != nil {
		delete(r.early, s.ID)
		r.size -= rec.size + updateSize + len(s.ID)
		rec.max = r.max
		s.between = *rec // nobody else has s yet
	}
	return nil
}

func (r *registry) drop(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[s.ID] == s {
		delete(r.open, s.ID)
	}
}
