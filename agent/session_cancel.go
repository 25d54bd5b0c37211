package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
)

// sessionCancel ends the running turn of the session, whose prompt then answers
// `cancelled`. An unknown session is silence. Source: prompt turn, cancellation.
func (c *connection) sessionCancel(_ context.Context, p *acp.CancelNotification) error {
	if s := c.sessions.Find(string(p.SessionID)); s != nil {
		s.Cancel()
	}
	return nil
}
