// Command acpconform is for people who test agents and hosts of the Agent Client Protocol. `acpconform provider` is a fake
// model server for agents.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/acpkit/acpkit/conformance/provider"
	"github.com/acpkit/acpkit/generated/acp"
)

// version is the command's own; the protocol's stands in generated/acp.
const version = "0.1.0"

type cli struct {
	Provider providerCmd `cmd:"" help:"Serve a scripted model over HTTP until SIGTERM or Ctrl-C, and print the base URL when it listens."`
	Version  versionCmd  `cmd:"" help:"Print the versions of the command and of the protocol."`
}

// stdio is what a command may read and write.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func main() { os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})) }

// run returns the exit code: 0 well, 1 a fault, 2 a bad flag.
func run(args []string, io stdio) int {
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("acpconform"), kong.Description("Tests for agents and hosts of the Agent Client Protocol."),
		kong.Writers(io.out, io.err), kong.Exit(func(code int) { exit = code }))
	if err != nil {
		fmt.Fprintln(io.err, "acpconform:", err)
		return 1
	}
	ctx, err := parser.Parse(args)
	switch {
	case exit >= 0: // --help
		return exit
	case err != nil:
		fmt.Fprintf(io.err, "acpconform: %v; see acpconform --help\n", err)
		return 2
	}
	if err := ctx.Run(io); err != nil {
		fmt.Fprintln(io.err, "acpconform:", err)
		return 1
	}
	return 0
}

type providerCmd struct {
	Script   string   `placeholder:"FILE" type:"existingfile" help:"JSON lines, one reply per model call. Default: scripts in prompts alone, and otherwise the text ok."`
	Addr     string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Where to listen; port 0 is a free one. Default: ${default}."`
	Public   bool     `help:"Let --addr be reachable from other machines. Nobody is asked for a key."`
	UntilEOF bool     `name:"until-eof" help:"End at the end of stdin too, so that the server does not outlive who started it."`
	Model    []string `placeholder:"ID" help:"A model that the server lists; may be repeated. Default: fake-model."`
}

func (c *providerCmd) Run(sio stdio) error {
	// The signals are caught before anybody can know that we are here.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg := provider.Config{Addr: c.Addr, Public: c.Public, Models: c.Model}
	if c.Script != "" {
		var err error
		if cfg.Script, err = os.ReadFile(c.Script); err != nil {
			return err
		}
	}
	s, err := provider.Start(cfg)
	if err != nil {
		return err
	}
	fmt.Fprintln(sio.out, "listening on", s.URL())
	if c.UntilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, sio.in) // an error is an end too
			stop()
		}()
	}
	<-ctx.Done()
	return s.Close()
}

type versionCmd struct{}

func (versionCmd) Run(io stdio) error {
	fmt.Fprintf(io.out, "acpconform %s\n%s, protocol version %d (%s %s)\n", version, acp.Protocol, acp.Version, acp.SourcePackage, acp.SourceVersion)
	return nil
}
