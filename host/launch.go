package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Command is an agent to launch.
type Command struct {
	Args []string // program and arguments
	Dir  string   // working directory; "" for ours
	Env  []string // environment; nil for ours
	// Stderr gets the agent's diagnostics; nil drops them.
	Stderr io.Writer
	// Grace is how long the agent may take to exit after its input has been
	// closed, before it is killed. Default 10 s.
	Grace time.Duration
}

// Process is a host whose agent is a child process.
type Process struct {
	*Host
	cmd   *exec.Cmd
	grace time.Duration
}

// Launch starts the agent and connects to it. The process is killed when ctx
// ends. Call Close to end it in order.
func Launch(ctx context.Context, c Command, conf Config) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no agent command")
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, c.Env, c.Stderr
	grace := cmp.Or(c.Grace, 10*time.Second)
	cmd.WaitDelay = grace // a grandchild may hold stderr open
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("launching the agent: %w", err)
	}
	return &Process{Connect(stdout, stdin, conf), cmd, grace}, nil
}

// Close closes the agent's input, waits until it exits, and kills it when it
// does not. An exit status other than 0 is an error.
func (p *Process) Close() error {
	timer := time.AfterFunc(p.grace, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	err := p.Host.Close()
	return errors.Join(err, p.cmd.Wait())
}
