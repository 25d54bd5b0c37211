package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/command"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/turn"
)

// runCommand runs a local slash command: no model is asked. Source: seed 154-158.
func (c *connection) runCommand(ctx context.Context, s *session.Session, call command.Call) turn.Outcome {
	if err := c.tell(context.WithoutCancel(ctx), s, event.Command{Input: call.Input}); err != nil {
		return turn.Failed{Err: err}
	}
	output := s.Commands.Run(ctx, c.env(s), call)
	if ctx.Err() != nil {
		return turn.Cancelled{}
	}
	if err := c.tell(ctx, s, event.Output{Text: output}); err != nil {
		return turn.Failed{Err: err}
	}
	return turn.EndTurn{}
}

// env is what the local commands show of this session, and change in it.
func (c *connection) env(s *session.Session) command.Env {
	return command.Env{
		Status: func() command.Status {
			state := s.State()
			st := state.Status
			return command.Status{SessionID: s.ID, State: "running", Phase: string(st.Phase), Model: state.Axes.Model, Effort: state.Axes.Effort,
				Mode: state.Axes.Mode, Preset: state.Axes.Preset, Sandbox: c.sandboxName(s), ContextSize: uint64(s.Model().Window), ContextUsed: st.All.Last.Input + st.All.Last.Output, Turns: st.Turns,
				Tokens: command.Tokens{Input: st.All.Input, Cached: st.All.Cached, Output: st.All.Output, Reasoning: st.All.Reasoning}}
		},
		Session: func() command.Session {
			info, state := s.Log.Info(), s.State()
			res := command.Session{ID: s.ID, CWD: s.CWD, Dirs: s.Dirs, Title: state.Title, Messages: s.Messages(), Events: int(info.Records), Bytes: info.Bytes, Folder: info.Folder}
			for r := range s.Log.Read(1) {
				res.Created = r.Time
				break
			}
			for r := range s.Log.Read(info.Records) {
				res.Updated = r.Time
			}
			return res
		},
		Save: func() (command.Saved, error) {
			if err := s.Log.Sync(); err != nil {
				return command.Saved{}, err
			}
			_, err := c.stored("", func(ledger.Summary) bool { return true }) // brings the index up to date
			info := s.Log.Info()
			return command.Saved{Folder: info.Folder, Events: int(info.Records), Checksum: info.Checksum}, err
		},
		Providers:    func() ([]command.Provider, error) { return c.providers(s) },
		CurrentModel: func() string { return s.State().Wanted().Model },
		Models: func() (refs []string, err error) {
			for _, v := range c.options(s)[0].Values {
				refs = append(refs, v.Value)
			}
			return refs, nil
		},
		SwitchModel: func(ctx context.Context, ref string) (string, error) { return c.switchModel(ctx, s, ref) },
		Sessions: func() (list []command.StoredSession, err error) {
			stored, err := c.listed(s.CWD)
			for _, sum := range stored {
				list = append(list, command.StoredSession{ID: sum.ID, Title: sum.Title, Updated: sum.Updated})
			}
			return list, err
		},
		History: func(n int) ([]command.Message, error) { return history(s, n) },
		Events:  func(n int) ([]command.Event, error) { return lastEvents(s, n) },
		Tree:    func() ([]command.Turn, error) { return tree(s) },
		Checkpoint: func() (command.Checkpoint, error) {
			if err := s.Log.Sync(); err != nil {
				return command.Checkpoint{}, err
			}
			return command.Checkpoint{LastSeq: s.Log.Info().Records}, nil
		},
		Team: func() []command.Member { return nil },
		Processes: func() (list []command.Process) {
			for _, j := range s.Shell.Jobs.List() {
				list = append(list, command.Process(j))
			}
			return list
		},
		Process: func(id string) (command.Process, string, error) {
			j, tail, err := s.Shell.Jobs.Get(id)
			return command.Process(j), tail, err
		},
		StopProcess: s.Shell.Jobs.Stop,
		Compactions: func(n int) ([]command.Compaction, error) { return compactions(s, n) },
		MCP:         func() []command.MCPServer { return nil },
		Experiments: func() []command.Experiment { return nil },
	}
}

func (c *connection) sandboxName(s *session.Session) string {
	if !s.Confined {
		return "off"
	}
	return string(c.sandbox.Engine())
}

