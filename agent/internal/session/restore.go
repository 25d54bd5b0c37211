package session

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/turn"
)

// Create writes a new session down.
func Create(store ledger.Store, id string, opened event.Opened) (*Session, error) {
	kind, data, err := event.Encode(opened)
	if err != nil {
		return nil, err
	}
	log, err := store.Create(id, ledger.Record{Kind: kind, Data: data})
	if err != nil {
		return nil, err
	}
	s := &Session{ID: id, Log: log, History: turn.NewHistory(nil)}
	s.apply(opened)
	return s, nil
}

// Open takes a stored session over, as its events left it. A turn that a dead
// process left running is over, and what waited for its end holds now.
func Open(store ledger.Store, id string) (*Session, error) {
	s := &Session{ID: id, History: turn.NewHistory(nil)}
	r := restoring{session: s, history: turn.NewRestorer(s.History)}
	log, err := store.Open(id, r.record)
	if err != nil {
		return nil, err
	}
	if r.flush(); r.err != nil {
		return nil, errors.Join(r.err, log.Close())
	}
	s.Log = log
	if !r.opened {
		return nil, errors.Join(&ledger.DamagedError{Reason: "its first record is missing"}, log.Close())
	}
	s.set(s.later)
	s.status.Recover(s.axes.Mode)
	return s, nil
}

// Events decodes records, and leaves out those of kinds that a newer version
// wrote.
func Events(records iter.Seq2[ledger.Record, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for r, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			e, err := Event(r)
			if err != nil {
				yield(nil, err)
				return
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// Event decodes a record; of a kind that a newer version wrote it makes nil.
func Event(r ledger.Record) (event.Event, error) {
	e, err := event.Decode(r.Kind, r.Data)
	if err != nil {
		return nil, numbered(r, err)
	}
	return e, nil
}

func numbered(r ledger.Record, err error) error { return fmt.Errorf("record %d: %w", r.Seq, err) }

// restoring brings a session back from its records. Pieces of a stream that follow
// each other become one event: to what is restored that is the same, and there are
// far fewer.
type restoring struct {
	session *Session
	history *turn.Restorer
	opened  bool  // the first event has come
	err     error // of a record; nothing behind it counts

	kind  string // of words
	words []byte // of pieces
}

// enough words for one event, in bytes.
const enough = 16 << 10

func (r *restoring) record(rec ledger.Record) {
	if rec.Kind != r.kind || len(r.words) >= enough {
		r.flush()
	}
	if r.err != nil {
		return
	}
	if event.IsPiece(rec.Kind) {
		words, err := event.AppendWords(r.words, rec.Data)
		if err != nil {
			r.err = numbered(rec, err)
		}
		r.kind, r.words = rec.Kind, words
		return
	}
	var e event.Event
	if e, r.err = Event(rec); e != nil {
		r.apply(e)
	}
}

func (r *restoring) flush() {
	if len(r.words) > 0 {
		r.apply(event.Piece(r.kind, string(r.words)))
		r.words = r.words[:0]
	}
}

func (r *restoring) apply(e event.Event) {
	if _, first := e.(event.Opened); first {
		r.opened = true
	}
	r.session.apply(e)
	r.history.Apply(e)
}

// Fold tells the ledger what its list is to say of a session.
func Fold(sum *ledger.Summary, r ledger.Record) {
	switch r.Kind {
	case "opened", "prompt", "command":
	default:
		return
	}
	e, err := event.Decode(r.Kind, r.Data)
	if err != nil {
		return
	}
	prompt := ""
	switch e := e.(type) {
	case event.Opened:
		sum.CWD = e.CWD
		return
	case event.Prompt:
		prompt = e.Text
	case event.Command:
		prompt = e.Input
	}
	sum.Prompted = true
	if sum.Title == "" {
		sum.Title = Title(prompt)
	}
}

// Registry finds the open sessions by id. The zero value is empty.
type Registry struct {
	mu   sync.Mutex
	byID map[string]*Session
	busy map[string]chan struct{} // ids that are being opened or removed
}

// Hold keeps everybody else from opening or removing the session of this id
// until release is called, and returns the session if it is open.
func (r *Registry) Hold(id string) (s *Session, release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.busy[id] != nil {
		wait := r.busy[id]
		r.mu.Unlock()
		<-wait
		r.mu.Lock()
	}
	if r.busy == nil {
		r.busy = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	r.busy[id] = done
	return r.byID[id], func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.busy, id)
		close(done)
	}
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

// Remove forgets the session.
func (r *Registry) Remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// Find returns the session with this id, or nil.
func (r *Registry) Find(id string) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// All returns the open sessions.
func (r *Registry) All() (list []*Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.byID {
		list = append(list, s)
	}
	return list
}
