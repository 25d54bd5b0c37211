//go:build unix

package host_test

import (
	"os/exec"
	"syscall"
)

// leaveGroup makes a child leave the group of its parent.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
