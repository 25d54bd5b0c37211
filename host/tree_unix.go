//go:build unix

package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup gives the agent a process group, which its children are in too. It
// also keeps a Ctrl-C at our terminal from the agent: the host ends it in order.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminateTree asks the group to exit.
func terminateTree(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil }

func killTree(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// endTree ends what is left of the group of an agent that has exited. As long as
// anybody is in it, no other process gets its id.
func endTree(p *os.Process, grace time.Duration) {
	if !terminateTree(p) || groupGone(p, grace) {
		return
	}
	if killTree(p) == nil {
		groupGone(p, killLimit)
	}
}

func groupGone(p *os.Process, limit time.Duration) bool {
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if !groupLives(p.Pid) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// groupLives reports whether anybody in the group is not dead. On Linux kill
// finds zombies too, and in a container they may never be reaped; elsewhere it
// does not, or is refused when there is nothing else.
func groupLives(group int) bool {
	if syscall.Kill(-group, 0) != nil {
		return false
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // none outside Linux
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has just gone
		}
		// "pid (name) state parent group …"; the name may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return len(stats) == 0
}
