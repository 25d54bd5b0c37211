package config

import (
	"errors"
	"fmt"
	"strings"
)

// FileError says what is wrong with one file, where, and how to mend it. Its
// text never quotes a value that could be a key.
type FileError struct {
	File string
	// Line and Col count from 1; 0 means unknown, or the file as a whole.
	Line, Col int
	// Key is the dotted TOML key concerned; empty when it is not about one key.
	Key     string
	Message string
	// Mend says what the user can do, as an imperative.
	Mend string
	// Err is the cause, if there is one, such as fs.ErrPermission.
	Err error
}

// Error reads "FILE: line 3: agent.coalesce: expected …; mend".
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d", e.Line)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	b.WriteString(": " + e.Message)
	if e.Mend != "" {
		b.WriteString("; " + e.Mend)
	}
	return b.String()
}

func (e *FileError) Unwrap() error { return e.Err }

// ErrNoProvider means that nothing is configured at all, so no model can be
// chosen. Setting up a provider helps; nothing else does.
var ErrNoProvider = errors.New("no provider is configured; run `reasonix setup`")

// ErrNoKey means that a provider needs a key and none is available. It is
// always returned as a pointer.
type ErrNoKey struct {
	Provider, Env string
	// Withheld is the project file that named the key, when the key may exist
	// but is not handed over; else empty.
	Withheld string

	// For the message: where the user could put things, and where a withheld key would go.
	userFile, envFile, baseURL string
}

func (e *ErrNoKey) Error() string {
	if e.Withheld != "" {
		return fmt.Sprintf("provider %q gets no key: the project file %s would send $%s to %s, and %s does not; "+
			"to allow it, add this provider there",
			e.Provider, e.Withheld, e.Env, e.baseURL, e.userFile)
	}
	return fmt.Sprintf("provider %q needs a key and $%s is not set; run `reasonix setup`, or set it in the environment or in %s",
		e.Provider, e.Env, e.envFile)
}

// RefError means that a model reference does not name one model.
type RefError struct {
	// Ref is what was asked for, shortened to 100 characters.
	Ref string
	// Origin says where the reference stands when it came from a file; else empty.
	Origin string
	// Message says what is wrong, without the candidates.
	Message string
	// Candidates are references that would work, sorted, at most 10. A provider
	// that takes any id appears as "name/<model>".
	Candidates []string
	// More counts the candidates left out.
	More int

	lead, tail string // what stands around the candidates
	err        error
}

func (e *RefError) Error() string {
	var b strings.Builder
	if e.Origin != "" {
		b.WriteString("default_model in " + e.Origin + ": ")
	}
	b.WriteString(e.Message)
	if len(e.Candidates) > 0 {
		b.WriteString(e.lead + strings.Join(e.Candidates, ", "))
	}
	if e.More > 0 {
		fmt.Fprintf(&b, " and %d more", e.More)
	}
	b.WriteString(e.tail)
	return b.String()
}

// Unwrap yields ErrNoProvider when no provider is configured at all.
func (e *RefError) Unwrap() error { return e.err }
