package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acpkit/acpkit/rpc"
)

const (
	// termGrace is how long the agent has between the polite signal and the end.
	termGrace = 2 * time.Second
	// orphanGrace is how long the output may stay open when the agent has
	// exited: its last frames may be on their way, but a process that it left
	// behind may also hold the pipe for ever.
	orphanGrace = time.Second
)

// Command is an agent to launch. It is started directly, never through a shell,
// whose profile could print into the connection.
type Command struct {
	Args []string // program and arguments
	Dir  string   // working directory; "" for ours
	Env  []string // environment; nil for ours
	// Stderr gets the agent's diagnostics; nil drops them. A Stderr that is slow
	// never holds up the agent: what it cannot take in time is left out, and it
	// is told how much.
	Stderr io.Writer
	// Grace is how long the agent may take to exit after its input has been
	// closed. Then it is asked to by a signal, and 2 s later killed, with all
	// processes it has started. Default 10 s.
	Grace time.Duration
}

// Process is a host whose agent is a child process.
type Process struct {
	*Host
	cmd    *exec.Cmd
	grace  time.Duration
	stderr *tail
	exited chan struct{} // closed when exit is set
	exit   error         // nil for exit status 0
	close  func() error
}

// Launch starts the agent and connects to it. The agent and what it has started
// are killed when ctx ends. Call Close to end it in order.
func Launch(ctx context.Context, c Command, conf Config) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no agent command")
	}
	p := &Process{cmd: exec.Command(c.Args[0], c.Args[1:]...), grace: cmp.Or(c.Grace, 10*time.Second), stderr: newTail(c.Stderr), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	ownGroup(p.cmd)
	// Pipes of our own: those of exec are closed when the process exits, with
	// what it has still said in them.
	var files [6]*os.File
	closeAll := func(list ...*os.File) {
		for _, f := range list {
			_ = f.Close()
		}
	}
	for i := 0; i < len(files); i += 2 {
		var err error
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:i]...)
			return nil, err
		}
	}
	stdin, stdout, stderr := files[1], files[2], files[4]
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = files[0], files[3], files[5]
	err := p.cmd.Start()
	closeAll(files[0], files[3], files[5])
	if err != nil {
		closeAll(stdin, stdout, stderr)
		return nil, fmt.Errorf("launching the agent: %w", err)
	}
	go p.stderr.drain(stderr)
	p.Host = connect(stdout, stdin, conf, p.lastWords)
	stop := context.AfterFunc(ctx, func() { killTree(p.cmd) })
	go func() {
		p.exit = p.cmd.Wait()
		close(p.exited)
		select {
		case <-p.done:
		case <-time.After(orphanGrace):
		}
		killTree(p.cmd) // what it has left behind
		select {
		case <-p.done:
		case <-time.After(orphanGrace): // a process that has left the group holds the pipe
			_ = stdout.SetReadDeadline(time.Now())
			<-p.done
		}
		closeAll(stdout)
		p.stderr.stop(stderr)
		stop()
	}()
	p.close = sync.OnceValue(p.end)
	return p, nil
}

// Close closes the agent's input and waits until it has exited; an agent that
// does not is killed (Command.Grace). No process that it has started remains.
// An exit status other than 0 is an error, with the last lines of stderr. Close
// may be called more than once, and at the same time.
func (p *Process) Close() error { return p.close() }

func (p *Process) end() error {
	quitting := make(chan error, 1)
	go func() { quitting <- p.Host.Close() }()
	for _, step := range []struct {
		wait time.Duration
		then func(*exec.Cmd)
	}{{p.grace, terminateTree}, {termGrace, killTree}} {
		select {
		case <-p.exited:
		case <-time.After(step.wait):
			step.then(p.cmd)
			continue
		}
		break
	}
	<-p.exited
	err := <-quitting
	<-p.stderr.stopped
	if p.exit != nil {
		return p.explain()
	}
	return err
}

// lastWords says how the agent ended, for calls that fail because it did.
func (p *Process) lastWords() error {
	select {
	case <-p.exited:
	case <-time.After(orphanGrace): // it has closed its output and lives on
		return p.stderr.quote(errors.New("the agent has closed its output"))
	}
	<-p.stderr.stopped
	return p.explain()
}

// explain is called when the agent has exited.
func (p *Process) explain() error {
	if p.exit == nil {
		return p.stderr.quote(errors.New("the agent has exited (status 0)"))
	}
	return p.stderr.quote(fmt.Errorf("the agent has ended: %w", p.exit))
}

// explaining adds to a call that fails with the connection why it has ended.
type explaining struct {
	*rpc.Conn
	why func() error
}

func (e explaining) Call(ctx context.Context, method string, params rpc.Appender) (result json.RawMessage, err error) {
	result, err = e.Conn.Call(ctx, method, params)
	if errors.Is(err, rpc.ErrClosed) {
		err = fmt.Errorf("%w: %w", err, e.why())
	}
	return result, err
}
