package agent

import (
	"context"
	"strings"

	"github.com/acpkit/acpkit/generated/acp"
)

// authenticate accepts the advertised method and does nothing: a host runs a
// terminal method by itself, but some hosts call this first.
func (c *connection) authenticate(_ context.Context, p *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	if id := strings.TrimSpace(string(p.MethodID)); id != setupMethod {
		return nil, badParam(acp.MethodAuthenticate, "/methodId", "unknown method %q; the only one is %q", id, setupMethod)
	}
	return &acp.AuthenticateResponse{}, nil
}
