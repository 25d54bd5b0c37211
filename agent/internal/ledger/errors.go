package ledger

import (
	"errors"
	"fmt"
)

var (
	ErrUnknown = errors.New("there is no such session")
	ErrClosed  = errors.New("the session is closed")
	ErrExists  = errors.New("a session of this id exists already")
)

// HeldError says that the session is open elsewhere.
type HeldError struct{ Holder string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("the session is open in %s; close it there", e.Holder)
}

// FormatError says that the log has a newer format than this program knows, or
// is another program's file (Found 0).
type FormatError struct{ Found, Known int }

func (e *FormatError) Error() string {
	if e.Found == 0 {
		return "the session's log is not a file of this program; move it away"
	}
	return fmt.Sprintf("the session's log has format %d and this program knows format %d; use a newer version", e.Found, e.Known)
}

// DamagedError says that the head of the log is damaged beyond repair.
type DamagedError struct{ Reason string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the session's log is damaged beyond repair: %s; delete the session or restore its folder", e.Reason)
}
