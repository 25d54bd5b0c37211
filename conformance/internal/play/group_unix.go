//go:build unix

package play

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group, so that killGroup reaches what it starts.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills a process and those of its group that are left. The leader may have ended already; the group's number
// stays taken as long as one of its members lives.
func killGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: nobody left
}
