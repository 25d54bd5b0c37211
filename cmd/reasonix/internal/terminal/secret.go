package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// ErrInterrupted says that the user pressed Ctrl-C or Ctrl-D.
var ErrInterrupted = errors.New("interrupted")

// ReadSecret reads a line of which nothing is shown. Other than term.ReadPassword
// it asks when the echo is off already, so that no quick or pasted answer is seen.
func ReadSecret(in, out *os.File, question string) (secret string, err error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() {
		_, shown := io.WriteString(out, "\r\n")
		err = errors.Join(err, shown, term.Restore(int(in.Fd()), before))
	}()
	if _, err := io.WriteString(out, question); err != nil {
		return "", err
	}
	var e Editor
	var pending []byte
	for one := make([]byte, 1); ; { // what comes behind the line is not for us
		if n, err := in.Read(one); err != nil {
			return "", err
		} else if n == 0 {
			continue
		}
		pending = append(pending, one[0])
		k, n := decode(pending, false)
		if n == 0 {
			continue
		}
		pending = pending[n:]
		switch k.Name {
		case Enter:
			return e.Text(), nil
		case Interrupt, EndOfInput:
			return "", ErrInterrupted
		case Rune, Backspace, DeleteToStart:
			e.Key(k)
		}
	}
}
