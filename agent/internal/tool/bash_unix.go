//go:build unix

package tool

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// shellArgv is how a shell text is run. Models write for bash, so it is taken where there is one.
func shellArgv(command string) (argv []string, posix bool) {
	if bash, err := exec.LookPath("bash"); err == nil {
		return []string{bash, "-c", command}, false
	}
	return []string{"/bin/sh", "-c", command}, true
}

// terminate asks the process, though not its group, to end.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }

// endTree ends the process and what it has started, as far as that is known. The group at once, and not its leader first:
// bubblewrap that is killed while it still sets up would leave a child behind.
func endTree(p *os.Process) {
	if p.Signal(syscall.Signal(0)) == nil { // not reaped, so the number is still its own
		killGroup(p)
	}
}

// killGroup ends the whole group without asking.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// signalName is what has killed a process; empty when it has ended by itself.
func signalName(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

func signalOf(n int) string {
	if n < 1 || n > 64 {
		return ""
	}
	return unix.SignalName(syscall.Signal(n))
}
