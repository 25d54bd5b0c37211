package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/demo"
	"github.com/acpkit/acpkit/agent/internal/model/scripted"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionNew opens a session in cwd. Errors: -32602 for a cwd that is relative,
// missing or a file; -32000 when no provider or no key is configured, because
// signing in helps then; -32603 for a configuration or a model reference that
// cannot be used. Source: session setup; seed 53, 78.
func (c *connection) sessionNew(_ context.Context, p *reasonix.NewSessionRequest) (*reasonix.NewSessionResponse, error) {
	const method = acp.MethodSessionNew
	if why := isDir(p.CWD); why != "" {
		return nil, badParam(method, "/cwd", "cwd %q %s", p.CWD, why)
	}
	for i, server := range p.MCPServers {
		if u, unknown := server.(*reasonix.Unknown); unknown {
			return nil, badParam(method, fmt.Sprintf("/mcpServers/%d/type", i), "MCP servers of type %q are not known; known are stdio, http and sse", u.Tag)
		}
	}
	if n := len(p.MCPServers); n > 0 {
		c.conf.Logger.Warn("MCP servers are not supported by this version; they are not started", "count", n)
	}
	ws, err := workspace.Open(p.CWD)
	if err != nil {
		return nil, badParam(method, "/cwd", "cwd %q: %v", p.CWD, err)
	}
	s, err := c.newSession(ws)
	if err != nil {
		return nil, openError(method, err)
	}
	c.sessions.Add(s)
	return &reasonix.NewSessionResponse{SessionID: acp.SessionID(s.ID)}, nil
}

// openError gives a session that cannot be opened its code.
func openError(method string, err error) error {
	var noKey *config.ErrNoKey
	if errors.Is(err, config.ErrNoProvider) || errors.As(err, &noKey) {
		return fault(acp.ErrorCodeAuthenticationRequired, method, "%v (auth method %q)", err, setupMethod)
	}
	return fault(acp.ErrorCodeInternalError, method, "%v", err)
}

func (c *connection) newSession(ws *workspace.Workspace) (*session.Session, error) {
	conf, err := c.load(ws.Root())
	if err != nil {
		return nil, err
	}
	ref, err := conf.Resolve(c.conf.Model)
	if err != nil {
		return nil, err
	}
	m, err := openModel(conf, ref)
	if err != nil {
		return nil, err
	}
	return &session.Session{
		ID: c.conf.NewID(), Workspace: ws, ModelRef: ref.String(), Model: m,
		Tools:    tool.NewSet(tool.ReadFile(ws), tool.WriteFile(ws), tool.TodoWrite()),
		History:  turn.NewHistory(nil),
		Policy:   &permission.Policy{}, // read-only: reads run, writes ask
		MaxSteps: conf.Agent.MaxSteps, EachDelta: !conf.Agent.Coalesce,
	}, nil
}

// openModel makes the session's own instance of the model.
func openModel(conf *config.Config, ref config.Model) (model.Model, error) {
	if err := conf.CheckReady(ref); err != nil {
		return nil, err
	}
	provider, _ := conf.Provider(ref.Provider)
	switch provider.Kind {
	case config.KindOffline:
		return demo.Model{}, nil
	case config.KindScripted:
		script, err := scripted.Load(provider.File)
		if err != nil {
			return nil, err
		}
		return script.New(), nil
	}
	return unreachable{ref, provider.Kind}, nil
}

// unreachable is a model whose provider this version cannot talk to. The session
// opens all the same, since its model can be another one later, and each prompt
// says what is the matter.
type unreachable struct {
	ref  config.Model
	kind string
}

func (u unreachable) Stream(context.Context, *model.Request, func(model.Delta) error) (model.Result, error) {
	return model.Result{}, fmt.Errorf("model %s: this version cannot talk to providers of kind %q yet; use a scripted provider or --model offline/demo", u.ref, u.kind)
}
