//go:build unix

package main

import (
	"os"
	"syscall"
)

// polled makes a pipe or socket a file that Go waits for by its poller instead
// of blocking a thread in read: a message then costs no change of threads, which
// halves a round trip (bench/README.md). What else stdin may be, a terminal say,
// is shared with other programs and stays as it is. undo restores the mode.
func polled(f *os.File) (in *os.File, undo func()) {
	nothing := func() {}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f, nothing
	}
	fd := int(f.Fd())
	if syscall.SetNonblock(fd, true) != nil {
		return f, nothing
	}
	in = os.NewFile(uintptr(fd), f.Name()) // has the poller, because the mode is set
	return in, func() { _ = syscall.SetNonblock(fd, false) }
}
