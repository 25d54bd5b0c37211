//go:build unix

package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// playTree is what a process of the test's agent tree does; see TestMain.
func playTree(role string) {
	self, _ := os.Executable()
	child := func(role string, out io.Writer) *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "HOST_TEST_AGENT="+role)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		return cmd
	}
	note := func() { // so that the test can look whether it lives
		dir := os.Getenv("HOST_TEST_PIDS")
		_ = os.WriteFile(filepath.Join(dir, role+"-"+strconv.Itoa(os.Getpid())), nil, 0o600)
	}
	note()
	switch role {
	case "wrapper", "wrapper2": // a launcher before the agent, as npx is
		next := map[string]string{"wrapper": "wrapper2", "wrapper2": "deaf"}[role]
		_ = child(next, os.Stdout).Wait()
	case "deaf": // ignores the end of its input and the polite signal
		signal.Ignore(syscall.SIGTERM)
		go func() { _ = serve(os.Stdin, os.Stdout, fake{}) }()
		forever()
	case "polite": // ignores the end of its input
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		<-stop
		fmt.Fprintln(os.Stderr, "asked to stop")
		os.Exit(3)
	case "orphan": // leaves a child behind that holds its pipes
		child("holder", os.Stdout)
		_ = serve(os.Stdin, os.Stdout, fake{})
	case "args":
		fmt.Fprintf(os.Stderr, "%q", os.Args[1:])
	case "holder":
		forever()
	case "dies": // in the middle of a turn
		f := fake{prompt: dieInTurn}
		_ = serve(os.Stdin, os.Stdout, f)
	}
}

// launchTree starts a role and returns a function that gives its processes that
// still live.
func launchTree(t *testing.T, role string, grace time.Duration, stderr io.Writer) (*host.Process, func() []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p, err := host.Launch(t.Context(), host.Command{Args: []string{self}, Stderr: stderr, Grace: grace,
		Env: append(os.Environ(), "HOST_TEST_AGENT="+role, "HOST_TEST_PIDS="+dir, "GORACE=atexit_sleep_ms=0")}, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, func() (alive []string) {
		files, _ := os.ReadDir(dir)
		if len(files) == 0 {
			t.Error("no process has noted itself")
		}
		for _, f := range files {
			_, text, _ := strings.Cut(f.Name(), "-")
			pid, _ := strconv.Atoi(text)
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(stat), ") Z ") || err != nil && !errors.Is(err, os.ErrNotExist) {
				alive = append(alive, f.Name())
			}
		}
		return alive
	}
}

// gone waits until no process lives: the kernel needs a moment for a kill.
func gone(t *testing.T, alive func() []string) {
	t.Helper()
	for range 200 {
		if len(alive()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("still there: %v", alive())
}

// The real agent stands behind two launchers and ignores everything: no process
// of the tree remains. BL-122, BL-124: a host that gives up leaves none.
func TestTreeIsKilled(t *testing.T) {
	p, alive := launchTree(t, "wrapper", 100*time.Millisecond, nil)
	if _, err := p.Initialize(t.Context()); err != nil { // all three run
		t.Fatal(err)
	}
	if err := p.Close(); err == nil {
		t.Error("a killed agent is no proper end")
	}
	gone(t, alive)
}

// An agent that does not mind the end of its input is asked by a signal first.
func TestTheAgentIsAskedFirst(t *testing.T) {
	p, alive := launchTree(t, "polite", 500*time.Millisecond, nil)
	err := p.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(err.Error(), "asked to stop") {
		t.Errorf("Close: %v", err)
	}
	gone(t, alive)
}

// A process that the agent has left behind holds its pipes: Close returns all
// the same, and it is killed.
func TestOrphanHoldsThePipes(t *testing.T) {
	p, alive := launchTree(t, "orphan", 5*time.Second, nil)
	if _, err := p.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	gone(t, alive)
}

// The context of Launch ends everything.
func TestContextKillsTheTree(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := host.Launch(ctx, host.Command{Args: []string{self}, Env: append(os.Environ(), "HOST_TEST_AGENT=wrapper", "HOST_TEST_PIDS="+dir)}, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.Done()
	if err := p.Close(); err == nil {
		t.Error("killed, but a proper end")
	}
}

// The agent dies in the middle of a turn: the prompt fails at once, and says how
// the agent ended and what it said last. BL-125 asks for such words too.
func TestDeathInATurn(t *testing.T) {
	p, alive := launchTree(t, "dies", time.Second, nil)
	s := session(t, p.Host)
	_, err := s.Prompt(t.Context(), "x")
	if !errors.Is(err, rpc.ErrClosed) || !strings.Contains(err.Error(), "exit status 9") || !strings.Contains(err.Error(), "out of memory, sorry") {
		t.Errorf("Prompt: %v", err)
	}
	if _, err := p.NewSession(t.Context(), "/"); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("a call afterwards: %v", err)
	}
	for range 3 { // also more than once
		var exit *exec.ExitError
		if err := p.Close(); !errors.As(err, &exit) {
			t.Errorf("Close: %v", err)
		}
	}
	gone(t, alive)
}

// The agent is started without a shell, whose profile could print into the
// connection: what a shell would expand comes to it as it is. BL-005.
func TestNoShell(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	p, err := host.Launch(t.Context(), host.Command{Args: []string{self, "$HOME", "a b", ";exit 1"}, Stderr: &stderr, Env: append(os.Environ(), "HOST_TEST_AGENT=args")}, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || stderr.String() != `["$HOME" "a b" ";exit 1"]` {
		t.Errorf("%v, arguments %s", err, stderr.String())
	}
}

// slowWriter takes its time.
type slowWriter struct{}

func (slowWriter) Write(p []byte) (int, error) {
	time.Sleep(300 * time.Millisecond)
	return len(p), nil
}

// What reads stderr is slow, and the agent says a lot there: it is not held up.
func TestStderrHoldsNobodyUp(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := host.Launch(t.Context(), host.Command{Args: []string{self}, Stderr: slowWriter{}, Env: append(os.Environ(), "HOST_TEST_AGENT=talks")}, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := p.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || time.Since(start) > 15*time.Second {
		t.Errorf("Close: %v after %s", err, time.Since(start))
	}
}
