package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	defaultGrace     = 10 * time.Second
	defaultTermGrace = 2 * time.Second

	// killLimit is how long a killed process may take to be gone. Only one that
	// hangs in the system takes so long.
	killLimit = 5 * time.Second
	// flushLimit bounds what Close sends to an agent that does not read.
	flushLimit = 5 * time.Second
	// drainPause ends the reading of an agent that is gone: so long nothing more
	// came of a pipe that some process still holds open.
	drainPause = time.Second
)

// Command is an agent to launch. No shell is involved: the program gets exactly
// these arguments.
type Command struct {
	Args []string // program and arguments
	Dir  string   // working directory; "" for ours
	Env  []string // environment; nil for ours
	// Stderr gets the agent's diagnostics; nil drops them. A slow writer does not
	// slow down the agent: what it cannot take in time is left out, with a note
	// in its place. The last lines also stand in errors about the agent's end.
	Stderr io.Writer
	// Grace is how long the agent may take to exit after its input has been
	// closed, before it is told to (SIGTERM). Default 10 s.
	Grace time.Duration
	// TermGrace is how long it may take then, before it is killed. It is also
	// what the agent's own processes have when they outlive it. Default 2 s.
	TermGrace time.Duration
}

// Process is a host whose agent is a child process, together with all that the
// agent starts: on Unix its process group. (A process that leaves the group, by
// setsid, is on its own. On Windows, where there is no SIGTERM, the tree is
// killed without it, and what outlives an agent that has exited is not found.)
type Process struct {
	*Host
	cmd    *exec.Cmd
	limits Command
	output *output
	stderr *stderr
	exited chan struct{} // the agent has exited and is reaped; status is set
	gone   chan struct{} // and so has its tree
	status error         // of cmd.Wait
	finish func() error  // closes once
}

// Launch starts the agent and connects to it. Agent and tree are killed when ctx
// ends. Call Close to end them in order.
func Launch(ctx context.Context, c Command, conf Config) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no agent command")
	}
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.TermGrace = cmp.Or(c.TermGrace, defaultTermGrace)
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	ownGroup(cmd)
	cmd.Cancel = func() error { return killTree(cmd.Process) }

	var pipes [3][2]*os.File // read and write end of stdin, stdout, stderr
	closeAll := func(all ...*os.File) {
		for _, f := range all {
			_ = f.Close()
		}
	}
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			for _, p := range pipes[:i] {
				closeAll(p[:]...)
			}
			return nil, fmt.Errorf("launching the agent: %w", err)
		}
		pipes[i] = [2]*os.File{r, w}
	}
	// Files, not readers and writers: Wait then waits for the agent alone, and
	// not for whoever else holds its pipes.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	err := cmd.Start()
	closeAll(pipes[0][0], pipes[1][1], pipes[2][1])
	if err != nil {
		closeAll(pipes[0][1], pipes[1][0], pipes[2][0])
		return nil, startError(c, err)
	}
	p := &Process{cmd: cmd, limits: c, output: &output{f: pipes[1][0]}, stderr: readStderr(pipes[2][0], c.Stderr),
		exited: make(chan struct{}), gone: make(chan struct{})}
	p.finish = sync.OnceValue(p.end)
	p.Host = newHost(p.output, pipes[0][1], conf)
	p.Host.process = p
	p.Host.start()
	go p.reap()
	return p, nil
}

func startError(c Command, err error) error {
	switch {
	case ctxError(err):
		return err
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("launching the agent: %w; install %s or give its full path", err, c.Args[0])
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("launching the agent: %w; check the path of the program and the working directory", err)
	}
	return fmt.Errorf("launching the agent: %w", err)
}

func ctxError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// reap waits for the agent, and ends what it leaves behind: the group is
// signalled now or never, since its id may belong to others later.
func (p *Process) reap() {
	p.status = p.cmd.Wait()
	close(p.exited)
	p.output.drain()
	endTree(p.cmd.Process, p.limits.TermGrace)
	close(p.gone)
}

// Close ends the agent in order: it sends what waits to be sent and closes the
// agent's input, waits for the agent to exit (Command.Grace), terminates it and
// its tree (Command.TermGrace), and kills them. When it returns, none of them is
// left. An exit status other than 0 is an error, and so is an agent that had to
// be ended. Otherwise it is as Host.Close: idempotent, for any goroutine but a
// handler's.
func (p *Process) Close() error { return p.finish() }

func (p *Process) end() error {
	start := time.Now()
	p.endInput(min(flushLimit, p.limits.Grace))
	forced := ""
	if !within(p.exited, p.limits.Grace-time.Since(start)) {
		forced = fmt.Sprintf("; it was still there %v after the end of its input, and was ended", p.limits.Grace)
		if !terminateTree(p.cmd.Process) || !within(p.exited, p.limits.TermGrace) {
			forced += " by force"
			_ = killTree(p.cmd.Process)
		}
	}
	if !within(p.gone, p.limits.TermGrace+2*killLimit) {
		p.stop(errors.New("the agent's process cannot be killed"))
		_ = p.output.Close()
		<-p.done
		return errors.Join(p.err, fmt.Errorf("the agent's process %d cannot be killed", p.cmd.Process.Pid))
	}
	<-p.done // its output has ended, at the latest by drain
	_ = p.output.Close()
	p.stderr.close(p.limits.Grace)
	if p.status == nil {
		return p.err
	}
	return errors.Join(p.err, fmt.Errorf("the agent ended: %w%s%s", p.status, forced, p.stderr.said()))
}

// explain says how the agent ended, in an error of a call that failed for that
// reason. A process exits a moment after its output has closed, as a rule.
func (p *Process) explain(err error) error {
	if !within(p.exited, time.Second) {
		return fmt.Errorf("%w: the agent has closed its output, but still runs%s", err, p.stderr.said())
	}
	within(p.stderr.read, 100*time.Millisecond) // a grandchild may hold it open
	if p.status == nil {
		return fmt.Errorf("%w: the agent has exited with status 0%s", err, p.stderr.said())
	}
	return fmt.Errorf("%w: the agent ended: %w%s", err, p.status, p.stderr.said())
}

// condition says how the agent is that does not answer.
func (p *Process) condition() string {
	state := "still runs"
	select {
	case <-p.exited:
		state = "has exited"
	default:
	}
	return fmt.Sprintf("; %q (process %d) %s%s", p.limits.Args[0], p.cmd.Process.Pid, state, p.stderr.said())
}

// output is the agent's output. When the agent is gone, it ends also where
// another process holds the pipe open.
type output struct {
	f     *os.File
	armed bool // drain was called; used by Read alone
}

// drain lets a Read wait no longer than drainPause.
func (o *output) drain() {
	if o.f.SetReadDeadline(time.Unix(1, 0)) != nil { // no deadlines here (Windows)
		time.AfterFunc(drainPause, func() { _ = o.f.Close() })
	}
}

func (o *output) Read(b []byte) (int, error) {
	for {
		if o.armed {
			_ = o.f.SetReadDeadline(time.Now().Add(drainPause))
		}
		n, err := o.f.Read(b)
		switch {
		case errors.Is(err, os.ErrClosed):
			return n, io.EOF
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case o.armed:
			return n, io.EOF
		}
		o.armed = true // drain has interrupted this Read: what is in the pipe counts
	}
}

// Close ends a Read.
func (o *output) Close() error { return o.f.Close() }
