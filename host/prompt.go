package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/acpkit/acpkit/generated/acp"
)

var (
	// errPromptCancelled is the cause of contexts that a cancelled prompt ends.
	errPromptCancelled = errors.New("the prompt was cancelled")
	// errGivenUp ends a call that is still waiting for room in the output.
	errGivenUp = errors.New("the prompt was given up")
)

// prompt is a running prompt turn.
type prompt struct {
	session  *Session
	ctx      context.Context // ends with the prompt or, with errPromptCancelled, when it is cancelled
	cancel   context.CancelCauseFunc
	sent     chan struct{} // closed when the prompt stands in the output
	answered chan struct{} // closed when it has its answer, or will never have one
	givenUp  chan struct{} // closed when the answer to a cancelled prompt is overdue
	grace    sync.Once     // starts the time that leads to givenUp
	stops    sync.WaitGroup

	// Guarded by session.mu.
	record    record
	over      bool // answered: no cancel may be sent any more, it would meet the next prompt
	abandoned bool // Prompt has returned without an answer
}

// Prompt sends text and returns when the turn has ended. When ctx ends
// meanwhile, the turn is cancelled and Prompt still waits for its answer, whose
// stop reason is then `cancelled`; when it has ended before, nothing is sent.
// While another prompt of the session runs, Prompt is an error.
//
// An agent that does not answer a cancelled prompt within Config.CancelGrace is
// given up: Prompt returns what came so far and an error with ErrNoAnswer in its
// chain. Other sessions are not touched. This one takes prompts again when the
// answer has come after all; the answer itself is dropped, and late updates are
// found in Unprompted.
func (s *Session) Prompt(ctx context.Context, text string) (*Turn, error) {
	return s.PromptBlocks(ctx, &acp.TextContent{Text: text})
}

// PromptBlocks is Prompt for any content.
func (s *Session) PromptBlocks(ctx context.Context, blocks ...acp.ContentBlock) (*Turn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := &prompt{session: s, sent: make(chan struct{}), answered: make(chan struct{}), givenUp: make(chan struct{}),
		record: record{max: s.host.conf.MaxRecord}}
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := s.begin(p); err != nil {
		p.cancel(nil)
		return nil, err
	}
	var res *acp.PromptResponse
	var err error
	idle := make(chan struct{}) // the session is; res and err are set
	go func() {
		defer close(idle)
		res, err = p.call(context.WithoutCancel(ctx), blocks)
		s.end(p)
	}()
	defer context.AfterFunc(ctx, func() { _ = p.stop(p.ctx) })()

	select {
	case <-idle:
		turn := p.turn(false)
		switch {
		case errors.Is(err, errGivenUp):
			return turn, p.overdue()
		case err != nil:
			return turn, err
		}
		turn.StopReason = res.StopReason
		return turn, nil
	case <-p.givenUp:
		return p.turn(true), p.overdue()
	}
}

func (p *prompt) overdue() error {
	h := p.session.host
	return fmt.Errorf("session/prompt: %w: the prompt was cancelled and not answered within %v%s", ErrNoAnswer, h.conf.CancelGrace, h.diagnosis())
}

// call sends the prompt and waits for the answer, however late.
func (p *prompt) call(ctx context.Context, blocks []acp.ContentBlock) (*acp.PromptResponse, error) {
	// The call outlives ctx: a cancelled turn is answered like any other. Only a
	// prompt that was never sent has no answer to wait for.
	ctx, unsend := context.WithCancelCause(ctx)
	defer unsend(nil)
	go func() {
		select {
		case <-p.sent:
		case <-p.givenUp:
			unsend(errGivenUp)
		case <-ctx.Done():
		}
	}()
	agent := acp.Agent{Caller: announcing{p.session.host.Agent.Caller, sync.OnceFunc(func() { close(p.sent) })}}
	return agent.SessionPrompt(ctx, &acp.PromptRequest{SessionID: p.session.ID, Prompt: blocks})
}

// turn is what the prompt has shown; with abandoned, the rest is not its own.
func (p *prompt) turn(abandoned bool) *Turn {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	p.abandoned = abandoned
	if abandoned && s.closed {
		s.host.sessions.drop(s)
	}
	turn := &Turn{}
	turn.Updates, turn.Omitted = p.record.take()
	return turn
}

// stop cancels the prompt if it still runs. The agent is told before open
// questions are answered, so that it knows why.
func (p *prompt) stop(ctx context.Context) error {
	s := p.session
	s.mu.Lock()
	over := p.over
	if !over {
		p.stops.Add(1)
	}
	s.mu.Unlock()
	if over {
		return nil
	}
	defer p.stops.Done()
	p.grace.Do(func() {
		go func() {
			if !within(p.answered, s.host.conf.CancelGrace) {
				close(p.givenUp)
			}
		}()
	})
	// An agent that does not read must not hold up the questions for ever.
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() {
		select {
		case <-p.givenUp:
		case <-p.answered:
		case <-ctx.Done():
		}
		giveUp()
	}()
	select {
	case <-p.sent: // a cancel ahead of its prompt would cancel nothing
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := s.host.Agent.SessionCancel(ctx, &acp.CancelNotification{SessionID: s.ID})
	p.cancel(errPromptCancelled)
	return err
}

func (p *prompt) isSent() bool {
	select {
	case <-p.sent:
		return true
	default:
		return false
	}
}

// announcing is a Caller that says when a call stands in the output.
type announcing struct {
	acp.Caller
	sent func()
}

func (a announcing) Call(ctx context.Context, method string, params interface{ AppendJSON(b []byte) []byte }) (json.RawMessage, error) {
	return a.Caller.Call(ctx, method, announced{params, a.sent})
}

// announced is written while the output is locked: what is sent after it stands
// behind it.
type announced struct {
	params interface{ AppendJSON(b []byte) []byte }
	sent   func()
}

func (a announced) AppendJSON(b []byte) []byte {
	b = a.params.AppendJSON(b)
	a.sent()
	return b
}
