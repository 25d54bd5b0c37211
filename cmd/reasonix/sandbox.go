package main

import (
	"fmt"
	"os"

	"github.com/acpkit/acpkit/agent"
)

// sandboxWord is the hidden command `reasonix sandbox [FLAG…] -- COMMAND [ARG…]`,
// which runs a command confined. The agent puts it before the commands of the
// model; its flags are described in agent/internal/sandbox.
const sandboxWord = "sandbox"

// launcher is how this program is started as the sandbox launcher; nil when it
// does not know where it is.
func launcher() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{exe, sandboxWord}
}

// launch takes no parser: it stands before every command, which waits for it.
func launch(args []string, io stdio) int {
	code, err := agent.Launch(launcher(), args)
	if err != nil {
		fmt.Fprintln(io.err, "reasonix sandbox:", err)
	}
	return code
}
