package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/command"
	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// place is where a session works, as a host names it.
type place struct {
	cwd    string
	dirs   []string
	conf   *config.Config
	ws     *workspace.Workspace
	policy *permission.Policy
}

// place checks what a host says about the place of a session.
func (c *connection) place(method, cwd string, dirs []string, servers []reasonix.MCPServer) (*place, error) {
	if why := isDir(cwd); why != "" {
		return nil, badParam(method, "/cwd", "cwd %q %s", cwd, why)
	}
	for i, dir := range dirs {
		if why := isDir(dir); why != "" {
			return nil, badParam(method, fmt.Sprintf("/additionalDirectories/%d", i), "directory %q %s", dir, why)
		}
	}
	for i, server := range servers {
		if where, why := unusable(server); why != "" {
			return nil, badParam(method, fmt.Sprintf("/mcpServers/%d/%s", i, where), "%s", why)
		}
	}
	if n := len(servers); n > 0 {
		c.conf.Logger.Warn("MCP servers are not supported by this version; they are not started", "count", n)
	}
	ws, err := workspace.Open(cwd, dirs...)
	if err != nil {
		return nil, badParam(method, "/cwd", "%v", err)
	}
	conf, err := c.load(ws.Root())
	if err != nil {
		return nil, openError(method, err)
	}
	policy, err := c.policy(conf, ws)
	if err != nil {
		return nil, openError(method, err)
	}
	return &place{cwd: cwd, dirs: dirs, conf: conf, ws: ws, policy: policy}, nil
}

// unusable says what is wrong with an MCP server that can be decoded: the member,
// and why. Source: wire 14.
func unusable(server reasonix.MCPServer) (where, why string) {
	list := "headers"
	var names []string
	header := func(all []acp.HTTPHeader) {
		for _, h := range all {
			names = append(names, h.Name)
		}
	}
	switch s := server.(type) {
	case *reasonix.Unknown:
		return "type", fmt.Sprintf("MCP servers of type %q are not known; known are stdio, http and sse", s.Tag)
	case *reasonix.MCPServerHTTP:
		header(s.Headers)
	case *reasonix.MCPServerSSE:
		header(s.Headers)
	case *reasonix.MCPServerStdio:
		list = "env"
		for _, v := range s.Env {
			names = append(names, v.Name)
		}
	}
	for i, name := range names {
		if strings.TrimSpace(name) == "" {
			return fmt.Sprintf("%s/%d/name", list, i), "a name in " + list + " is blank"
		}
	}
	return "", ""
}

// furnish gives a session what it needs besides what it has written down.
func (c *connection) furnish(s *session.Session, at *place) {
	s.CWD, s.Dirs, s.Workspace = at.cwd, at.dirs, at.ws
	s.System = systemPrompt(at.ws)
	a := at.conf.Agent
	s.Limits = turn.Limits{Steps: a.MaxSteps, Time: a.TaskTime, Tokens: a.TaskTokens, Retry: a.Retry}
	s.EachDelta = !a.Coalesce
	s.Secrets = func() []string { return secrets(at.conf) }
	s.Commands = command.Load(command.Options{Logger: c.conf.Logger, Folders: []command.Folder{
		{Dir: filepath.Join(at.ws.Root(), ".reasonix"), Origin: "project"}, {Dir: at.conf.Home, Origin: "user"}}})
	s.Policy = at.policy
	s.Shell = c.shell(s, at)
	s.Confined = at.conf.Sandbox.Bash != config.SandboxOff
	s.Network = at.conf.Sandbox.Network
	s.Tools = c.tools(s, at)
	now := s.State().Axes
	s.Policy.SetPreset(axes.StoredPreset(now.Preset))
	s.Policy.SetPlan(axes.StoredMode(now.Mode) == axes.Plan)
}

