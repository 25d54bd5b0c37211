//go:build unix

package host

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the agent and what it starts into a process group, so that they
// can be ended together: the agent often stands behind a launcher (npx, uvx).
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateTree(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killTree also works when the agent itself has exited: the group lives as long
// as one of its processes.
func killTree(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
