package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
)

// errPromptCancelled is the cause of contexts that a cancelled prompt ends.
var errPromptCancelled = errors.New("the prompt was cancelled")

// cancelGrace is how long a cancelled prompt waits for the agent's answer,
// which the protocol promises, before it gives the agent up.
const cancelGrace = 30 * time.Second

// Session is one conversation with the agent.
type Session struct {
	ID            acp.SessionID
	Modes         *acp.SessionModeState
	ConfigOptions []acp.SessionConfigOption

	host *Host

	mu     sync.Mutex
	turn   *Turn                   // of the running prompt
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
// While another prompt of the session runs, Prompt is an error.
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
	if s.prompt != nil {
		s.mu.Unlock()
		return nil, errors.New("the session has a running prompt")
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
			time.AfterFunc(cancelGrace, func() { giveUp(errors.New("the agent did not answer the cancelled prompt")) })
		}
	})
	agent := acp.Agent{Caller: announcing{s.host.conn, sync.OnceFunc(func() { close(sent) })}}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errPromptCancelled)
	}
	return err
}

// record adds an update to the running turn.
func (s *Session) record(u acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.Updates = append(s.turn.Updates, u)
	}
}

// whilePrompting returns a context that also ends when the running prompt does.
func (s *Session) whilePrompting(ctx context.Context) (context.Context, func()) {
	s.mu.Lock()
	prompt := s.prompt
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	if prompt == nil {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(prompt, func() { cancel(context.Cause(prompt)) })
	return ctx, func() { stop(); cancel(nil) }
}
