package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
	"github.com/acpkit/acpkit/rpc"
)

// offered is what a session can be set to, as the answers that open one say it.
type offered struct {
	modes   *acp.SessionModeState
	options []acp.SessionConfigOption
	models  *reasonix.SessionModelState
}

// meta repeats what stands beside the protocol's own members, for hosts that look
// only there.
func (o offered) meta() json.RawMessage {
	return vendorMeta(&reasonix.ResultMetadata{Models: o.models})
}

func vendorMeta(m *reasonix.ResultMetadata) json.RawMessage {
	return append(m.AppendJSON([]byte(`{"reasonix.io":`)), '}')
}

// offered tells what is wanted: a change that waits for the end of the turn is
// shown as made, because it was answered so.
func (c *connection) offered(s *session.Session) offered {
	now := s.State().Wanted()
	list := c.options(s)
	o := offered{modes: &acp.SessionModeState{CurrentModeID: acp.SessionModeID(now.Mode)}, models: &reasonix.SessionModelState{CurrentModelID: reasonix.ModelReference(now.Model)}}
	for _, m := range axes.Modes() {
		o.modes.AvailableModes = append(o.modes.AvailableModes, acp.SessionMode{ID: acp.SessionModeID(m.ID), Name: m.Name, Description: &m.Description})
	}
	for _, v := range list[0].Values {
		o.models.AvailableModels = append(o.models.AvailableModels, reasonix.SessionModel{ModelID: reasonix.ModelReference(v.Value), Name: v.Name, Description: &v.Description})
	}
	o.options = wireOptions(list)
	return o
}

// options is what is on offer for the session now. A configuration that cannot be
// read leaves the current model alone on offer.
func (c *connection) options(s *session.Session) []axes.Option {
	now := s.State().Wanted()
	conf, err := c.load(s.Workspace.Root())
	if err != nil {
		return axes.Options(nil, axes.Current{Model: axes.Model{Ref: now.Model}, Effort: now.Effort, Preset: permission.Preset(now.Preset)})
	}
	var models []axes.Model
	for _, m := range conf.Models() {
		models = append(models, offer(conf, m))
	}
	current := axes.Model{Ref: now.Model}
	if ref, err := conf.Resolve(now.Model); err == nil {
		current = offer(conf, ref)
	}
	return axes.Options(models, axes.Current{Model: current, Effort: now.Effort, Preset: permission.Preset(now.Preset)})
}

func offer(conf *config.Config, m config.Model) axes.Model {
	return axes.Model{Ref: m.String(), Provider: m.Provider, Efforts: conf.Efforts(m)}
}

func wireOptions(list []axes.Option) (options []acp.SessionConfigOption) {
	for _, o := range list {
		sel := &acp.SessionConfigSelect{CurrentValue: acp.SessionConfigValueID(o.Current)}
		var values acp.SessionConfigSelectOptionsUngrouped
		for _, v := range o.Values {
			value := acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(v.Value), Name: v.Name}
			if v.Description != "" {
				value.Description = &v.Description
			}
			values = append(values, value)
		}
		sel.Options = values
		options = append(options, acp.SessionConfigOption{ID: acp.SessionConfigID(o.ID), Name: o.Name, Category: new(acp.SessionConfigOptionCategory(o.Category)), Type: sel})
	}
	return options
}

// announce has the slash commands told right behind the answer that opens the
// session; until then nothing else of it is shown. It is the last that a handler
// does.
func (c *connection) announce(ctx context.Context, s *session.Session) {
	s.Show.Lock()
	rpc.After(ctx, func() {
		defer s.Show.Unlock()
		c.send(ctx, s, commands(s))
	})
}

// tellCommands sends the slash commands.
func (c *connection) tellCommands(ctx context.Context, s *session.Session) {
	c.tellUpdate(ctx, s, commands(s))
}

func commands(s *session.Session) *acp.AvailableCommandsUpdate {
	u := &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{}}
	for _, e := range s.Commands.Entries() {
		cmd := acp.AvailableCommand{Name: e.Name, Description: e.Description}
		if e.Hint != "" {
			cmd.Input = &acp.UnstructuredCommandInput{Hint: e.Hint}
		}
		u.AvailableCommands = append(u.AvailableCommands, cmd)
	}
	return u
}

func (c *connection) tellOptions(ctx context.Context, s *session.Session) {
	c.tellUpdate(ctx, s, &acp.ConfigOptionUpdate{ConfigOptions: wireOptions(c.options(s))})
}

func (c *connection) tellMode(ctx context.Context, s *session.Session) {
	c.tellUpdate(ctx, s, &acp.CurrentModeUpdate{CurrentModeID: acp.SessionModeID(s.State().Axes.Mode)})
}

// tellUpdate sends an update that is no event of the session's history.
func (c *connection) tellUpdate(ctx context.Context, s *session.Session, u acp.SessionUpdate) {
	s.Show.Lock()
	defer s.Show.Unlock()
	c.send(ctx, s, u)
}

func (c *connection) send(ctx context.Context, s *session.Session, u acp.SessionUpdate) {
	if err := c.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: acp.SessionID(s.ID), Update: u}); err != nil && ctx.Err() == nil {
		c.conf.Logger.Warn("an update was not sent", "session", s.ID, "error", err)
	}
}
