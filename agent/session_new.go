package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionNew opens a session in cwd, with additionalDirectories as further roots.
// It is on the disk before the answer, and its commands are told behind it.
// Errors: -32602 for a directory that is relative, missing or a file; -32000 when
// no provider or no key is configured, because signing in helps then; -32603 for
// a configuration or a model reference that cannot be used, and when the session
// cannot be written. Source: session setup; seed 53, 78.
func (c *connection) sessionNew(ctx context.Context, p *reasonix.NewSessionRequest) (*reasonix.NewSessionResponse, error) {
	const method = acp.MethodSessionNew
	at, err := c.place(method, p.CWD, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	ref, err := at.conf.Resolve(c.conf.Model)
	if err != nil {
		return nil, openError(method, err)
	}
	m, err := c.openModel(at.conf, ref)
	if err != nil {
		return nil, openError(method, err)
	}
	store, err := c.store()
	if err != nil {
		return nil, openError(method, err)
	}
	s, err := session.Create(store, c.conf.NewID(), event.Opened{CWD: p.CWD, Directories: p.AdditionalDirectories,
		Axes: event.Axes{Model: ref.String(), Effort: axes.Auto, Preset: string(c.preset()), Mode: axes.Normal}})
	if err != nil {
		return nil, openError(method, err)
	}
	c.furnish(s, at)
	_ = s.UseModel(ref.String(), func() (session.Model, error) { return m, nil })
	c.sessions.Add(s)
	o := c.offered(s)
	c.announce(ctx, s)
	return &reasonix.NewSessionResponse{SessionID: acp.SessionID(s.ID), Modes: o.modes, ConfigOptions: o.options, Models: o.models, Meta: o.meta()}, nil
}

// preset is the one that a new session starts with. Full access comes from the
// flag alone, which the user typed; no file and no host can choose it here.
func (a *Agent) preset() permission.Preset {
	switch p := permission.Preset(a.conf.Preset); p {
	case permission.ReadOnly, permission.FullAccess:
		return p
	}
	return permission.WorkspaceWrite
}
