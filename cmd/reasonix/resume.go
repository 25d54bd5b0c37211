package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// place says in which session and directory a command works.
type place struct {
	CWD    string   `name:"cwd" placeholder:"DIR" help:"Workspace: the agent reads and writes below it. Default: this directory, or that of the session which is resumed."`
	Resume resumeID `placeholder:"[ID]" help:"Go on with a stored session: its id or the beginning of it. Without one: the last session of the workspace."`
}

// resumeID is the value of --resume, which may be left out.
type resumeID struct {
	given bool
	id    string
}

// Decode implements kong.MapperValue.
func (r *resumeID) Decode(ctx *kong.DecodeContext) error {
	r.given = true
	next := ctx.Scan.Peek()
	if next.Type == kong.FlagValueToken || next.Type == kong.UntypedToken && !strings.HasPrefix(fmt.Sprint(next.Value), "-") {
		return ctx.Scan.PopValueInto("id", &r.id)
	}
	return nil
}

var _ kong.MapperValue = (*resumeID)(nil)

// find returns the directory to work in, and the id of the session to resume, ""
// for a new one.
func (p place) find(a *agent.Agent) (cwd, id string, err error) {
	if cwd, err = filepath.Abs(p.CWD); err != nil || !p.Resume.given {
		return cwd, "", err
	}
	if p.Resume.id == "" {
		list, err := a.Stored(cwd)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("no session of %s is stored; `reasonix sessions list` shows those of other directories", cwd)
		}
		if err != nil {
			return "", "", err
		}
		return cwd, list[0].ID, nil
	}
	if id, err = a.FindStored(p.Resume.id); err != nil || p.CWD != "" {
		return cwd, id, err
	}
	list, err := a.Stored("")
	if err != nil {
		return "", "", err
	}
	for _, s := range list {
		if s.ID == id && filepath.IsAbs(s.CWD) {
			return s.CWD, id, nil
		}
	}
	return cwd, id, nil
}

// opener opens a session for a command.
type opener struct {
	host    *host.Host
	options options
	cwd, id string
	replay  bool // of a resumed session
}

// open opens the session that was asked for. In a resumed one the model and the
// preset of the flags, if there are any, replace those that it had.
func (o opener) open(ctx context.Context) (*host.Session, error) {
	if _, err := o.host.Initialize(ctx); err != nil {
		return nil, err
	}
	if o.id == "" {
		return o.host.NewSession(ctx, o.cwd)
	}
	var s *host.Session
	var err error
	if o.replay {
		s, _, err = o.host.LoadSession(ctx, acp.SessionID(o.id), o.cwd)
	} else {
		s, err = o.host.ResumeSession(ctx, acp.SessionID(o.id), o.cwd)
	}
	if err != nil {
		return nil, err
	}
	for _, set := range []struct{ option, value string }{{"model", o.options.Model}, {"tool_approval", o.options.Preset}} {
		if set.value == "" {
			continue
		}
		res, err := o.host.Agent.SessionSetConfigOption(ctx, &acp.SetSessionConfigOptionRequest{SessionID: s.ID, ConfigID: acp.SessionConfigID(set.option),
			Value: &acp.SetSessionConfigOptionRequestValueID{Value: acp.SessionConfigValueID(set.value)}})
		if err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
		s.ConfigOptions = res.ConfigOptions
	}
	return s, nil
}

// current is what an option of the session is set to, "" if it has none.
func current(list []acp.SessionConfigOption, id acp.SessionConfigID) string {
	for _, o := range list {
		if sel, ok := o.Type.(*acp.SessionConfigSelect); ok && o.ID == id {
			return string(sel.CurrentValue)
		}
	}
	return ""
}
