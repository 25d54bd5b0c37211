//go:build !unix

package host

import (
	"os/exec"
	"runtime"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// terminateTree does nothing: there is no polite signal for a program without a
// window.
func terminateTree(*exec.Cmd) {}

// killTree ends the agent and, on Windows, what it has started.
func killTree(cmd *exec.Cmd) {
	if runtime.GOOS == "windows" {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
	_ = cmd.Process.Kill()
}
