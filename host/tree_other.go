//go:build !unix

package host

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"
)

func ownGroup(*exec.Cmd) {}

// terminateTree has nothing to ask a process with here.
func terminateTree(*os.Process) bool { return false }

// killTree kills the agent and, on Windows, its descendants.
func killTree(p *os.Process) error {
	if runtime.GOOS == "windows" {
		if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() == nil {
			return nil
		}
	}
	return p.Kill()
}

// endTree can find nobody: the way to the descendants leads through the agent,
// which has exited.
func endTree(*os.Process, time.Duration) {}
