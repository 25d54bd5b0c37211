package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
	"github.com/acpkit/acpkit/rpc"
)

// system is what the model is told before anything else. It is the same in
// every request, so that providers can cache it.
const system = "You are Reasonix, a coding agent that works in the user's workspace through the tools it is given. " +
	"Read before you write, keep a plan with todo_write when there are several steps, and say briefly what you did."

// sessionPrompt runs one turn and answers when it has ended. Errors: -32602 for
// an unknown session, an unknown action or a prompt without anything usable,
// -32600 when a prompt is running or when the action has nothing to continue,
// -32603 when the model fails. Source: prompt turn; seed 56, 110-112.
func (c *connection) sessionPrompt(ctx context.Context, p *reasonix.PromptRequest) (*reasonix.PromptResponse, error) {
	const method = acp.MethodSessionPrompt
	s := c.sessions.Find(string(p.SessionID))
	if s == nil {
		return nil, badParam(method, "/sessionId", "unknown session %q", p.SessionID)
	}
	if p.Action != nil && *p.Action != "" {
		if !p.Action.Known() {
			return nil, badParam(method, "/action", "unknown action %q", *p.Action)
		}
		return nil, fault(acp.ErrorCodeInvalidRequest, method, "there is no final check to continue")
	}
	text, err := flatten(p.Prompt)
	if err != nil {
		return nil, badParam(method, "/prompt", "%v", err)
	}
	turnCtx, end, err := s.Begin(ctx)
	if err != nil {
		return nil, fault(acp.ErrorCodeInvalidRequest, method, "%v", err)
	}
	defer end()
	rpc.Admitted(ctx) // from here a session/cancel behind this prompt finds the turn

	outcome := turn.Run(turnCtx, turn.Turn{
		Model: s.Model, System: system, Tools: s.Tools, History: s.History, Prompt: text, Policy: s.Policy,
		MaxSteps: s.MaxSteps, EachDelta: s.EachDelta, Ask: c.ask(s), Emit: c.emit(turnCtx, s),
	})
	return c.stopReason(s, outcome)
}

// stopReason is the one place where an outcome becomes an answer. Failure is an
// error, never a stop reason of its own.
func (c *connection) stopReason(s *session.Session, outcome turn.Outcome) (*reasonix.PromptResponse, error) {
	switch o := outcome.(type) {
	case turn.EndTurn:
		return &reasonix.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	case turn.MaxTokens:
		return &reasonix.PromptResponse{StopReason: acp.StopReasonMaxTokens}, nil
	case turn.MaxTurnRequests:
		return &reasonix.PromptResponse{StopReason: acp.StopReasonMaxTurnRequests}, nil
	case turn.Refusal:
		return &reasonix.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
	case turn.Cancelled:
		return &reasonix.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case turn.Failed:
		c.conf.Logger.Error("turn failed", "session", s.ID, "model", s.ModelRef, "error", o.Err)
		return nil, fault(acp.ErrorCodeInternalError, acp.MethodSessionPrompt, "%v", o.Err)
	}
	return nil, fault(acp.ErrorCodeInternalError, acp.MethodSessionPrompt, "unknown outcome %T", outcome)
}

// errEmptyPrompt says what a prompt must hold.
var errEmptyPrompt = errors.New("the prompt holds no text; send a text block, an embedded text resource or a resource link")

// flatten makes one text of the blocks, joined by blank lines. A block that the
// model cannot use is named in its place; a prompt of nothing else is refused.
func flatten(blocks []acp.ContentBlock) (string, error) {
	var parts []string
	usable := false
	add := func(text string, counts bool) {
		if strings.TrimSpace(text) != "" {
			parts = append(parts, text)
			usable = usable || counts
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case *acp.TextContent:
			add(b.Text, true)
		case *acp.ResourceLink:
			add(fmt.Sprintf("[%s](%s)", b.Name, b.URI), true)
		case *acp.EmbeddedResource:
			if r, ok := b.Resource.(*acp.TextResourceContents); ok {
				add(fmt.Sprintf("%s:\n%s", r.URI, r.Text), strings.TrimSpace(r.Text) != "")
				continue
			}
			add("[a binary resource was attached, which this agent cannot read]", false)
		case *acp.Unknown:
			add(fmt.Sprintf("[a block of type %q was attached, which this agent does not know]", b.Tag), false)
		default:
			add("[an image or a sound was attached, which this agent cannot use]", false)
		}
	}
	if !usable {
		return "", errEmptyPrompt
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n")), nil
}
