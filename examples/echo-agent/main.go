// Command echo-agent is a complete ACP agent in one file: it shows a plan, asks
// before it "runs" its one tool, and echoes the prompt. It is the example of
// docs/go-sdk.md; copy it and put your own behaviour into turn.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/rpc"
)

func main() {
	a := &agent{sessions: map[acp.SessionID]*session{}}
	handlers := acp.AgentHandlers{
		Initialize:    a.initialize,
		SessionNew:    a.sessionNew,
		SessionPrompt: a.sessionPrompt,
		SessionCancel: a.sessionCancel,
	}
	conn := rpc.New(os.Stdin, os.Stdout, rpc.Config{
		Handler: func(ctx context.Context, r *rpc.Request) (rpc.Appender, error) {
			return handlers.Handle(ctx, r.Method, r.ID == "", r.Params)
		},
		Key:    key,
		Inline: func(method string) bool { return method == acp.MethodSessionCancel },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), // stdout belongs to the protocol
	})
	a.client = acp.Client{Caller: conn}
	if err := conn.Run(context.Background()); err != nil { // nil when the host closes our stdin
		fmt.Fprintln(os.Stderr, "echo-agent:", err)
		os.Exit(1)
	}
}

// key keeps a session's prompts and cancels in the order of the wire, so that a
// cancel right behind its prompt always meets it.
func key(method string, params json.RawMessage) string {
	if method == acp.MethodSessionPrompt || method == acp.MethodSessionCancel {
		return rpc.Member(params, "sessionId")
	}
	return ""
}

type agent struct {
	client acp.Client

	mu       sync.Mutex
	sessions map[acp.SessionID]*session
}

// session is one conversation; it runs one turn at a time.
type session struct {
	id     acp.SessionID
	calls  int                // tool calls so far, for their ids
	cancel context.CancelFunc // of the running turn, nil when idle; guarded by agent.mu
}

func (a *agent) initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	// Always the version that we speak, whatever was asked for.
	return &acp.InitializeResponse{ProtocolVersion: acp.Version, AgentInfo: &acp.Implementation{Name: "echo-agent", Version: "1.0.0"}}, nil
}

func (a *agent) sessionNew(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &session{id: acp.SessionID(fmt.Sprint("echo-", len(a.sessions)+1))}
	a.sessions[s.id] = s
	return &acp.NewSessionResponse{SessionID: s.id}, nil
}

// sessionCancel ends the running turn. It is handled ahead of everything behind
// it (Config.Inline) and must not block.
func (a *agent) sessionCancel(_ context.Context, p *acp.CancelNotification) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionID]; s != nil && s.cancel != nil {
		s.cancel()
	}
	return nil
}

func (a *agent) sessionPrompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, ctx, err := a.begin(ctx, p.SessionID)
	if err != nil {
		return nil, err
	}
	defer a.end(s)
	rpc.Admitted(ctx) // from here on a cancel finds the turn

	err = a.turn(ctx, s, p)
	switch {
	case ctx.Err() != nil: // a cancelled turn is no error, whatever it failed with
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case err != nil:
		return nil, err // an internal error, -32603
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *agent) begin(ctx context.Context, id acp.SessionID) (*session, context.Context, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		return nil, nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: fmt.Sprintf("session/prompt: unknown session %q", id)}
	}
	if s.cancel != nil {
		return nil, nil, &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "session/prompt: a prompt is running in this session"}
	}
	ctx, s.cancel = context.WithCancel(ctx)
	return s, ctx, nil
}

func (a *agent) end(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.cancel()
	s.cancel = nil
}

// turn is what the agent does. The updates go out in this order, and the answer
// to the prompt behind them.
func (a *agent) turn(ctx context.Context, s *session, p *acp.PromptRequest) error {
	show := func(u acp.SessionUpdate) error {
		return a.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: s.id, Update: u})
	}
	a.mu.Lock()
	s.calls++
	call := &acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint("call-", s.calls)), Title: "Echo the prompt",
		Kind: new(acp.ToolKindOther), Status: new(acp.ToolCallStatusPending)}
	a.mu.Unlock()
	if err := errors.Join(show(plan(acp.PlanEntryStatusInProgress, acp.PlanEntryStatusPending)), show(call)); err != nil {
		return err
	}
	allowed, err := a.ask(ctx, s, call)
	if err != nil {
		return err
	}
	end := &acp.ToolCallUpdate{ToolCallID: call.ToolCallID, Status: new(acp.ToolCallStatusCompleted)}
	answer := text(p.Prompt)
	if !allowed {
		end.Status = new(acp.ToolCallStatusFailed)
		answer = "You did not want to hear it again."
	}
	return errors.Join(show(plan(acp.PlanEntryStatusCompleted, acp.PlanEntryStatusInProgress)), show(end),
		show(&acp.SessionUpdateAgentMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: answer}}}),
		show(plan(acp.PlanEntryStatusCompleted, acp.PlanEntryStatusCompleted)))
}

// ask puts the question about the announced call to the user. A cancelled
// question is a cancelled turn.
func (a *agent) ask(ctx context.Context, s *session, call *acp.ToolCall) (allowed bool, err error) {
	res, err := a.client.SessionRequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: s.id,
		ToolCall:  acp.ToolCallUpdate{ToolCallID: call.ToolCallID, Title: &call.Title},
		Options: []acp.PermissionOption{
			{OptionID: "yes", Name: "Echo it", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "no", Name: "Do not", Kind: acp.PermissionOptionKindRejectOnce},
		},
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return false, err
	}
	chosen, ok := res.Outcome.(*acp.SelectedPermissionOutcome)
	return ok && chosen.OptionID == "yes", nil
}

func plan(ask, echo acp.PlanEntryStatus) *acp.Plan {
	return &acp.Plan{Entries: []acp.PlanEntry{
		{Content: "Ask", Priority: acp.PlanEntryPriorityMedium, Status: ask},
		{Content: "Echo", Priority: acp.PlanEntryPriorityMedium, Status: echo},
	}}
}

// text joins what the prompt holds of text.
func text(blocks []acp.ContentBlock) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *acp.TextContent:
			parts = append(parts, b.Text)
		case *acp.ResourceLink: // every agent must take these two
			parts = append(parts, b.URI)
		case *acp.Unknown: // a block of a newer schema
			parts = append(parts, fmt.Sprintf("[a block of type %s]", b.Tag))
		}
	}
	return strings.Join(parts, "\n")
}
