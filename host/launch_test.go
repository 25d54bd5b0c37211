package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// launched is a host with an agent that play plays.
type launched struct {
	*host.Process
	pids string // file
}

// command is how to launch an agent that play plays; its limits are such that
// none of them passes by chance.
func command(t *testing.T, roles string, args ...string) (c host.Command, pids string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids = filepath.Join(t.TempDir(), "pids")
	return host.Command{Args: append([]string{self}, args...), Env: append(os.Environ(), "HOST_TEST_AGENT="+roles, "HOST_TEST_PIDS="+pids, "GORACE=atexit_sleep_ms=0"),
		Grace: patience, TermGrace: patience}, pids
}

func launch(t *testing.T, roles string, set func(*host.Command, *host.Config)) launched {
	t.Helper()
	c, pids := command(t, roles)
	var conf host.Config
	if set != nil {
		set(&c, &conf)
	}
	p, err := host.Launch(context.Background(), c, conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return launched{p, pids}
}

// processes waits until so many have said who they are.
func (p launched) processes(t *testing.T, n int) (all []string) {
	t.Helper()
	eventually(t, "all started", func() bool {
		b, _ := os.ReadFile(p.pids)
		all = strings.Fields(string(b))
		return len(all) >= n && bytes.HasSuffix(b, []byte("\n"))
	})
	return all
}

func TestLaunch(t *testing.T) {
	p := launch(t, "good", nil)
	turn, err := session(t, p.Host).Prompt(t.Context(), "x")
	if err != nil || turn.StopReason != acp.StopReasonEndTurn {
		t.Errorf("got %v, %v", turn, err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestLaunchedAgentFails(t *testing.T) {
	var stderr strings.Builder
	p := launch(t, "fails", func(c *host.Command, _ *host.Config) { c.Stderr = &stderr })
	if _, err := p.Initialize(t.Context()); !errors.Is(err, rpc.ErrClosed) || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("Initialize: %v", err)
	}
	err := p.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.Contains(err.Error(), "out of luck") || stderr.String() != "out of luck\n" {
		t.Errorf("Close: %v, stderr %q", err, stderr.String())
	}
}

func TestLaunchNothing(t *testing.T) {
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		command host.Command
		want    string
	}{
		{t.Context(), host.Command{}, "no agent command"},
		{t.Context(), host.Command{Args: []string{"no-such-agent-here"}}, "install no-such-agent-here or give its full path"},
		{t.Context(), host.Command{Args: []string{"/no/such/agent"}}, "check the path"},
		{t.Context(), host.Command{Args: []string{here}, Dir: "/no/such/place"}, "working directory"},
		{t.Context(), host.Command{Args: []string{t.TempDir()}}, "launching the agent"},
		{ended, host.Command{Args: []string{here}}, "context canceled"},
	} {
		if _, err := host.Launch(c.ctx, c.command, host.Config{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.command.Args, err)
		}
	}
}

// BL-005: the arguments reach the program as they are, and no shell has a part in
// it, interactive or not. Bytes that an agent's own wrapper puts in front of the
// first frame are in the log and in the error (TestInitializeIsNotAnswered shows
// the latter).
func TestNoShell(t *testing.T) {
	dir := t.TempDir()
	proof := filepath.Join(dir, "shell-ran")
	shell := filepath.Join(dir, "sh")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\necho x > "+proof+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"a b", "$HOME", "`id`", "'", `"`, ";", "*", "", "\\", "日本", "&& exit 1"}
	c, _ := command(t, "args", args...)
	c.Env = append(c.Env, "SHELL="+shell, "BASH_ENV="+shell, "ENV="+shell, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	p, err := host.Launch(t.Context(), c, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Initialize(t.Context())
	if err != nil || res.AgentInfo.Name != strings.Join(args, "|") {
		t.Errorf("%v, %+v", err, res)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("a shell ran")
	}

	w := dial(t, host.Config{})
	done := async(func() error { _, err := w.h.Initialize(t.Context()); return err })
	l := w.expect("initialize")
	w.send("\x1b[?2004l"+result1(l, `{"protocolVersion":1}`), result1(l, `{"protocolVersion":1}`))
	if err := receive(t, done); err != nil || !strings.Contains(w.log.String(), `\x1b[?2004l`) {
		t.Errorf("%v, log: %s", err, w.log)
	}
}

// When the agent dies in mid-turn, every call fails at once and says how it
// ended: the status, and the last of what it said, not all of it.
func TestAgentDies(t *testing.T) {
	p := launch(t, "crash", nil)
	s := session(t, p.Host)
	other, err := p.NewSession(t.Context(), "/")
	if err == nil {
		t.Fatal("the fake has only one id") // so the other calls are plain ones
	}
	_ = other
	// These wait for an agent that will not answer them.
	waiting := []<-chan error{
		async(func() error {
			_, err := p.Agent.SessionPrompt(t.Context(), &acp.PromptRequest{SessionID: "t", Prompt: []acp.ContentBlock{&acp.TextContent{Text: "wait"}}})
			return err
		}),
		async(func() error {
			_, err := p.Agent.SessionPrompt(t.Context(), &acp.PromptRequest{SessionID: "u", Prompt: []acp.ContentBlock{&acp.TextContent{Text: "wait"}}})
			return err
		}),
	}
	turn, err := s.Prompt(t.Context(), "go")
	if turn == nil || turn.Text() != "half" {
		t.Errorf("what came is %+v", turn)
	}
	check := func(what string, err error) {
		t.Helper()
		var exit *exec.ExitError
		if !errors.Is(err, rpc.ErrClosed) || !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(err.Error(), "panic: line 999") || strings.Contains(err.Error(), "panic: line 989") || len(err.Error()) > 6<<10 {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("the prompt", err)
	for _, w := range waiting {
		check("a call", receive(t, w))
	}
	_, err = p.Initialize(t.Context())
	check("a call after that", err)
	check("a notification", s.Cancel(t.Context()))
	var exit *exec.ExitError
	if err := p.Close(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("Close: %v", err)
	}
}

// An agent that closes its output, but lives: calls fail, and Close ends it.
func TestAgentClosesItsOutput(t *testing.T) {
	p := launch(t, "deaf", func(c *host.Command, _ *host.Config) { c.Grace = short })
	if _, err := p.Initialize(t.Context()); !errors.Is(err, rpc.ErrClosed) || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("Initialize: %v", err)
	}
	if err := p.Close(); err == nil {
		t.Error("an orderly end?")
	}
}

// BL-125: the error of a silent agent names it and what it said.
func TestLaunchedAgentIsSilent(t *testing.T) {
	p := launch(t, "wrap,stays", func(c *host.Command, conf *host.Config) { c.Grace, conf.InitializeTimeout = short, short })
	_, err := p.Initialize(t.Context())
	if !errors.Is(err, host.ErrNoAnswer) || !strings.Contains(err.Error(), "still runs") || !strings.Contains(err.Error(), fmt.Sprintf("%q", os.Args[0])) && !strings.Contains(err.Error(), "process ") {
		t.Errorf("got %v", err)
	}
}

// slowWriter is a writer that takes nothing until it is let go.
type slowWriter struct {
	hold chan struct{}
	mu   sync.Mutex
	buf  bytes.Buffer
}

func (s *slowWriter) Write(p []byte) (int, error) {
	<-s.hold
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// An agent that says more than a pipe holds is not held up by a writer that
// takes nothing, fails, or is not there. One that takes all gets all.
func TestStderrNeverBlocks(t *testing.T) {
	slow := &slowWriter{hold: make(chan struct{})}
	var all strings.Builder
	for name, w := range map[string]io.Writer{"slow": slow, "none": nil, "broken": brokenWriter{}, "good": &all} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, "chatty", func(c *host.Command, _ *host.Config) { c.Stderr = w })
			session(t, p.Host)
			if w == slow {
				close(slow.hold)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := slow.buf.String(); len(got) > 600<<10 || !strings.Contains(got, "bytes of stderr left out here]") || !strings.Contains(got, "line 19999 ") {
		t.Errorf("the slow writer has %d bytes", len(got))
	}
	if got := strings.Count(all.String(), "\n"); got < 20_000 && !strings.Contains(all.String(), "left out here") {
		t.Errorf("the good writer has %d lines", got)
	}
}

// A writer that never returns does not hold up Close for ever.
func TestStderrWriterHangs(t *testing.T) {
	w := &slowWriter{hold: make(chan struct{})}
	t.Cleanup(func() { close(w.hold) })
	p := launch(t, "chatty", func(c *host.Command, _ *host.Config) { c.Stderr, c.Grace = w, 2*time.Second })
	session(t, p.Host)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
