package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

type runCmd struct {
	options
	CWD        string   `name:"cwd" default:"." placeholder:"DIR" help:"Workspace: the agent reads and writes below it."`
	Permission string   `default:"ask" enum:"ask,allow,deny" placeholder:"HOW" help:"Answer to permission questions: ask, allow or deny."`
	Prompt     []string `arg:"" help:"What the agent is to do."`
}

// Run runs the agent in this process, behind the same pipes and messages as in
// an editor, and plays the host on the terminal.
func (c *runCmd) Run(sio stdio) error {
	cwd, err := filepath.Abs(c.CWD)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c.Preset = cmp.Or(c.Preset, "read-only") // --permission answers what the agent asks, so it has to ask
	screen := newScreen(sio, cwd)
	h := connect(c.agent(sio.err).Serve, host.Config{
		Info:     acp.Implementation{Name: "reasonix-run", Version: version},
		Handlers: acp.ClientHandlers{SessionUpdate: screen.update, SessionRequestPermission: screen.permission(c.Permission)},
	})
	err = c.prompt(ctx, h, cwd, screen)
	screen.end()
	if closing := h.Close(); err == nil {
		err = closing
	}
	return err
}

// connect runs serve behind two pipes and returns the host at their other end.
func connect(serve func(context.Context, io.Reader, io.Writer) error, conf host.Config) *host.Host {
	agentIn, hostOut := io.Pipe()
	hostIn, agentOut := io.Pipe()
	go func() {
		err := serve(context.Background(), agentIn, agentOut)
		_ = agentOut.CloseWithError(err) // nil is a proper end
		_ = agentIn.CloseWithError(io.ErrClosedPipe)
	}()
	return host.Connect(hostIn, hostOut, conf)
}

func (c *runCmd) prompt(ctx context.Context, h *host.Host, cwd string, screen *screen) error {
	if _, err := h.Initialize(ctx); err != nil {
		return plainError(err)
	}
	s, err := h.NewSession(ctx, cwd)
	if err != nil {
		return plainError(err)
	}
	turn, err := s.Prompt(ctx, strings.Join(c.Prompt, " "))
	if err != nil {
		return plainError(err)
	}
	screen.stop(turn.StopReason)
	switch turn.StopReason {
	case acp.StopReasonEndTurn:
		return nil
	case acp.StopReasonCancelled:
		return exitCode(130)
	default:
		return exitCode(3)
	}
}

// plainError is an error answer without its code, which says nothing on a
// terminal that the message does not.
func plainError(err error) error {
	var e *acp.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s", e.Message)
	}
	return err
}
