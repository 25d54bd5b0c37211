package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
)

// sessionClose ends the session and keeps its history. A running prompt is
// answered `cancelled` first. Closing what is not open is nothing. Errors: -32602
// for an id of no allowed form, -32603 when the history cannot be saved. Source:
// session setup, closing; seed 60.
func (c *connection) sessionClose(_ context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	const method = acp.MethodSessionClose
	if err := checkID(method, p.SessionID); err != nil {
		return nil, err
	}
	s, release := c.sessions.Hold(string(p.SessionID))
	defer release()
	if s == nil {
		return &acp.CloseSessionResponse{}, nil
	}
	s.Shut()
	c.sessions.Remove(s.ID)
	if err := s.Log.Close(); err != nil {
		return nil, fault(acp.ErrorCodeInternalError, method, "%v", err)
	}
	return &acp.CloseSessionResponse{}, nil
}
