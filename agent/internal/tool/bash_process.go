package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	killGrace = 10 * time.Second // for a supervisor to end what it has started
	pipeGrace = time.Second      // for output after the end, when somebody else still holds the pipe
)

// process is a running command. Output goes to a capture, both streams in the order in which they were written.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended, nothing it left in its group runs, and its output is complete
	state *os.ProcessState
	// supervised: the process ends all that it has started when it is asked to end, and only then: more than its group.
	supervised bool

	killing sync.Once
}

// start starts the command in a session and process group of its own, with nothing on standard input.
func start(cmd *exec.Cmd, supervised bool, out io.Writer) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, w, w
	setGroup(cmd)
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p := &process{cmd: cmd, supervised: supervised, ended: make(chan struct{})}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, r) // until the end, or until r is closed below
	}()
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // only for the process: the pipe is ours
		p.state = cmd.ProcessState
		killGroup(cmd.Process)
		late := time.AfterFunc(pipeGrace, func() { r.Close() })
		<-copied
		late.Stop()
		r.Close()
	}()
	return p, nil
}

// kill ends the process and what it has started, and returns when they are gone.
func (p *process) kill() {
	p.killing.Do(func() {
		if !p.supervised {
			endTree(p.cmd.Process)
			return
		}
		terminate(p.cmd.Process)
		late := time.AfterFunc(killGrace, func() { killGroup(p.cmd.Process) })
		<-p.ended
		late.Stop()
	})
	<-p.ended
}

// running reports whether it has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// failure is how a process that has ended ended, nil when all went well.
func (p *process) failure() error {
	if p.state == nil {
		return errors.New("it could not be waited for")
	}
	if p.state.Success() {
		return nil
	}
	if name := signalName(p.state); name != "" {
		return fmt.Errorf("killed by %s", name)
	}
	code := p.state.ExitCode()
	if name := signalOf(code - 128); name != "" { // as shells report a program that was killed
		return fmt.Errorf("exit code %d (%s)", code, name)
	}
	return fmt.Errorf("exit code %d", code)
}
