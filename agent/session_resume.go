package agent

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionResume is sessionLoad without the replay. Source: session setup,
// resuming; seed 55.
func (c *connection) sessionResume(ctx context.Context, p *reasonix.ResumeSessionRequest) (*reasonix.ResumeSessionResponse, error) {
	s, release, err := c.reopen(acp.MethodSessionResume, p.SessionID, p.CWD, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	defer release()
	o := c.offered(s)
	c.announce(ctx, s)
	return &reasonix.ResumeSessionResponse{Modes: o.modes, ConfigOptions: o.options, Models: o.models, Meta: o.meta()}, nil
}
