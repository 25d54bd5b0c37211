package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

const (
	shownLimit = 8000     // bytes of a result that go into an event
	modelLimit = 64 << 10 // bytes of it that the model reads
)

var errRefused = errors.New("refused by the user")

// call takes one call from its announcement to its result in the history. Only what ends the turn is returned as an error;
// everything else is told to the model.
func (r *run) call(ctx context.Context, call model.Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = tool.WithCallID(ctx, call.ID)
	found, inv, problem := r.prepare(ctx, call)
	announced := ToolCall{
		ID: call.ID, Tool: call.Name, Title: inv.Title, Kind: found.Kind,
		Args: cleanJSON(call.Args), Locations: inv.Locations, Diffs: inv.Diffs, Text: inv.Text,
	}
	if problem == nil && inv.Plan != nil {
		if err := r.out.event(Plan{Entries: inv.Plan}); err != nil {
			return err
		}
	}
	if err := r.out.event(announced); err != nil {
		return err
	}
	if problem == nil {
		problem = r.permit(ctx, announced, inv.Access)
	}
	var output tool.Output
	if problem == nil {
		if err := r.out.event(ToolStart{ID: call.ID}); err != nil {
			return err
		}
		problem = guard(call.Name, func() (err error) {
			output, err = inv.Run(ctx)
			return err
		})
	}
	dismissed := errors.Is(problem, tool.ErrDismissed)
	end := ToolEnd{ID: call.ID, Text: output.Text, Diffs: output.Diffs}
	if problem != nil {
		end = ToolEnd{ID: call.ID, Failed: true, Text: explain(ctx, call.Name, problem)}
	}
	if end.Text = strings.ToValidUTF8(end.Text, "\uFFFD"); end.Text == "" {
		end.Text = "(no output)"
	}
	if ofFile := found.Kind == tool.KindRead || found.Kind == tool.KindEdit; ofFile && problem == nil {
		end.Text = r.Hide(end.Text)
	} else {
		end.Text = r.Redact(end.Text)
	}
	full := clip(end.Text, modelLimit)
	if end.Text = clip(end.Text, shownLimit); end.Text != full {
		end.Full = full
	}
	r.History.addResult(call, full, end.Failed)
	if err := r.out.event(end); err != nil || !dismissed {
		return err
	}
	return tool.ErrDismissed
}

// prepare finds the tool and lets it read the arguments. With a problem, what it returns is still good for display.
func (r *run) prepare(ctx context.Context, call model.Call) (found tool.Tool, inv tool.Invocation, problem error) {
	found, ok := r.Tools.Find(call.Name)
	if !ok {
		return tool.Tool{Kind: tool.KindOther}, tool.Invocation{Title: "Unknown tool " + call.Name}, errors.New("there is no tool of this name")
	}
	problem = guard(call.Name, func() error {
		args, err := tool.ParseArgs(call.Args)
		if err == nil {
			inv, err = found.Prepare(ctx, args)
		}
		return err
	})
	if inv.Title == "" {
		inv.Title = call.Name
	}
	return found, inv, problem
}

// permit returns nil when the call may run.
func (r *run) permit(ctx context.Context, call ToolCall, access permission.Access) error {
	verdict := r.Policy.Decide(call.Tool, access)
	switch verdict.Decision {
	case permission.Allow:
		return ctx.Err()
	case permission.Deny:
		if verdict.Reason == errRefused.Error() {
			return errRefused
		}
		return errors.New(verdict.Reason)
	}
	if r.Ask == nil {
		return errors.New("not allowed without asking, and there is nobody to ask")
	}
	answer, err := r.Ask(ctx, Ask{Call: call, Verdict: verdict})
	switch {
	case ctx.Err() != nil: // an approval that crosses the cancellation comes too late
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("permission was not given: %w", err)
	case !r.Policy.Settle(verdict, answer):
		return errRefused
	}
	return nil
}

func explain(ctx context.Context, name string, problem error) string {
	switch {
	case ctx.Err() != nil:
		return "cancelled"
	case problem == errRefused:
		return problem.Error()
	default:
		return name + ": " + problem.Error()
	}
}

// guard makes a panic of a tool an error of that call only.
func guard(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("tool panicked", "tool", name, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error: %v", v)
		}
	}()
	return f()
}

// cleanJSON is the value on one line and in valid UTF-8, so that it can stand in any frame; nil when it is not JSON.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	var line bytes.Buffer
	if json.Compact(&line, bytes.ToValidUTF8(raw, []byte("\uFFFD"))) != nil {
		return nil
	}
	return line.Bytes()
}
