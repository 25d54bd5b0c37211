package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
	"github.com/acpkit/acpkit/rpc"
)

// sessionPrompt runs one turn and answers when it has ended and is on the disk.
// Errors: -32602 for an unknown session, an unknown action or a prompt without
// anything usable, -32600 when a prompt is running or when the action has nothing
// to continue, -32603 when the model fails or the session cannot be saved. Source:
// prompt turn; seed 56, 110-112.
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
	call, isCommand := s.Commands.Find(text)
	submit := ""
	if isCommand && !call.Local {
		if submit, err = s.Commands.Expand(call); err != nil {
			return nil, fault(acp.ErrorCodeInternalError, method, "/%s: %v", call.Name, err)
		}
	}
	turnCtx, t, err := s.Begin(ctx)
	switch {
	case errors.Is(err, session.ErrClosed):
		return nil, badParam(method, "/sessionId", "%v", err)
	case err != nil:
		return nil, fault(acp.ErrorCodeInvalidRequest, method, "%v", err)
	}
	rpc.After(ctx, t.Answered)
	rpc.Admitted(ctx) // from here a session/cancel behind this prompt finds the turn
	// Whether or not the turn was cancelled, this is owed.
	defer c.endTurn(context.WithoutCancel(ctx), s, t)
	s.AwaitChange()

	var outcome turn.Outcome
	if isCommand && call.Local {
		outcome = c.runCommand(turnCtx, s, call)
	} else {
		outcome = c.runTurn(turnCtx, s, event.Prompt{Text: text, Submit: submit})
	}
	return c.finish(context.WithoutCancel(ctx), s, outcome)
}

func (c *connection) runTurn(ctx context.Context, s *session.Session, p event.Prompt) turn.Outcome {
	if note := modeNote(s.State().Axes.Mode); note != "" {
		p.Submit = cmp.Or(p.Submit, p.Text) + "\n\n" + note
	}
	if err := c.tell(context.WithoutCancel(ctx), s, p); err != nil {
		return turn.Failed{Err: err}
	}
	m, now, hide := s.Model(), s.State().Axes, redactor(s)
	return turn.Run(ctx, turn.Turn{
		Model: m, Window: m.Window, Effort: modelEffort(now.Effort), System: s.System, Tools: s.Tools, History: s.History,
		Prompt: cmp.Or(p.Submit, p.Text), Policy: s.Policy, Limits: s.Limits, EachDelta: s.EachDelta, Goal: func() bool { return openGoal(s) },
		Origin: now.Model, Redact: hide.Text, Hide: hideSecrets(s),
		Ask: c.ask(s), Emit: func(e turn.Event) error { return c.tell(ctx, s, e) },
	})
}

// finish writes down how the turn ended, has it on the disk and makes the answer.
func (c *connection) finish(ctx context.Context, s *session.Session, outcome turn.Outcome) (*reasonix.PromptResponse, error) {
	done, reason, err := c.ended(s, outcome)
	lost := c.tell(ctx, s, done)
	if warning := s.Limits.Warning(outcome); warning != "" && lost == nil {
		lost = c.tell(ctx, s, event.Warning{Text: warning})
	}
	c.tellContext(ctx, s)
	if lost = errors.Join(lost, s.Log.Sync()); lost != nil && err == nil && !errors.Is(lost, rpc.ErrClosed) {
		err = c.unsaved(ctx, s, lost)
	}
	if err != nil {
		return nil, err
	}
	res := &reasonix.PromptResponse{StopReason: reason}
	if folder := s.Log.Info().Folder; folder != "" {
		res.TranscriptPath = new(filepath.Join(folder, "log"))
	}
	if u := s.State().Status.Turn; u.Input+u.Output > 0 {
		res.Usage = &reasonix.PromptUsage{InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Input + u.Output}
		if u.Cached > 0 {
			res.Usage.CachedReadTokens = &u.Cached
		}
		if u.Reasoning > 0 {
			res.Usage.ThoughtTokens = &u.Reasoning
		}
	}
	return res, nil
}

// unsaved ends a turn that could not be written down: nothing is acknowledged, the
// host is told why, and the next prompt tries again.
func (c *connection) unsaved(ctx context.Context, s *session.Session, cause error) error {
	s.Show.Lock()
	defer s.Show.Unlock()
	c.conf.Logger.Error("the turn could not be saved", "session", s.ID, "error", cause)
	publish := s.Follow(event.Done{Outcome: event.Failed, Reason: bounded(cause.Error())})
	if err := c.tellStatus(ctx, s, publish); err != nil {
		c.conf.Logger.Warn("a status was not sent", "session", s.ID, "error", err)
	}
	return fault(acp.ErrorCodeInternalError, acp.MethodSessionPrompt, "%v", cause)
}

// ended is the one place where an outcome becomes an answer. Failure is an error,
// never a stop reason of its own.
func (c *connection) ended(s *session.Session, outcome turn.Outcome) (event.Done, acp.StopReason, error) {
	switch o := outcome.(type) {
	case turn.EndTurn:
		return event.Done{Outcome: event.EndTurn}, acp.StopReasonEndTurn, nil
	case turn.MaxTokens:
		return event.Done{Outcome: event.MaxTokens}, acp.StopReasonMaxTokens, nil
	case turn.MaxTurnRequests:
		return event.Done{Outcome: event.MaxTurnRequests, Reason: "max_steps"}, acp.StopReasonMaxTurnRequests, nil
	case turn.Budget:
		return event.Done{Outcome: event.Budget, Reason: o.Limit}, acp.StopReasonEndTurn, nil
	case turn.Dismissed:
		return event.Done{Outcome: event.Dismissed, Reason: "the question was dismissed"}, acp.StopReasonEndTurn, nil
	case turn.Refusal:
		return event.Done{Outcome: event.Refusal}, acp.StopReasonRefusal, nil
	case turn.Cancelled:
		return event.Done{Outcome: event.Cancelled}, acp.StopReasonCancelled, nil
	case turn.Failed:
		cause := redactor(s).Clip(o.Err.Error(), maxCause)
		c.conf.Logger.Error("turn failed", "session", s.ID, "model", s.State().Axes.Model, "error", cause)
		return event.Done{Outcome: event.Failed, Reason: cause}, "", fault(acp.ErrorCodeInternalError, acp.MethodSessionPrompt, "%s", cause)
	}
	err := fault(acp.ErrorCodeInternalError, acp.MethodSessionPrompt, "unknown outcome %T", outcome)
	return event.Done{Outcome: event.Failed, Reason: err.Message}, "", err
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
