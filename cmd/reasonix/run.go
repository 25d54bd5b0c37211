package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

type runCmd struct {
	options
	place
	Permission string   `default:"ask" enum:"ask,allow,deny" placeholder:"HOW" help:"Answer to permission questions: ask, allow or deny."`
	JSON       bool     `name:"json" help:"Print the session's updates as the agent sends them, one JSON object a line, and the result last. Questions are then put on stderr."`
	Prompt     []string `arg:"" optional:"" help:"What the agent is to do; - or nothing reads it from standard input."`
}

// Run runs the agent in this process, behind the same pipes and messages as in
// an editor, and plays the host on the terminal.
func (c *runCmd) Run(sio stdio) error {
	prompt, err := c.text(sio)
	if err != nil {
		return err
	}
	o := c.options
	o.Preset = cmp.Or(o.Preset, "read-only") // --permission answers what the agent asks, so it has to ask
	a := o.agent(sio.err)
	cwd, id, err := c.find(a)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var v view = newScreen(sio, cwd)
	if c.JSON {
		v = newJSONView(sio, cwd)
	}
	h := connect(a.Serve, host.Config{
		Info:     acp.Implementation{Name: "reasonix-run", Version: version},
		Handlers: acp.ClientHandlers{SessionUpdate: v.update, SessionRequestPermission: v.permission(c.Permission)},
	})
	err = c.prompt(ctx, opener{host: h, options: c.options, cwd: cwd, id: id}, prompt, v)
	v.end()
	if closing := h.Close(); err == nil {
		err = closing
	}
	return err
}

// view is what shows a turn.
type view interface {
	update(context.Context, *acp.SessionNotification) error
	permission(how string) func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
	stop(acp.StopReason)
	end()
}

// text is the prompt, from the command line or from standard input.
func (c *runCmd) text(sio stdio) (string, error) {
	given := strings.Join(c.Prompt, " ")
	piped := !term.IsTerminal(int(sio.in.Fd()))
	switch {
	case given != "" && given != "-":
		return given, nil
	case given == "" && !piped:
		fmt.Fprintln(sio.err, "reasonix: there is no prompt; write it behind run, or - to type it; see reasonix run --help")
		return "", exitCode(2)
	}
	data, err := io.ReadAll(sio.in)
	if err == nil && strings.TrimSpace(string(data)) == "" {
		fmt.Fprintln(sio.err, "reasonix: there is no prompt: standard input is empty; see reasonix run --help")
		return "", exitCode(2)
	}
	return string(data), err
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

func (c *runCmd) prompt(ctx context.Context, o opener, text string, v view) error {
	failed := func(err error) error {
		if j, ok := v.(*jsonView); ok {
			j.failed(err)
		}
		return plainError(err)
	}
	s, err := o.open(ctx)
	if err != nil {
		return failed(err)
	}
	turn, err := s.Prompt(ctx, text)
	if err != nil {
		return failed(err)
	}
	v.stop(turn.StopReason)
	return turnEnd(turn.StopReason)
}

// turnEnd is the exit code of a turn that was answered.
func turnEnd(r acp.StopReason) error {
	switch r {
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
