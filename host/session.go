package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
)

// errPromptCancelled is the cause of contexts that a cancelled prompt ends.
var errPromptCancelled = errors.New("the prompt was cancelled")

var errBusy = errors.New("the session has a running prompt")

// Session is one conversation with the agent.
type Session struct {
	ID            acp.SessionID
	Modes         *acp.SessionModeState     // as the answer said that opened it; see State
	ConfigOptions []acp.SessionConfigOption // the same

	host *Host

	mu     sync.Mutex
	state  State
	turn   *Turn                   // of the running prompt, or a replay
	prompt context.Context         // of the running prompt, nil when idle
	cancel context.CancelCauseFunc // ends it
}

// Turn is what a prompt turn showed.
type Turn struct {
	StopReason acp.StopReason
	Updates    []acp.SessionUpdate // in order
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

// Prompt sends text and returns when the turn has ended. When ctx ends
// meanwhile, the turn is cancelled and Prompt still waits for its answer, whose
// stop reason is then `cancelled`; when it has ended before, nothing is sent.
// While another prompt of the session runs, Prompt is an error. An agent that
// does not answer a cancelled prompt is given up after Config.CancelGrace: that
// is an error too, and the session and all others stay usable.
func (s *Session) Prompt(ctx context.Context, text string) (*Turn, error) {
	return s.PromptBlocks(ctx, &acp.TextContent{Text: text})
}

// PromptBlocks is Prompt for any content.
func (s *Session) PromptBlocks(ctx context.Context, blocks ...acp.ContentBlock) (*Turn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.mu.Lock()
	if s.turn != nil {
		s.mu.Unlock()
		return nil, errBusy
	}
	turn := &Turn{}
	s.turn, s.prompt, s.cancel = turn, running, cancel
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.turn, s.prompt, s.cancel = nil, nil, nil
		s.mu.Unlock()
	}()

	// The call outlives ctx: a cancelled turn is answered like any other.
	call, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-sent: // a cancel ahead of its prompt would cancel nothing
			_ = s.Cancel(context.WithoutCancel(ctx))
		case <-running.Done():
		}
	})
	defer stop()
	context.AfterFunc(running, func() {
		if errors.Is(context.Cause(running), errPromptCancelled) {
			grace := s.host.conf.CancelGrace
			time.AfterFunc(grace, func() { giveUp(fmt.Errorf("the agent has not answered the cancelled prompt within %s", grace)) })
		}
	})
	agent := acp.Agent{Caller: announcing{s.host.Agent.Caller, sync.OnceFunc(func() { close(sent) })}}
	res, err := agent.SessionPrompt(call, &acp.PromptRequest{SessionID: s.ID, Prompt: blocks})
	if err != nil {
		return turn, err
	}
	turn.StopReason = res.StopReason
	return turn, nil
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

// Cancel stops the running prompt: the agent is told, and open permission
// requests of the session are answered `cancelled`.
func (s *Session) Cancel(ctx context.Context) error {
	err := s.host.Agent.SessionCancel(ctx, &acp.CancelNotification{SessionID: s.ID})
	s.cancelPrompt()
	return err
}

// cancelPrompt ends the open questions of the running prompt.
func (s *Session) cancelPrompt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errPromptCancelled)
	}
}

func (s *Session) endReplay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = nil
}

// record takes an update, and adds it to the running turn.
func (s *Session) record(u acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.apply(u)
	if s.turn != nil && !s.host.conf.NoRecord {
		s.turn.Updates = append(s.turn.Updates, u)
	}
}

// whilePrompting returns a context that also ends when the running prompt does.
func (s *Session) whilePrompting(ctx context.Context) (context.Context, func()) {
	var prompt context.Context
	if s != nil {
		s.mu.Lock()
		prompt = s.prompt
		s.mu.Unlock()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if prompt == nil {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(prompt, func() { cancel(context.Cause(prompt)) })
	return ctx, func() { stop(); cancel(nil) }
}
