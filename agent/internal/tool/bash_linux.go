package tool

import (
	"os/exec"
	"syscall"
)

// setGroup gives the command a session of its own: no terminal, and a group that can be killed. It does not outlive us,
// whatever becomes of us.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
