package tool

import (
	"os"
	"os/exec"
	"strconv"
)

// shellArgv is how a shell text is run.
func shellArgv(command string) (argv []string, posix bool) {
	return []string{"cmd", "/C", command}, true
}

func setGroup(*exec.Cmd) {}

func terminate(p *os.Process) { _ = p.Kill() }

// endTree ends the process and, as far as the system can name them, those it has started.
func endTree(p *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
}

func killGroup(p *os.Process) { _ = p.Kill() }

func signalName(*os.ProcessState) string { return "" }

func signalOf(int) string { return "" }
