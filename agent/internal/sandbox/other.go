//go:build !linux

package sandbox

import "errors"

// supervises: the launcher ends what a command leaves behind. Only Linux can find it all.
const supervises = false

func (s *Sandbox) try(Engine) error { return errors.New("only on Linux") }

func bubblewrapArgs(*Limits) []string { return nil }

// Launch is for Linux.
func Launch([]string, []string) (int, error) {
	return 1, errors.New("the sandbox launcher works on Linux only")
}
