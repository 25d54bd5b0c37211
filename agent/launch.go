package agent

import "github.com/acpkit/acpkit/agent/internal/sandbox"

// Launch is the sandbox launcher: what a program does instead of serving when it
// was started with the words of Config.Launcher, which are self, and args behind
// them. It runs a command confined, ends whatever that leaves behind, and returns
// its exit code. With an error the command was not run. Linux only.
func Launch(self, args []string) (code int, err error) { return sandbox.Launch(self, args) }
