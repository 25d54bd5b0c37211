package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/generated/acp"
)

// sessionSetMode changes the mode, at once or when the running turn has ended. The
// ids of older hosts set the preset too, which holds at once. Errors: -32602 for
// an unknown session or mode, -32603 when the change cannot be saved. Source:
// session modes; seed 83.
func (c *connection) sessionSetMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	const method = acp.MethodSessionSetMode
	s := c.sessions.Find(string(p.SessionID))
	if s == nil {
		return nil, badParam(method, "/sessionId", "unknown session %q", p.SessionID)
	}
	mode, preset, ok := axes.ParseMode(string(p.ModeID))
	if !ok {
		return nil, badParam(method, "/modeId", "unknown mode %q; on offer are normal, plan and goal", p.ModeID)
	}
	s.Changing.Lock()
	defer s.Changing.Unlock()
	if preset != "" {
		if err := s.RecordSynced(event.Set{Preset: new(string(preset))}); err != nil {
			return nil, fault(acp.ErrorCodeInternalError, method, "%v", err)
		}
		s.Policy.SetPreset(permission.Preset(preset))
		c.tellOptions(ctx, s)
	}
	now := s.State()
	if now.Wanted().Mode == mode {
		return &acp.SetSessionModeResponse{}, nil
	}
	set := event.Set{Mode: &mode, Later: s.Busy()}
	if err := s.RecordSynced(set); err != nil {
		return nil, fault(acp.ErrorCodeInternalError, method, "%v", err)
	}
	if !set.Later {
		s.Policy.SetPlan(mode == axes.Plan)
		c.tellMode(ctx, s)
	}
	return &acp.SetSessionModeResponse{}, nil
}
