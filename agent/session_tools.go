package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/axes"
	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/agent/internal/workspace"
	"github.com/acpkit/acpkit/generated/acp"
)

// tools are the tools of a session. Their order is part of every request, so it
// stays the same for providers that cache.
func (c *connection) tools(s *session.Session, at *place) *tool.Set {
	alone := c.conf.Getenv("REASONIX_ACP_ASK_FALLBACK")
	fetch := tool.FetchOptions{UserAgent: "reasonix/" + c.conf.Version, AllowPrivate: at.conf.WebFetch.AllowPrivate, Approve: c.approveHost(s)}
	list := []tool.Tool{
		tool.ReadFile(at.ws), tool.WriteFile(at.ws), tool.EditFile(at.ws), tool.MultiEdit(at.ws), tool.MoveFile(at.ws),
		tool.Ls(at.ws), tool.Glob(at.ws), tool.Grep(at.ws),
		tool.WebFetch(fetch), tool.TodoWrite(),
		tool.Ask(c.question(s), alone == "1" || strings.EqualFold(alone, "true")),
		tool.UpdateGoal(func(ctx context.Context, state, reason string) error {
			if s.State().Status.Goal.Objective == "" {
				return tool.ErrNoGoal
			}
			return c.tell(ctx, s, event.Goal{State: state, Reason: reason})
		}),
		tool.ExitPlanMode(s.Policy.Plan, func(ctx context.Context) error { return c.leavePlanMode(ctx, s) }),
	}
	return tool.NewSet(append(list, s.Shell.Tools()...)...)
}

// policy decides about the calls of a session.
func (c *connection) policy(conf *config.Config, ws *workspace.Workspace) (*permission.Policy, error) {
	box := conf.Sandbox.Bash
	home, _ := os.UserHomeDir() // without one, patterns that begin with ~/ match nothing
	return permission.New(permission.Options{
		Rules: conf.Permissions, Root: ws.Root(), Home: home, Resolve: ws.Resolve, POSIX: tool.POSIX(),
		Confined: func() bool { return box != config.SandboxOff && c.sandbox.Engine() != sandbox.None },
		Required: box == config.SandboxRequire,
	})
}

// shell runs the commands of a session, confined as the configuration says.
func (c *connection) shell(s *session.Session, at *place) *tool.Shell {
	conf := tool.ShellConfig{
		Workspace: at.ws, Policy: s.Policy, Required: at.conf.Sandbox.Bash == config.SandboxRequire, Write: at.conf.Sandbox.Write,
		Hide: at.conf.SecretFiles(), Network: at.conf.Sandbox.Network, Env: sandbox.Env{Drop: at.conf.KeyVariables(), Pass: at.conf.Sandbox.Env},
	}
	if at.conf.Sandbox.Bash != config.SandboxOff {
		conf.Sandbox = c.sandbox
	}
	return tool.NewShell(conf)
}

// approveHost decides about a redirect of web_fetch to another host, as about the
// host that the model has named.
func (c *connection) approveHost(s *session.Session) func(context.Context, string) error {
	return func(ctx context.Context, host string) error {
		verdict := s.Policy.Decide("web_fetch", permission.Access{Kind: permission.Fetch, Host: host})
		switch verdict.Decision {
		case permission.Allow:
			return nil
		case permission.Deny:
			return errors.New(verdict.Reason)
		}
		call := event.ToolCall{ID: tool.CallID(ctx), Tool: "web_fetch", Title: "Fetch " + host + ", where a redirect leads", Kind: tool.KindFetch}
		answer, err := c.ask(s)(ctx, turn.Ask{Call: call, Verdict: verdict})
		if err != nil {
			return err
		}
		if !s.Policy.Settle(verdict, answer) {
			return errors.New("refused by the user")
		}
		return nil
	}
}

// leavePlanMode is what the approval of a plan does, at once.
func (c *connection) leavePlanMode(ctx context.Context, s *session.Session) error {
	s.Changing.Lock()
	defer s.Changing.Unlock()
	if s.State().Axes.Mode != axes.Plan {
		return tool.ErrNoPlanMode
	}
	if err := s.RecordSynced(event.Set{Mode: new(axes.Normal)}); err != nil {
		return err
	}
	s.Policy.SetPlan(false)
	c.tellMode(ctx, s)
	return nil
}

