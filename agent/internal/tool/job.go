package tool

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"
)

const (
	maxJobs = 16
	keptJob = 1 << 20  // bytes of a job's output that are kept
	oneRead = 48 << 10 // bytes of it that one answer has
)

var errClosed = errors.New("the session is closed")

// Jobs are the commands that run in the background of a session. The zero value is ready. Its methods may be called at
// the same time.
type Jobs struct {
	mu     sync.Mutex // guards all below, and the offsets of jobs
	jobs   []*job
	last   int // number of the newest
	closed bool
}

type job struct {
	id, command string
	since       time.Time
	out         *capture
	process     *process
	stopped     bool  // by kill_shell or the user
	read        int64 // up to where the model has read
}

// Job is a job as it is listed.
type Job struct {
	ID      string
	State   string // "running", "exit code 0", "killed by SIGTERM", "stopped"
	Command string
	Since   time.Time
}

func (j *Jobs) start(command string, cmd *exec.Cmd, supervised bool) (id string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return "", errClosed
	}
	if len(j.jobs) == maxJobs {
		oldest := slices.IndexFunc(j.jobs, func(b *job) bool { return !b.process.running() })
		if oldest < 0 {
			return "", fmt.Errorf("%d commands run in the background already; end one with kill_shell", maxJobs)
		}
		j.jobs = slices.Delete(j.jobs, oldest, oldest+1)
	}
	b := &job{command: command, since: time.Now(), out: &capture{tailMax: keptJob}}
	if b.process, err = start(cmd, supervised, b.out); err != nil {
		return "", err
	}
	j.last++
	b.id = fmt.Sprintf("bash_%d", j.last)
	j.jobs = append(j.jobs, b)
	return b.id, nil
}

func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.jobs {
		if b.id == id {
			return b, nil
		}
	}
	return nil, fmt.Errorf("there is no %q in the background", id)
}

// List is all jobs that are remembered, oldest first.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Job
	for _, b := range j.jobs {
		out = append(out, b.show())
	}
	return out
}

// show needs the lock.
func (b *job) show() Job { return Job{ID: b.id, State: b.state(), Command: b.command, Since: b.since} }

// state needs the lock.
func (b *job) state() string {
	switch {
	case b.process.running():
		return "running"
	case b.stopped:
		return "stopped"
	}
	if err := b.process.failure(); err != nil {
		return err.Error()
	}
	return "exit code 0"
}

// Running reports whether one has not ended.
func (j *Jobs) Running() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.jobs, func(b *job) bool { return b.process.running() })
}

// Get is one job and all of its output that is kept. The model will read it all the same.
func (j *Jobs) Get(id string) (Job, string, error) {
	b, err := j.find(id)
	if err != nil {
		return Job{}, "", err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return b.show(), b.out.text(), nil
}

// Stop ends a job with all that it has started, and returns when they are gone. One that has ended stays as it is.
func (j *Jobs) Stop(id string) error {
	b, err := j.find(id)
	if err != nil {
		return err
	}
	j.mu.Lock()
	if b.process.running() {
		b.stopped = true
	}
	j.mu.Unlock()
	b.process.kill()
	return nil
}

// Close ends all jobs and returns when they are gone. None can be started afterwards.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	jobs := slices.Clone(j.jobs)
	j.mu.Unlock()
	var all sync.WaitGroup
	for _, b := range jobs {
		all.Go(b.process.kill)
	}
	all.Wait()
}

// news is the state of a job and what it has written since the model last looked.
func (j *Jobs) news(b *job) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := b.process.running() // before the output: what is there afterwards is all
	text, next := b.out.since(b.read, oneRead, running)
	b.read = next
	state := b.state()
	if running {
		state = "running"
	}
	if text == "" {
		text = "(nothing new)"
	}
	return b.id + ": " + state + "\n" + text
}
