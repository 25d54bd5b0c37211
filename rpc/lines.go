package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readBuffer is the size up to which lines are looked at where they were read.
const readBuffer = 64 << 10

var errLineTooLong = errors.New("line too long")

// lines reads newline-terminated lines of bounded length.
type lines struct {
	r       *bufio.Reader
	max     int
	started bool
	err     error // the end: returned again and again
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, readBuffer), max: limit}
}

// next returns the next line without its newline. A last line without one
// counts, if the input ended properly. A line that was longer than the read
// buffer is the caller's for good (own); any other is valid until the next call.
// errLineTooLong means that one line was skipped; any other error is the end.
func (l *lines) next() (line []byte, own bool, err error) {
	if l.err != nil {
		return nil, false, l.err
	}
	line, err = l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		own = true
		line, err = l.gather(line)
	}
	if err != nil && err != errLineTooLong {
		l.err = err
		if err != io.EOF || len(line) == 0 {
			return nil, false, err
		}
	}
	first := !l.started
	l.started = true
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if err == errLineTooLong || len(line) > l.max {
		return nil, false, errLineTooLong
	}
	if first { // RFC 8259 lets us ignore a byte order mark
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, own, nil
}

// gather collects a line longer than the read buffer, of which first has been
// read. Beyond the limit it keeps nothing and reads on to the line's end.
func (l *lines) gather(first []byte) ([]byte, error) {
	line := append(make([]byte, 0, 4*len(first)), first...)
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong:
		case len(line)+len(part) > l.max+1: // the newline is not part of the line
			line, tooLong = nil, true
		default:
			line = l.grow(line, part)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case tooLong && (err == nil || err == io.EOF):
			if err != nil {
				l.err = err
			}
			return nil, errLineTooLong
		default:
			return line, err
		}
	}
}

// grow is append, but doubles, so that a long line is copied about once, and
// does not double beyond the limit.
func (l *lines) grow(line, part []byte) []byte {
	if need := len(line) + len(part); need > cap(line) {
		line = append(make([]byte, 0, max(need, min(2*cap(line), l.max+1))), line...)
	}
	return append(line, part...)
}
