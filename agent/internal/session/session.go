// Package session holds the open sessions: what each one owns, that it runs one
// turn at a time, and what it has written down. It knows no JSON-RPC and no
// protocol version.
package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/acpkit/acpkit/agent/internal/command"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/status"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

var (
	// ErrBusy is the error of a session that runs a turn already.
	ErrBusy = errors.New("a prompt is running in this session")
	// ErrClosed is the error of a session that is being closed or deleted.
	ErrClosed = errors.New("the session is being closed")
)

// Session is one conversation. What it owns is shared with no other session.
type Session struct {
	ID        string
	Log       ledger.Ledger
	CWD       string   // as the host wrote it
	Dirs      []string // further roots
	Workspace *workspace.Workspace
	Commands  *command.Set
	Tools     *tool.Set
	History   *turn.History
	Policy    *permission.Policy
	Shell     *tool.Shell // nil: none
	System    string      // what the model is told before anything else
	Limits    turn.Limits
	Confined  bool            // commands are, where an engine works
	Network   bool            // confined commands have it
	Secrets   func() []string // what is never shown, as it is now; nil is nothing
	EachDelta bool

	// Show is held while an event is written down and shown, and during a
	// replay, so that the host sees everything once and in order.
	Show sync.Mutex
	// Changing is held while the model, the effort or the mode is changed.
	Changing sync.Mutex

	mu     sync.Mutex // guards all below
	axes   event.Axes
	later  event.Set // what waits for the end of the turn
	status status.Status
	title  string

	messages int
	model    Model
	models   map[string]Model // by reference; one keeps its state
	turn     *Turn            // nil when idle
	asking   int              // open questions to the user
	closing  bool
}

// Model is a model as a session uses it.
type Model struct {
	model.Model
	Window int // tokens that it can have before it; 0 is not known
}

// Turn is a turn that has begun.
type Turn struct {
	cancel    context.CancelFunc
	cancelled bool
	answered  chan struct{}
}

// Begin makes the session busy. The returned context ends when ctx does or when
// the turn is cancelled. End makes the session idle, and Answered must be called
// when the prompt has its answer. A turn that was cancelled is waited for: a host
// that cancels and asks anew at once is not told that the session is busy.
func (s *Session) Begin(ctx context.Context) (context.Context, *Turn, error) {
	for {
		s.mu.Lock()
		old := s.turn
		if s.closing {
			s.mu.Unlock()
			return nil, nil, ErrClosed
		}
		if old == nil {
			break
		}
		cancelled := old.cancelled
		s.mu.Unlock()
		if !cancelled {
			return nil, nil, ErrBusy
		}
		<-old.answered // a cancelled turn ends soon, whatever it waits for
	}
	defer s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	s.turn = &Turn{cancel: cancel, answered: make(chan struct{})}
	return ctx, s.turn, nil
}

// End makes the session idle.
func (s *Session) End(t *Turn) {
	t.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = nil
}

// Answered lets go on what waits for the end of the turn.
func (t *Turn) Answered() { close(t.answered) }

// Cancel ends the running turn; without one it does nothing.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelLocked()
}

func (s *Session) cancelLocked() *Turn {
	if s.turn != nil {
		s.turn.cancelled = true
		s.turn.cancel()
	}
	return s.turn
}

// Shut takes no more prompts, cancels the running one, waits until it is answered
// and ends what runs in the background.
func (s *Session) Shut() {
	s.mu.Lock()
	s.closing = true
	t := s.cancelLocked()
	s.mu.Unlock()
	if t != nil {
		<-t.answered
	}
	s.Shell.Close()
}

// Busy reports whether a turn is running.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// Ask marks a question to the user as open until done is called.
func (s *Session) Ask() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking--
	}
}

// Asking reports whether a question to the user is open.
func (s *Session) Asking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asking > 0
}

