package agent

import (
	"context"
	"errors"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionSetConfigOption sets one option and answers with all of them. The preset
// holds at once, also for the running turn; model and effort when it has ended.
// Errors: -32602 for what is not on offer, -32600 for model and effort while a
// question to the user is open or, without a turn, commands run in the background, -32000 for a model without a key, -32603 when the
// model cannot be used or the change not be saved; nothing changes then. Source:
// session config options; seed 84-104.
func (c *connection) sessionSetConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*reasonix.SetSessionConfigOptionResponse, error) {
	const method = acp.MethodSessionSetConfigOption
	s := c.sessions.Find(string(p.SessionID))
	if s == nil {
		return nil, badParam(method, "/sessionId", "unknown session %q", p.SessionID)
	}
	value, ok := p.Value.(*acp.SetSessionConfigOptionRequestValueID)
	if !ok {
		return nil, badParam(method, "/value", "the value of %q is a string", p.ConfigID)
	}
	s.Changing.Lock()
	defer s.Changing.Unlock()
	change, err := axes.ParseChange(string(p.ConfigID), string(value.Value), c.options(s))
	if err != nil {
		pointer := "/configId"
		var unknown *axes.UnknownError
		if errors.As(err, &unknown) && unknown.What != "option" {
			pointer = "/value"
		}
		return nil, badParam(method, pointer, "%v", err)
	}
	if change.Notice != "" {
		return &reasonix.SetSessionConfigOptionResponse{ConfigOptions: wireOptions(c.options(s)), DeprecatedNotice: &change.Notice,
			Meta: vendorMeta(&reasonix.ResultMetadata{DeprecatedNotice: &change.Notice})}, nil
	}
	if err := c.setOption(ctx, method, s, change); err != nil {
		return nil, err
	}
	return &reasonix.SetSessionConfigOptionResponse{ConfigOptions: wireOptions(c.options(s))}, nil
}

// setOption makes a change that is on offer. The caller holds s.Changing.
func (c *connection) setOption(ctx context.Context, method string, s *session.Session, change axes.Change) error {
	now := s.State().Wanted()
	var set event.Set
	switch change.Option {
	case axes.PresetOption:
		if err := s.RecordSynced(event.Set{Preset: &change.Value}); err != nil {
			return fault(acp.ErrorCodeInternalError, method, "%v", err)
		}
		s.Policy.SetPreset(permission.Preset(change.Value))
		c.tellOptions(ctx, s)
		return nil
	case axes.EffortOption:
		set.Effort = &change.Value
	case axes.ModelOption:
		set.Model = &change.Value
		conf, err := c.load(s.Workspace.Root())
		if err != nil {
			return openError(method, err)
		}
		ref, err := conf.Resolve(change.Value)
		if err == nil {
			err = conf.CheckReady(ref)
		}
		if err != nil {
			return openError(method, err)
		}
		set.Effort = new(axes.FitEffort(now.Effort, offer(conf, ref)))
	}
	if s.Asking() {
		return fault(acp.ErrorCodeInvalidRequest, method, "a question to the user is open; answer it first")
	}
	set.Later = s.Busy()
	if !set.Later && s.Shell.Jobs.Running() {
		return fault(acp.ErrorCodeInvalidRequest, method, "commands run in the background; wait for them, or end them with `/process stop ID`")
	}
	if !set.Later && set.Model != nil {
		if err := c.useModel(s, *set.Model); err != nil {
			return openError(method, err)
		}
	}
	if err := s.RecordSynced(set); err != nil {
		if !set.Later && set.Model != nil {
			_ = c.useModel(s, now.Model)
		}
		return fault(acp.ErrorCodeInternalError, method, "%v", err)
	}
	if !set.Later {
		c.tellCommands(ctx, s)
	}
	c.tellOptions(ctx, s)
	return nil
}

// useModel makes the model with this reference the one in force.
func (c *connection) useModel(s *session.Session, reference string) error {
	conf, err := c.load(s.Workspace.Root())
	if err != nil {
		return err
	}
	ref, err := conf.Resolve(reference)
	if err != nil {
		return err
	}
	return s.UseModel(ref.String(), func() (session.Model, error) { return c.openModel(conf, ref) })
}

// endTurn makes the session idle, and first carries out what waited for that. What
// cannot be carried out is taken back, and the user is told.
func (c *connection) endTurn(ctx context.Context, s *session.Session, t *session.Turn) {
	s.Changing.Lock()
	defer s.Changing.Unlock()
	defer s.End(t)
	state := s.State()
	if state.Later == (event.Set{}) {
		return
	}
	set, failed := state.Later, false
	if set.Model != nil {
		if err := c.useModel(s, *set.Model); err != nil {
			set.Model, set.Effort, failed = &state.Axes.Model, &state.Axes.Effort, true
			_ = c.tell(ctx, s, event.Warning{Text: "the model could not be changed: " + err.Error()})
		}
	}
	if err := s.RecordSynced(set); err != nil {
		c.conf.Logger.Error("a change could not be saved; it is tried again when the next turn ends", "session", s.ID, "error", err)
		if set.Model != nil {
			_ = c.useModel(s, state.Axes.Model)
		}
		return
	}
	if set.Mode != nil && *set.Mode != state.Axes.Mode {
		s.Policy.SetPlan(*set.Mode == axes.Plan)
		c.tellMode(ctx, s)
	}
	switch {
	case failed:
		c.tellOptions(ctx, s)
	case set.Model != nil || set.Effort != nil:
		c.tellCommands(ctx, s)
	}
}
