//go:build unix

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// alive returns which of the processes are there. One that is dead and not
// reaped by a parent of its own (in a container nobody may) is not.
func alive(pids []string) (left []string) {
	for _, pid := range pids {
		n, err := strconv.Atoi(pid)
		if err != nil || syscall.Kill(n, 0) != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		if _, state, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(state, "Z") {
			continue
		}
		left = append(left, pid)
	}
	return left
}

func zombie(pid string) bool {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, state, ok := strings.Cut(string(stat), ") ")
	return ok && strings.HasPrefix(state, "Z")
}

// Close ends the whole tree, in steps: the end of input, SIGTERM, SIGKILL. The
// steps that are not needed do not come.
//
// BL-122: behind wrappers, one or two levels, no process remains.
func TestCloseEndsTheTree(t *testing.T) {
	for _, c := range []struct {
		roles       string
		processes   int
		grace, term time.Duration
		err         string // "" for an orderly end
		atLeast     time.Duration
	}{
		{"good", 1, patience, patience, "", 0},
		{"wrap,good", 2, patience, patience, "", 0},
		{"wrap,wrap,good", 3, patience, patience, "", 0},
		{"wrap,wrap,fails", 3, patience, patience, "exit status 7; last on stderr: \"out of luck\"", 0},
		{"stays", 1, short, patience, "signal: terminated; it was still there 50ms after the end of its input, and was ended", short},
		{"wrap,wrap,stays", 3, short, patience, "terminated", short},
		{"stubborn", 1, short, short, "signal: killed; it was still there 50ms after the end of its input, and was ended by force", 2 * short},
		{"wrap,stubborn", 2, short, short, "terminated", 2 * short},
		{"wrap,wrap,stubborn", 3, short, short, "terminated", 2 * short},
		{"nurse,stays", 2, patience, patience, "", 0},     // a child that outlives the agent, with its pipes,
		{"nurse,stubborn", 2, patience, short, "", short}, // and does not listen to SIGTERM
		{"wrap,nurse,stubborn", 3, patience, short, "", short},
		{"nurse,wrap,stubborn", 3, patience, short, "", short},
	} {
		t.Run(c.roles, func(t *testing.T) {
			t.Parallel()
			p := launch(t, c.roles, func(command *host.Command, _ *host.Config) { command.Grace, command.TermGrace = c.grace, c.term })
			pids := p.processes(t, c.processes)
			// A child says who it is before it stops listening.
			if strings.Contains(c.roles, "stubborn") {
				eventually(t, "deaf to SIGTERM", func() bool { return ignoresTerm(pids) })
			}
			start := time.Now()
			err := p.Close()
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(start); took < c.atLeast || took > 30*time.Second {
				t.Errorf("Close took %v", took)
			}
			if left := alive(pids); len(left) > 0 {
				t.Errorf("%v of %v are left", left, pids)
			}
			if agent := fmt.Sprint(p.Pid()); zombie(agent) {
				t.Errorf("%s is a zombie", agent)
			}
		})
	}
}

// ignoresTerm tells whether the process that came last ignores SIGTERM. Outside
// Linux it cannot be told, and time must do.
func ignoresTerm(pids []string) bool {
	for _, pid := range pids {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			time.Sleep(200 * time.Millisecond)
			return true
		}
		_, rest, _ := strings.Cut(string(status), "SigIgn:")
		mask, _ := strconv.ParseUint(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 16, 64)
		if mask&(1<<(uint(syscall.SIGTERM)-1)) != 0 {
			return true
		}
	}
	return false
}

// A launcher that is killed takes the agent with it, and the calls fail, though
// the agent still held the pipes.
//
// BL-122: the real agent does not stay behind.
func TestLauncherIsKilled(t *testing.T) {
	p := launch(t, "wrap,wrap,good", nil)
	session(t, p.Host)
	pids := p.processes(t, 3)
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the connection does not end")
	}
	if _, err := p.Initialize(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a call: %v", err)
	}
	eventually(t, "gone, without Close", func() bool { return len(alive(pids)) == 0 })
	if err := p.Close(); err == nil {
		t.Error("an orderly end?")
	}
}

// The end of Launch's context kills the tree.
func TestLaunchContextEnds(t *testing.T) {
	c, pids := command(t, "wrap,wrap,stubborn")
	ctx, cancel := context.WithCancel(t.Context())
	p, err := host.Launch(ctx, c, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	all := launched{p, pids}.processes(t, 3)
	cancel()
	eventually(t, "gone", func() bool { return len(alive(all)) == 0 })
	if err := p.Close(); !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "killed")) {
		t.Errorf("Close: %v", err)
	}
}

// A process that has left the group, with the pipes, does not hold up Close.
func TestEscapedProcessHoldsThePipes(t *testing.T) {
	p := launch(t, "escape,stays", nil)
	pids := p.processes(t, 2)
	session(t, p.Host)
	start := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("Close took %v", took)
	}
	left := alive(pids)
	if len(left) != 1 {
		t.Errorf("%v are left", left)
	}
	for _, pid := range left {
		n, _ := strconv.Atoi(pid)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

// BL-124: loads that fail start nothing. There is one process, and none after
// Close.
func TestFailedLoadsLeakNoProcess(t *testing.T) {
	p := launch(t, "good", nil)
	session(t, p.Host)
	for range 5 {
		var e *acp.Error
		if _, _, err := p.LoadSession(t.Context(), "gone", "/"); !errors.As(err, &e) || e.Code != acp.ErrorCodeMethodNotFound {
			t.Errorf("got %v", err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if all := p.processes(t, 1); len(all) != 1 || len(alive(all)) != 0 {
		t.Errorf("%v were started, %v are left", all, alive(all))
	}
}
