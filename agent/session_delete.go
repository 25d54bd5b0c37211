package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
)

// sessionDelete ends the session and removes all that is stored of it. Deleting
// what is not there is nothing. Errors: -32602 for an id of no allowed form,
// -32600 when another process has the session, -32603 when a file cannot be
// removed. Source: session deletion; seed 61.
func (c *connection) sessionDelete(_ context.Context, p *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	const method = acp.MethodSessionDelete
	if err := checkID(method, p.SessionID); err != nil {
		return nil, err
	}
	s, release := c.sessions.Hold(string(p.SessionID))
	defer release()
	if s != nil {
		s.Shut()
		c.sessions.Remove(s.ID)
		if err := s.Log.Delete(); err != nil {
			return nil, openError(method, err)
		}
		return &acp.DeleteSessionResponse{}, nil
	}
	store, err := c.store()
	if err != nil {
		return nil, openError(method, err)
	}
	if err := store.Delete(string(p.SessionID)); err != nil {
		return nil, openError(method, err)
	}
	return &acp.DeleteSessionResponse{}, nil
}
