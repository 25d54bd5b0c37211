package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/generated/acp"
)

// ask puts the question about an announced call to the user. Only an option
// that was offered is an answer; everything else denies. Source: tool calls,
// requesting permission; seed 235-240.
func (c *connection) ask(s *session.Session) func(context.Context, turn.Ask) (permission.Answer, error) {
	return func(ctx context.Context, ask turn.Ask) (permission.Answer, error) {
		req := &acp.RequestPermissionRequest{SessionID: acp.SessionID(s.ID), ToolCall: asUpdate(toolCall(ask.Call))}
		for _, o := range ask.Verdict.Options {
			// The ids are the kinds; both are the spec's words.
			req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID(o.Answer), Name: o.Name, Kind: acp.PermissionOptionKind(o.Answer)})
		}
		defer s.Ask()()
		if err := c.tell(ctx, s, event.Waiting{ID: ask.Call.ID}); err != nil {
			return permission.Cancelled, err
		}
		res, err := c.client.SessionRequestPermission(ctx, req)
		if ctx.Err() != nil {
			return permission.Cancelled, ctx.Err() // a cancelled turn is nothing odd
		}
		if err != nil {
			c.conf.Logger.Warn("permission request failed; the call is refused", "session", s.ID, "call", ask.Call.ID, "error", err)
			return permission.Cancelled, err
		}
		chosen, ok := res.Outcome.(*acp.SelectedPermissionOutcome)
		if !ok {
			return permission.Cancelled, nil
		}
		for _, o := range req.Options {
			if o.OptionID == chosen.OptionID {
				return permission.Answer(o.Kind), nil
			}
		}
		return permission.Cancelled, nil
	}
}

// asUpdate is the call in the form that a permission request carries.
func asUpdate(t *acp.ToolCall) acp.ToolCallUpdate {
	return acp.ToolCallUpdate{ToolCallID: t.ToolCallID, Title: &t.Title, Name: t.Name, Kind: t.Kind, Status: t.Status,
		Content: t.Content, Locations: t.Locations, RawInput: t.RawInput}
}