// reopen takes a stored session over for load and resume. Its release must be
// called when the caller is done with it.
func (c *connection) reopen(method string, id acp.SessionID, cwd *string, dirs []string, servers []reasonix.MCPServer) (s *session.Session, release func(), err error) {
	if err := checkID(method, id); err != nil {
		return nil, nil, err
	}
	if cwd != nil && !filepath.IsAbs(*cwd) {
		return nil, nil, badParam(method, "/cwd", "cwd %q is not an absolute path", *cwd)
	}
	s, release = c.sessions.Hold(string(id))
	if s != nil {
		return s, release, nil // open here: as it is
	}
	if s, err = c.reopenStored(method, string(id), cwd, dirs, servers); err != nil {
		release()
		return nil, nil, err
	}
	c.sessions.Add(s)
	return s, release, nil
}

func (c *connection) reopenStored(method, id string, cwd *string, dirs []string, servers []reasonix.MCPServer) (_ *session.Session, err error) {
	store, err := c.store()
	if err != nil {
		return nil, openError(method, err)
	}
	s, err := session.Open(store, id)
	if err != nil {
		if errors.Is(err, ledger.ErrUnknown) && c.conf.NoPersist {
			return nil, fault(acp.ErrorCodeInternalError, method, "session %q is not open here, and this agent keeps none (--no-persist)", id)
		}
		return nil, openError(method, err)
	}
	defer func() {
		if err != nil {
			_ = s.Log.Close()
		}
	}()
	stored := s.CWD
	if cwd == nil {
		if !filepath.IsAbs(stored) {
			return nil, badParam(method, "/cwd", "the stored cwd %q is not an absolute path; send a cwd", stored)
		}
		if why := isDir(stored); why != "" {
			return nil, fault(acp.ErrorCodeResourceNotFound, method, "the session's cwd %q %s", stored, why)
		}
		cwd = &stored
	} else if why := isDir(*cwd); why != "" && isDir(stored) != "" {
		return nil, fault(acp.ErrorCodeResourceNotFound, method, "the session's cwd %q %s", stored, isDir(stored))
	}
	at, err := c.place(method, *cwd, dirs, servers)
	if err != nil {
		return nil, err
	}
	c.furnish(s, at)
	if err := c.refit(method, s, at); err != nil {
		return nil, err
	}
	return s, nil
}

// refit gives a stored session its model. One that is not configured any more,
// and an effort that is not on offer, are replaced, and that is written down.
func (c *connection) refit(method string, s *session.Session, at *place) error {
	now := s.State().Axes
	ref, err := at.conf.Resolve(now.Model)
	if err != nil || now.Model == "" {
		if ref, err = at.conf.Resolve(c.conf.Model); err != nil {
			return openError(method, err)
		}
	}
	if err := s.UseModel(ref.String(), func() (session.Model, error) { return c.openModel(at.conf, ref) }); err != nil {
		return openError(method, err)
	}
	fit := event.Axes{Model: ref.String(), Effort: axes.FitEffort(now.Effort, offer(at.conf, ref)), Preset: string(axes.StoredPreset(now.Preset)), Mode: axes.StoredMode(now.Mode)}
	if fit == now {
		return nil
	}
	if _, err := s.Record(event.Set{Model: &fit.Model, Effort: &fit.Effort, Preset: &fit.Preset, Mode: &fit.Mode}); err != nil {
		return openError(method, err)
	}
	return nil
}

// openError gives a session that cannot be opened its code.
func openError(method string, err error) error {
	var noKey *config.ErrNoKey
	var held *ledger.HeldError
	switch {
	case errors.Is(err, config.ErrNoProvider) || errors.As(err, &noKey):
		return fault(acp.ErrorCodeAuthenticationRequired, method, "%v (auth method %q)", err, setupMethod)
	case errors.As(err, &held):
		return fault(acp.ErrorCodeInvalidRequest, method, "%v", err)
	case errors.Is(err, ledger.ErrUnknown):
		return badParam(method, "/sessionId", "%v", err)
	}
	return fault(acp.ErrorCodeInternalError, method, "%v", err)
}
