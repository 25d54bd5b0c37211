//go:build unix && !linux

package tool

import (
	"os/exec"
	"syscall"
)

// setGroup gives the command a session of its own: no terminal, and a group that can be killed.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
