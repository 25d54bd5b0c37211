//go:build !unix

package play

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: without process groups only the agent itself can be ended.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process alone.
func killGroup(p *os.Process) { p.Kill() }
