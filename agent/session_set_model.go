package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionSetModel is the older way to set the option model, with its errors.
// Source: seed 99.
func (c *connection) sessionSetModel(ctx context.Context, p *reasonix.SetSessionModelRequest) (*reasonix.SetSessionModelResponse, error) {
	const method = reasonix.MethodSessionSetModel
	s := c.sessions.Find(string(p.SessionID))
	if s == nil {
		return nil, badParam(method, "/sessionId", "unknown session %q", p.SessionID)
	}
	s.Changing.Lock()
	defer s.Changing.Unlock()
	change, err := axes.ParseChange(axes.ModelOption, string(p.ModelID), c.options(s))
	if err != nil {
		return nil, badParam(method, "/modelId", "%v", err)
	}
	if err := c.setOption(ctx, method, s, change); err != nil {
		return nil, err
	}
	return &reasonix.SetSessionModelResponse{}, nil
}
