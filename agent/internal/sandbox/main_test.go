package sandbox

import (
	"fmt"
	"os"
	"testing"
)

// launcherWord makes the test binary a launcher.
const launcherWord = "sandbox-launcher"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launcherWord {
		code, err := Launch([]string{os.Args[0], launcherWord}, os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "sandbox:", err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func launcher() []string { return []string{os.Args[0], launcherWord} }