// question puts a question of the model to the user, as a permission request
// whose options are the answers. Only an option that was offered is an answer.
// Source: wire 21.2; seed 118.
func (c *connection) question(s *session.Session) tool.Asker {
	return func(ctx context.Context, q tool.Question) (int, error) {
		title, kind, status := q.Text, acp.ToolKindOther, acp.ToolCallStatusPending
		req := &acp.RequestPermissionRequest{SessionID: acp.SessionID(s.ID), ToolCall: acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(q.Call), Title: &title, Kind: &kind, Status: &status}}
		if q.Header != "" && q.Header != q.Text {
			req.ToolCall.Content = []acp.ToolCallContent{&acp.Content{Content: &acp.TextContent{Text: q.Header}}}
		}
		for i, o := range q.Options {
			name := o.Label
			if o.Description != "" {
				name += " - " + o.Description
			}
			req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID(fmt.Sprintf("%s:%d", q.ID, i+1)), Name: name, Kind: acp.PermissionOptionKindAllowOnce})
		}
		req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID(q.ID + ":cancel"), Name: "Cancel", Kind: acp.PermissionOptionKindRejectOnce})

		chosen, err := c.request(ctx, s, event.Waiting{ID: q.Call, Input: true}, req)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil || chosen < 0 || chosen == len(q.Options):
			return 0, tool.ErrDismissed
		}
		return chosen, nil
	}
}

// openGoal reports whether the session works towards a goal.
func openGoal(s *session.Session) bool {
	state := s.State()
	return state.Axes.Mode == axes.Goal && state.Status.Goal.Objective != "" && state.Status.Goal.State == ""
}

// modelEffort is the effort as a model takes it.
func modelEffort(effort string) string {
	if effort == axes.Auto {
		return ""
	}
	return effort
}

// modeNote is what the model is told behind each prompt of a mode. It stands
// there and not in the system prompt, which must stay as it is.
func modeNote(mode string) string {
	switch mode {
	case axes.Plan:
		return "[Plan mode: look around as you need, but change nothing. Propose your plan with exit_plan_mode; the user decides on it.]"
	case axes.Goal:
		return "[Goal mode: work until the goal is reached, without asking for what you can find out. When it is reached, or when you cannot go on " +
			"without the user, say so with update_goal.]"
	}
	return ""
}

// maxInstructions bounds what a project's own instructions add to each request,
// in bytes.
const maxInstructions = 32 << 10

// instructionFiles are read from the root of the workspace; the first one counts.
var instructionFiles = []string{"REASONIX.md", "AGENTS.md"}

// systemPrompt is what the model is told before anything else: the same in every
// request of a session, so that providers can cache it.
func systemPrompt(ws *workspace.Workspace) string {
	var b strings.Builder
	b.WriteString("You are Reasonix, a coding agent that works in the user's workspace through the tools it is given. " +
		"Read before you write, and change no more than the task needs. Keep a plan with todo_write when there are several steps. " +
		"Check your work by running what the project offers for that. When you are done, say briefly what you did and what you could not do.\n\n")
	fmt.Fprintf(&b, "The working directory is %s; relative paths start there.", ws.Root())
	for _, root := range ws.Roots()[1:] {
		fmt.Fprintf(&b, " %s belongs to the workspace too.", root)
	}
	fmt.Fprintf(&b, " The system is %s.", runtime.GOOS)
	if name, text := instructions(ws.Root()); text != "" {
		fmt.Fprintf(&b, "\n\nThe project's own instructions, from %s:\n\n%s", name, text)
	}
	return b.String()
}

// instructions reads the project's own; what cannot be read is not there.
func instructions(root string) (name, text string) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", ""
	}
	defer dir.Close()
	for _, name := range instructionFiles {
		if info, err := dir.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue // before opening: a pipe would block
		}
		f, err := dir.Open(name)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, maxInstructions))
		if err = errors.Join(err, f.Close()); err == nil {
			return filepath.ToSlash(name), strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
		}
	}
	return "", ""
}
