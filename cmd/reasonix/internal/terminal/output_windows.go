package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// understands has the console obey escape sequences, which it does not by itself.
func understands(out *os.File) bool {
	var mode uint32
	h := windows.Handle(out.Fd())
	return windows.GetConsoleMode(h, &mode) == nil && windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