func (c *connection) providers(s *session.Session) (list []command.Provider, err error) {
	conf, err := c.load(s.Workspace.Root())
	if err != nil {
		return nil, err
	}
	for _, p := range conf.Providers {
		key, err := conf.Secret(p.APIKeyEnv)
		list = append(list, command.Provider{Name: p.Name, Kind: p.Kind, BaseURL: p.BaseURL, Models: p.Models, Default: p.Default, KeyEnv: p.APIKeyEnv,
			HasKey: err == nil && !key.IsZero()})
	}
	return list, nil
}

// compactions reads the last n from the log. The first request behind one tells
// how large the context is then.
func compactions(s *session.Session, n int) (list []command.Compaction, err error) {
	fresh := false
	for r, err := range s.Log.Read(1) {
		if err != nil {
			return nil, err
		}
		if r.Kind != "compacted" && r.Kind != "usage" {
			continue
		}
		e, err := event.Decode(r.Kind, r.Data)
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case event.Compacted:
			list = append(list, command.Compaction{Time: r.Time, MessagesBefore: e.Before, MessagesNow: e.Before - e.Dropped + 1, TokensBefore: e.Tokens})
			fresh = true
		case event.Usage:
			if fresh {
				list[len(list)-1].TokensNow, fresh = e.Input, false
			}
		}
	}
	return list[max(0, len(list)-n):], nil
}

// switchModel is /model and /provider: the change holds when this turn has ended.
func (c *connection) switchModel(ctx context.Context, s *session.Session, ref string) (string, error) {
	conf, err := c.load(s.Workspace.Root())
	if err != nil {
		return "", err
	}
	if ref == "" {
		ref = c.conf.Model
	}
	m, err := conf.Resolve(ref)
	if err != nil {
		return "", err
	}
	s.Changing.Lock()
	defer s.Changing.Unlock()
	if err := c.setOption(ctx, "/model", s, axes.Change{Option: axes.ModelOption, Value: m.String()}); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "/model: "))
	}
	return m.String(), nil
}

// history reads the last n messages of the session.
func history(s *session.Session, n int) ([]command.Message, error) {
	var list []command.Message
	for _, m := range s.History.Messages() {
		role := string(m.Role)
		if m.Name != "" {
			role += " " + m.Name
		}
		list = append(list, command.Message{Role: role, Text: m.Text})
	}
	return list[max(0, len(list)-n):], nil
}

func lastEvents(s *session.Session, n int) (list []command.Event, err error) {
	from := uint64(1)
	if all := s.Log.Info().Records; all > uint64(n) {
		from = all - uint64(n) + 1
	}
	for r, err := range s.Log.Read(from) {
		if err != nil {
			return nil, err
		}
		list = append(list, command.Event{Seq: r.Seq, Time: r.Time, Kind: r.Kind, Size: len(r.Data)})
	}
	return list, nil
}

func tree(s *session.Session) (list []command.Turn, err error) {
	steps := map[string]int{} // of the last turn, by call
	for e, err := range session.Events(s.Log.Read(1)) {
		if err != nil {
			return nil, err
		}
		switch e.(type) {
		case event.ToolCall, event.Done, event.Compacted:
			if len(list) == 0 { // the record of its prompt is damaged
				list = append(list, command.Turn{})
			}
		}
		last := len(list) - 1
		switch e := e.(type) {
		case event.Prompt:
			list = append(list, command.Turn{Prompt: e.Text})
			clear(steps)
		case event.Command:
			list = append(list, command.Turn{Prompt: e.Input})
		case event.ToolCall:
			steps[e.ID] = len(list[last].Steps)
			list[last].Steps = append(list[last].Steps, command.Step{Kind: command.ToolCall, Text: e.Title})
		case event.Compacted:
			list[last].Steps = append(list[last].Steps, command.Step{Kind: command.Compacted, Text: fmt.Sprintf("%d of %d messages", e.Dropped, e.Before)})
		case event.ToolEnd:
			if i, ok := steps[e.ID]; ok {
				list[last].Steps[i].Outcome = "completed"
				if e.Failed {
					list[last].Steps[i].Outcome = "failed"
				}
			}
		case event.Done:
			list[last].Outcome = string(e.Outcome)
			if e.Reason != "" {
				list[last].Outcome = fmt.Sprintf("%s: %s", e.Outcome, e.Reason)
			}
		}
	}
	return list, nil
}
