package tool

import (
	"context"
	"encoding/json"
	"time"
)

const idParam = `"id":{"type":"string","description":"What bash has called it, such as bash_1."}`

// BashOutput is the tool bash_output.
func BashOutput(jobs *Jobs) Tool {
	return Tool{
		Name:        "bash_output",
		Description: "Read what a command in the background has written since you last looked, and whether it still runs.",
		Params:      json.RawMessage(`{"type":"object","properties":{` + idParam + `},"required":["id"]}`),
		Kind:        KindRead,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			b, inv, err := locateJob(jobs, "Read the output of", args)
			if err != nil {
				return inv, err
			}
			inv.Run = func(context.Context) (Output, error) { return Output{Text: jobs.news(b)}, nil }
			return inv, nil
		},
	}
}

// WaitJob is the tool wait.
func WaitJob(jobs *Jobs) Tool {
	return Tool{
		Name: "wait",
		Description: "Wait until a command in the background has ended, and read what it has written since you last looked. " +
			"It goes on when the time is over first.",
		Params: json.RawMessage(`{"type":"object","properties":{` + idParam +
			`,"timeout_ms":{"type":"integer","minimum":1,"maximum":600000,"description":"How many milliseconds to wait at most. Default 120000."}},"required":["id"]}`),
		Kind: KindOther,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			b, inv, err := locateJob(jobs, "Wait for", args)
			if err != nil {
				return inv, err
			}
			ms, err := args.Int("timeout_ms", int(defaultTimeout.Milliseconds()), 1)
			if err != nil {
				return inv, err
			}
			timeout := min(time.Duration(ms)*time.Millisecond, maxTimeout)
			inv.Run = func(ctx context.Context) (Output, error) {
				late := time.NewTimer(timeout)
				defer late.Stop()
				select {
				case <-b.process.ended:
				case <-late.C:
				case <-ctx.Done():
					return Output{}, ctx.Err()
				}
				return Output{Text: jobs.news(b)}, nil
			}
			return inv, nil
		},
	}
}

// KillShell is the tool kill_shell.
func KillShell(jobs *Jobs) Tool {
	return Tool{
		Name:        "kill_shell",
		Description: "End a command in the background, with all that it has started, and read what it has written since you last looked.",
		Params:      json.RawMessage(`{"type":"object","properties":{` + idParam + `},"required":["id"]}`),
		Kind:        KindExecute,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			b, inv, err := locateJob(jobs, "End", args)
			if err != nil {
				return inv, err
			}
			inv.Run = func(context.Context) (Output, error) {
				if err := jobs.Stop(b.id); err != nil {
					return Output{}, err
				}
				return Output{Text: jobs.news(b)}, nil
			}
			return inv, nil
		},
	}
}

// locateJob reads the member id.
func locateJob(jobs *Jobs, verb string, args Args) (*job, Invocation, error) {
	id, err := args.String("id")
	if err != nil {
		return nil, Invocation{}, err
	}
	inv := Invocation{Title: verb + " " + label(id)}
	b, err := jobs.find(id)
	if err == nil {
		inv.Title = label(inv.Title + ": " + b.command)
	}
	return b, inv, err
}