// Record writes an event down and follows it. What is to be published is the
// status behind it. An event that could not be written has not happened.
func (s *Session) Record(e event.Event) (status.Publish, error) {
	if err := s.write(e); err != nil {
		return "", err
	}
	return s.Follow(e), nil
}

// RecordSynced is Record, but the event has not happened before it is on the disk.
func (s *Session) RecordSynced(e event.Event) error {
	if err := s.write(e); err != nil {
		return err
	}
	if err := s.Log.Sync(); err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	s.Follow(e)
	return nil
}

func (s *Session) write(e event.Event) error {
	kind, data, err := event.Encode(e)
	if err != nil || kind == "" {
		return err
	}
	if err := s.Log.Append(ledger.Record{Kind: kind, Data: data}); err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	return nil
}

// Follow follows an event that is not written down, because it cannot be.
func (s *Session) Follow(e event.Event) status.Publish {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apply(e)
}

// AwaitChange returns when no change of model, effort or mode is being made.
func (s *Session) AwaitChange() {
	s.Changing.Lock()
	defer s.Changing.Unlock()
}

// apply follows an event, live or when the session is opened again.
func (s *Session) apply(e event.Event) status.Publish {
	switch e := e.(type) {
	case event.Opened:
		s.axes, s.CWD, s.Dirs = e.Axes, e.CWD, e.Directories
	case event.Set:
		if e.Later {
			merge(&s.later, e)
			break
		}
		s.set(e)
	case event.Prompt:
		s.messages++
		s.name(e.Text)
	case event.Answer, event.ToolEnd, event.Steer:
		s.messages++
	case event.Command:
		s.name(e.Input)
	}
	return s.status.Apply(e, s.axes.Mode)
}

func (s *Session) set(e event.Set) {
	for _, axis := range []struct {
		to    *string
		from  *string
		later **string
	}{
		{&s.axes.Model, e.Model, &s.later.Model}, {&s.axes.Effort, e.Effort, &s.later.Effort},
		{&s.axes.Preset, e.Preset, &s.later.Preset}, {&s.axes.Mode, e.Mode, &s.later.Mode},
	} {
		if axis.from != nil {
			*axis.to, *axis.later = *axis.from, nil
		}
	}
}

func merge(into *event.Set, e event.Set) {
	for _, axis := range []struct{ to, from **string }{{&into.Model, &e.Model}, {&into.Effort, &e.Effort}, {&into.Preset, &e.Preset}, {&into.Mode, &e.Mode}} {
		if *axis.from != nil {
			*axis.to = *axis.from
		}
	}
}

func (s *Session) name(prompt string) {
	if s.title == "" {
		s.title = Title(prompt)
	}
}

// Title is the name that a first prompt gives a session: on one line, and at
// most 80 characters.
func Title(prompt string) string {
	r := []rune(strings.Join(strings.Fields(prompt), " "))
	if len(r) > 80 {
		return string(r[:77]) + "..."
	}
	return string(r)
}

// State is what the session says of itself at one moment.
type State struct {
	Axes   event.Axes
	Later  event.Set // what waits for the end of the turn
	Status status.Status
	Title  string
}

// State returns it.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s.axes, s.later, s.status, s.title}
}

// Wanted is what holds, with what waits put over it.
func (s State) Wanted() event.Axes {
	w := Session{axes: s.Axes}
	w.set(s.Later)
	return w.axes
}

// Model is the model in force.
func (s *Session) Model() Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// UseModel makes the model with this reference the one in force. One that was
// used before keeps its state; make makes one that was not.
func (s *Session) UseModel(ref string, make func() (Model, error)) error {
	s.mu.Lock()
	m, used := s.models[ref]
	s.mu.Unlock()
	if !used {
		var err error
		if m, err = make(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = map[string]Model{}
	}
	s.models[ref], s.model = m, m
	return nil
}

// Messages is the number of messages so far, those of a running turn included.
func (s *Session) Messages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}
