package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/acpkit/acpkit/generated/acp"
)

// Session is one conversation with the agent.
type Session struct {
	ID            acp.SessionID
	Modes         *acp.SessionModeState     // as they were when it was opened
	ConfigOptions []acp.SessionConfigOption // the same

	host *Host

	mu      sync.Mutex // never held while something is sent; registry.mu may be taken inside
	running *prompt    // nil when idle
	between record     // what came outside turns
	closed  bool
}

// Turn is what a prompt turn showed.
type Turn struct {
	StopReason acp.StopReason
	// Updates are in order. Adjacent pieces of one text are joined.
	Updates []acp.SessionUpdate
	// Omitted is how many updates at the end went beyond Config.MaxRecord.
	Omitted int
}

// Text is the agent's answer: its message chunks joined.
func (t *Turn) Text() string {
	var b strings.Builder
	for _, u := range t.Updates {
		if c, ok := u.(*acp.SessionUpdateAgentMessageChunk); ok {
			if text, ok := c.Content.(*acp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
	}
	return b.String()
}

// Unprompted returns, and forgets, what has come outside of prompt turns since
// the last time: commands and modes after the session was opened, late updates
// of a turn that was given up, and the like. Adjacent pieces of one text are
// joined.
func (s *Session) Unprompted() []acp.SessionUpdate {
	s.mu.Lock()
	defer s.mu.Unlock()
	updates, omitted := s.between.take()
	if omitted > 0 && s.between.max >= 0 {
		s.host.log.Warn("updates outside of a turn went beyond MaxRecord", "session", s.ID, "omitted", omitted)
	}
	return updates
}

// Cancel stops the running prompt: the agent is told, and open permission
// requests of the session are answered `cancelled`. The prompt then has
// Config.CancelGrace to be answered.
func (s *Session) Cancel(ctx context.Context) error {
	s.mu.Lock()
	p := s.running
	s.mu.Unlock()
	if p != nil {
		return p.stop(ctx)
	}
	return s.host.Agent.SessionCancel(ctx, &acp.CancelNotification{SessionID: s.ID})
}

// Close ends the session at both ends: a running prompt is cancelled, the agent
// is told if it said in Initialize that it knows session/close, and the Host
// forgets the session, whatever the agent answers.
func (s *Session) Close(ctx context.Context) error {
	defer s.drop()
	s.mu.Lock()
	p, closed := s.running, s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	if p != nil {
		if err := p.stop(ctx); err != nil {
			return err
		}
	}
	if caps := s.host.agent.Load(); caps == nil || caps.SessionCapabilities.Close == nil {
		return nil
	}
	_, err := s.host.Agent.SessionClose(ctx, &acp.CloseSessionRequest{SessionID: s.ID})
	return err
}

func (s *Session) drop() {
	s.mu.Lock()
	s.closed = true
	idle := s.running == nil || s.running.abandoned
	s.mu.Unlock()
	if idle { // else the end of the prompt drops it: its last updates count
		s.host.sessions.drop(s)
	}
}

// begin makes p the running prompt.
func (s *Session) begin(p *prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return fmt.Errorf("session %q is closed", s.ID)
	case s.running != nil && s.running.abandoned:
		return fmt.Errorf("%w: the session's last prompt was cancelled and still has no answer", ErrNoAnswer)
	case s.running != nil:
		return errors.New("the session has a running prompt")
	}
	s.running = p
	return nil
}

// end is called when p has its answer, or will never have one.
func (s *Session) end(p *prompt) {
	s.mu.Lock()
	p.over = true
	s.mu.Unlock()
	close(p.answered)
	p.cancel(nil)
	p.stops.Wait() // so that its cancel is not sent behind the next prompt
	s.mu.Lock()
	s.running = nil
	closed := s.closed
	s.mu.Unlock()
	if closed {
		s.host.sessions.drop(s)
	}
}

// record adds an update to the turn it came in.
func (s *Session) record(u acp.SessionUpdate, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.running; p != nil && !p.abandoned && p.isSent() {
		p.record.add(u, size)
		return
	}
	s.between.add(u, size)
}

// whilePrompting returns a context that also ends when the running prompt does.
func (s *Session) whilePrompting(ctx context.Context) (context.Context, func()) {
	s.mu.Lock()
	p := s.running
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	if p == nil {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}
