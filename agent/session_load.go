package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionLoad opens a stored session, or one that is open here, and shows all
// that it has shown before it answers. Nothing is run or fetched for that.
// Errors: see reopen and place; -32002 when the stored cwd is gone, -32600 when
// another process has the session, -32800 when it is cancelled before all is
// shown. Source: session setup, loading; seed 54, 75.
func (c *connection) sessionLoad(ctx context.Context, p *reasonix.LoadSessionRequest) (*reasonix.LoadSessionResponse, error) {
	const method = acp.MethodSessionLoad
	wasOpen := c.sessions.Find(string(p.SessionID)) != nil
	s, release, err := c.reopen(method, p.SessionID, p.CWD, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.replay(ctx, s); err != nil {
		if !wasOpen { // a load that failed has opened nothing
			c.sessions.Remove(s.ID)
			_ = s.Log.Close()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fault(acp.ErrorCodeInternalError, method, "%v", err)
	}
	o := c.offered(s)
	c.announce(ctx, s)
	return &reasonix.LoadSessionResponse{Modes: o.modes, ConfigOptions: o.options, Models: o.models, Meta: o.meta()}, nil
}
