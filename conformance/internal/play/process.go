package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how long the pipes of a process that is gone may stay open, and a process may live that has closed its own.
const grace = 5 * time.Second

// process is one run of the agent's command. Its methods are for one goroutine.
type process struct {
	cmd     *exec.Cmd
	stdin   *os.File
	out     *inbox
	outputs []*os.File // our ends of stdout and stderr, closed by reap

	readers sync.WaitGroup
	killed  atomic.Bool
	exited  chan struct{} // closed when the process has ended and cmd.ProcessState is set
}

// start starts the command with our pipes. Stderr goes to log.
func start(cfg Config, log io.Writer) (*process, error) {
	p := &process{out: newInbox(), exited: make(chan struct{})}
	name, err := lookPath(cfg.Command[0], cfg.Env)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(name, cfg.Command[1:]...)
	p.cmd.Dir, p.cmd.Env = cfg.Dir, cfg.Env
	ownGroup(p.cmd)

	// Files, not the pipes of os/exec: with files Wait waits for the process only, not for whoever inherited its output.
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:i])
			return nil, err
		}
	}
	p.cmd.Stdin, p.stdin = files[0], files[1]
	p.cmd.Stdout, p.cmd.Stderr = files[3], files[5]
	p.outputs = []*os.File{files[2], files[4]}
	err = p.cmd.Start()
	closeAll([]*os.File{files[0], files[3], files[5]})
	if err != nil {
		closeAll([]*os.File{files[1], files[2], files[4]})
		return nil, err
	}
	p.readers.Go(func() { p.out.read(files[2], p.killed.Load) })
	p.readers.Go(func() { io.Copy(log, files[4]) }) // ends with the pipe; an error in reading is the same as its end
	go func() {
		p.cmd.Wait() // its error is in ProcessState
		close(p.exited)
	}()
	return p, nil
}

// write writes to the agent's input. An agent that reads too slowly for timeout is killed, which is the only way to end a
// write on every system. An agent that has closed its input is no error: whether a write still finds it open is chance,
// and the next await will say what became of the agent.
func (p *process) write(ctx context.Context, timeout time.Duration, s string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the agent did not read its input for %s", timeout))
	defer cancel()
	stop := context.AfterFunc(ctx, p.terminate)
	io.WriteString(p.stdin, s)
	if !stop() {
		return context.Cause(ctx)
	}
	return nil
}

// finish closes the input, waits for the end of the process and returns its status.
func (p *process) finish(ctx context.Context, timeout time.Duration) (status string, err error) {
	p.stdin.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		err = fmt.Errorf("the agent still ran %s after its input was closed", timeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		p.destroy()
		return "", err
	}
	if !p.reap() {
		return "", errors.New("the agent has ended, but a process that it started outside its process group holds its output")
	}
	return p.status(), nil
}

// destroy ends the process and everything it started, at once.
func (p *process) destroy() {
	p.terminate()
	p.stdin.Close()
	<-p.exited
	p.reap()
}

func (p *process) terminate() {
	p.killed.Store(true)
	killGroup(p.cmd.Process)
}

// reap ends what the ended process left behind, and our goroutines. It reports whether the output was read to its end:
// who has left the process group cannot be reached and may hold the pipes for ever.
func (p *process) reap() (complete bool) {
	killGroup(p.cmd.Process)
	giveUp := time.AfterFunc(grace, func() { closeAll(p.outputs) })
	p.readers.Wait()
	complete = giveUp.Stop()
	closeAll(p.outputs)
	return complete
}

// status says how the process ended: its exit code, or "signal: …".
func (p *process) status() string {
	if code := p.cmd.ProcessState.ExitCode(); code >= 0 {
		return fmt.Sprint(code)
	}
	return p.cmd.ProcessState.String()
}

// state says what became of an agent whose output has ended.
func (p *process) state() string {
	select {
	case <-p.exited:
		return "the agent has ended (exit " + p.status() + ")"
	case <-time.After(grace):
		return "the agent has closed its output but still runs"
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// lookPath finds a command in the PATH of env, which need not be ours.
func lookPath(name string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	var path string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v // the last one counts, as in os/exec
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w (PATH=%s)", name, exec.ErrNotFound, path)
}
