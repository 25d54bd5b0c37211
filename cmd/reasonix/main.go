// Command reasonix is an ACP coding agent: for editors as `reasonix acp`, on
// the terminal as `reasonix chat` and `reasonix run`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
)

// version is the agent's own; the protocol's stands in generated/acp.
const version = "0.1.0"

type cli struct {
	ACP      acpCmd      `cmd:"" name:"acp" help:"Speak ACP on stdin and stdout: what an editor starts."`
	Chat     chatCmd     `cmd:"" help:"Talk to the agent in the terminal. Elsewhere each line of standard input is a prompt, and the exit code is that of the last turn."`
	Run      runCmd      `cmd:"" help:"Run one prompt in the terminal. Exit code: 0 the turn ended normally, 1 it failed, 3 it was cut short, 130 it was cancelled."`
	Sessions sessionsCmd `cmd:"" help:"List, show, export and remove stored sessions."`
	Setup    setupCmd    `cmd:"" help:"Write a model provider and its key into the configuration, by questions on a terminal or by flags."`
	Doctor   doctorCmd   `cmd:"" help:"Look at what the agent needs, and say what to do. Exit code 1 when something fails."`
	Version  versionCmd  `cmd:"" help:"Print the versions of the agent and of the protocol."`
}

// options are what acp, run and chat have in common: they run the same agent.
type options struct {
	Model     string `placeholder:"REF" help:"Model to start with: provider/model, a provider, or a model id that only one provider has. Default: default_model of the configuration. offline/demo needs no provider."`
	Preset    string `enum:",read-only,workspace-write,danger-full-access" default:"" placeholder:"PRESET" help:"Permissions of new sessions: read-only, where every write asks; workspace-write, where only what leaves the workspace asks; danger-full-access, where nothing asks and the agent can do whatever you can. Default: workspace-write, for run read-only."`
	NoPersist bool   `help:"Keep sessions in memory only. Otherwise they are kept in the folder acp of the home."`
	LogLevel  string `default:"warn" enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level of diagnostics on stderr: debug, info, warn or error."`
}

// agent makes the agent of these options.
func (o options) agent(stderr io.Writer) *agent.Agent {
	return agent.New(agent.Config{Model: o.Model, Preset: o.Preset, NoPersist: o.NoPersist, Version: version, Launcher: launcher(), Logger: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: o.level()}))})
}

// level is the least level that is logged; "" is the flag's default.
func (o options) level() slog.Level {
	level := slog.LevelWarn
	_ = level.UnmarshalText([]byte(o.LogLevel)) // kong has checked it; "" changes nothing
	return level
}

// stdio is what a command may read and write.
type stdio struct {
	in       *os.File
	out, err *os.File
}

func main() { os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})) }

// exitCode is an error that only says how the process ends.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run returns the exit code; 2 is a bad flag.
func run(args []string, io stdio) int {
	// What an editor starts has no flags as a rule, and it waits: building the
	// parser takes as long as all else that we do until the first answer.
	if slices.Equal(args, []string{"acp"}) {
		return finish(new(acpCmd).Run(io), io)
	}
	if len(args) > 0 && args[0] == sandboxWord {
		return launch(args[1:], io)
	}
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("reasonix"), kong.Description("A coding agent that speaks the Agent Client Protocol."),
		kong.UsageOnError(), kong.Writers(io.out, io.err), kong.Exit(func(code int) { exit = code }))
	if err != nil {
		fmt.Fprintln(io.err, "reasonix:", err)
		return 1
	}
	ctx, err := parser.Parse(args)
	switch {
	case exit >= 0: // --help
		return exit
	case err != nil:
		fmt.Fprintf(io.err, "reasonix: %v; see reasonix --help\n", err)
		return 2
	}
	return finish(ctx.Run(io), io)
}

// finish reports how a command ended, and returns the exit code.
func finish(err error, io stdio) int {
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	if err != nil {
		fmt.Fprintln(io.err, "reasonix:", terminal.Clean(err.Error()))
		return 1
	}
	return 0
}

type acpCmd struct{ options }

func (c *acpCmd) Run(io stdio) error {
	// A host ends us by closing stdin; SIGTERM ends running turns the same way.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// A host that has stopped reading is an error of the connection; Go would
	// let the signal kill the process in the middle of its clean-up.
	signal.Ignore(syscall.SIGPIPE)
	in, undo := polled(io.in)
	defer undo()
	err := c.agent(io.err).Serve(ctx, in, io.out)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

type versionCmd struct{}

func (versionCmd) Run(io stdio) error {
	fmt.Fprintf(io.out, "reasonix %s\n%s, protocol version %d (%s %s)\n", version, acp.Protocol, acp.Version, acp.SourcePackage, acp.SourceVersion)
	return nil
}
