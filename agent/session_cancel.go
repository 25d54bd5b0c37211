package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionCancel ends the running turn of the session, whose prompt then answers
// `cancelled`. An unknown session is silence; as a
// request it is answered {} either way. Source: prompt turn, cancellation.
func (c *connection) sessionCancel(_ context.Context, p *reasonix.CancelNotification) error {
	if s := c.sessions.Find(string(p.SessionID)); s != nil {
		s.Cancel()
	}
	return nil
}
