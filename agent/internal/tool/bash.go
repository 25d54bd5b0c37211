package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
)

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	keptHead       = 16 << 10 // bytes of an output that are kept from its beginning
	keptTail       = 32 << 10 // and from its end; together they pass the turn's own bound
)

// Bash is the tool bash.
func Bash(s *Shell) Tool {
	return Tool{
		Name: "bash",
		Description: "Run a shell command in the workspace's folder and read its output, standard output and errors together. " +
			"Each call starts there anew: cd, variables and functions do not last, so write \"cd dir && command\" in one call. " +
			"Standard input is empty. A long output loses its middle. What the command leaves running is ended with it; " +
			"for servers and watchers set run_in_background and use bash_output, wait and kill_shell with the id. " +
			"Commands may be confined: then they write only in the workspace and in $TMPDIR, and have no network.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The command."},` +
			`"timeout_ms":{"type":"integer","minimum":1,"maximum":600000,"description":"Milliseconds after which it is killed. Default 120000. Not for the background."},` +
			`"run_in_background":{"type":"boolean","description":"Start it, and go on at once."},` +
			`"unsandboxed":{"type":"boolean","description":"Ask the user to run it without the sandbox. Only when it has failed because of the sandbox."},` +
			`"reason":{"type":"string","description":"With unsandboxed: why, in a few words, for the user."}},` +
			`"required":["command"]}`),
		Kind:    KindExecute,
		Prepare: func(_ context.Context, args Args) (Invocation, error) { return s.prepare(args) },
	}
}

func (s *Shell) prepare(args Args) (inv Invocation, err error) {
	command, err := args.String("command")
	if err != nil {
		return inv, err
	}
	if strings.TrimSpace(command) == "" {
		return inv, errors.New("command is empty")
	}
	inv.Title = label(strings.Join(strings.Fields(command), " "))
	if strings.ContainsRune(command, 0) {
		return inv, errors.New("command contains a NUL character")
	}
	ms, err := args.Int("timeout_ms", int(defaultTimeout.Milliseconds()), 1)
	if err != nil {
		return inv, err
	}
	background, err := flag(args, "run_in_background")
	if err != nil {
		return inv, err
	}
	free, err := flag(args, "unsandboxed")
	if err != nil {
		return inv, err
	}
	a := permission.Access{Kind: permission.Execute, Command: command, Background: background}
	if free && s.confinement(a) != permission.Free && s.engine() != sandbox.None {
		a.Unconfined = true
		a.Reason, _ = args.String("reason")
	}
	inv.Access = a
	if background {
		inv.Title = label(inv.Title + " (in the background)")
		inv.Run = func(context.Context) (Output, error) { return s.background(a) }
		return inv, nil
	}
	timeout := min(time.Duration(ms)*time.Millisecond, maxTimeout)
	inv.Run = func(ctx context.Context) (Output, error) { return s.foreground(ctx, a, timeout) }
	return inv, nil
}

// foreground runs a command to its end. Nothing that it has started is left when this returns.
func (s *Shell) foreground(ctx context.Context, a permission.Access, timeout time.Duration) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	cmd, limits, err := s.command(a)
	if err != nil {
		return Output{}, err
	}
	out := &capture{headMax: keptHead, tailMax: keptTail}
	p, err := start(cmd, s.supervised(), out)
	if err != nil {
		return Output{}, err
	}
	var failure error
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-p.ended:
		failure = p.failure()
	case <-ctx.Done():
		p.kill()
		return Output{}, ctx.Err()
	case <-late.C:
		p.kill()
		failure = fmt.Errorf("timed out after %v and was killed", timeout)
	}
	text := out.text()
	if failure == nil {
		return Output{Text: text}, nil
	}
	return Output{}, errors.New(strings.TrimRight(failure.Error()+s.note(limits)+"\n"+text, "\n"))
}

// note tells the model of a failed command what held it back.
func (s *Shell) note(limits *sandbox.Limits) string {
	switch {
	case limits == nil:
		return ""
	case limits.Write == nil:
		return fmt.Sprintf(" (confined by %s: writes only in $TMPDIR, no network)", s.engine())
	case limits.Network:
		return fmt.Sprintf(" (confined by %s: writes only in the workspace and $TMPDIR)", s.engine())
	}
	return fmt.Sprintf(" (confined by %s: writes only in the workspace and $TMPDIR, no network)", s.engine())
}

func (s *Shell) background(a permission.Access) (Output, error) {
	cmd, _, err := s.command(a)
	if err != nil {
		return Output{}, err
	}
	id, err := s.Jobs.start(a.Command, cmd, s.supervised())
	if err != nil {
		return Output{}, err
	}
	return Output{Text: fmt.Sprintf("Started as %s. bash_output reads what it says, wait waits for its end, kill_shell ends it.", id)}, nil
}

// flag is an optional boolean.
func flag(args Args, name string) (on bool, err error) {
	if args.Has(name) && json.Unmarshal(args[name], &on) != nil {
		return false, fmt.Errorf("%s must be true or false", name)
	}
	return on, nil
}
