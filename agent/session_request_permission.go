package agent

import (
	"bytes"
	"context"
	"encoding/json"

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
		req.ToolCall.Meta = permissionMeta(ask, s.Workspace.Root())
		for _, o := range ask.Verdict.Options {
			// The ids are the kinds; both are the spec's words.
			req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID(o.Answer), Name: o.Name, Kind: acp.PermissionOptionKind(o.Answer)})
		}
		chosen, err := c.request(ctx, s, event.Waiting{ID: ask.Call.ID}, req)
		if err != nil || chosen < 0 {
			return permission.Cancelled, err
		}
		return permission.Answer(req.Options[chosen].Kind), nil
	}
}

// request asks the host, and returns the index of the option that was chosen, -1
// for none of them. While it is open the status says so.
func (c *connection) request(ctx context.Context, s *session.Session, waiting event.Waiting, req *acp.RequestPermissionRequest) (int, error) {
	defer s.Ask()()
	if err := c.tell(ctx, s, waiting); err != nil {
		return -1, err
	}
	res, err := c.client.SessionRequestPermission(ctx, req)
	if ctx.Err() != nil {
		return -1, ctx.Err() // a cancelled turn is nothing odd
	}
	if err != nil {
		c.conf.Logger.Warn("permission request failed; the call is refused", "session", s.ID, "call", waiting.ID, "error", err)
		return -1, err
	}
	if chosen, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
		for i, o := range req.Options {
			if o.OptionID == chosen.OptionID {
				return i, nil
			}
		}
	}
	return -1, nil
}

// asUpdate is the call in the form that a permission request carries.
func asUpdate(t *acp.ToolCall) acp.ToolCallUpdate {
	return acp.ToolCallUpdate{ToolCallID: t.ToolCallID, Title: &t.Title, Name: t.Name, Kind: t.Kind, Status: t.Status,
		Content: t.Content, Locations: t.Locations, RawInput: t.RawInput}
}

// permissionMeta is what the vendor adds to the call in question: what the
// policy knows of it, and the words of a command that needs no shell to be
// understood.
func permissionMeta(ask turn.Ask, cwd string) json.RawMessage {
	type block struct {
		ApprovalID           string   `json:"approvalId"`
		Tool                 string   `json:"tool"`
		Subject              string   `json:"subject"`
		Fresh                bool     `json:"fresh"`
		Reason               string   `json:"reason,omitempty"`
		CommandSchemaVersion int      `json:"commandSchemaVersion,omitempty"`
		Argv                 []string `json:"argv,omitempty"`
		CWD                  string   `json:"cwd,omitempty"`
	}
	v := ask.Verdict
	b := block{ApprovalID: ask.Call.ID, Tool: ask.Call.Tool, Subject: v.Subject, Fresh: v.Fresh, Reason: v.Reason}
	if v.Argv != nil {
		b.CommandSchemaVersion, b.Argv, b.CWD = 1, v.Argv, cwd
	}
	var meta bytes.Buffer
	enc := json.NewEncoder(&meta)
	enc.SetEscapeHTML(false) // commands are full of & and >
	if err := enc.Encode(map[string]block{"reasonix.io": b}); err != nil {
		return nil // strings always encode
	}
	return bytes.TrimSpace(meta.Bytes())
}
