package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds the data of one event, and so a line of it.
const maxEvent = 32 << 20

// events reads server-sent events as model providers send them. Of the fields only data counts. Lines end in LF or CRLF;
// comments are unlimited in number and length; the last event needs no blank line and no line end.
//
// It is our own because github.com/tmaxmax/go-sse drops such a last event, gives up on comments without blank lines between
// them, and takes quadratic time for a long event that comes in pieces.
type events struct {
	r       *bufio.Reader
	data    []byte // of the event that is being read
	long    []byte // a line that did not fit the buffer of r
	begun   bool
	peekErr error
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 32<<10)} }

// next gives the data of the next event that has some, good until the next call. At the end it is io.EOF.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	some := false
	for {
		line, err := e.line()
		if err != nil && (err != io.EOF || len(line) == 0) {
			if some {
				return e.data, nil // the error comes again
			}
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return e.data, nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data"))
		if !ok || len(value) > 0 && value[0] != ':' {
			continue
		}
		value = bytes.TrimPrefix(bytes.TrimPrefix(value, []byte(":")), []byte(" "))
		if len(e.data)+len(value) > maxEvent {
			return nil, errTooLong
		}
		if some {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		some = true
	}
}

var errTooLong = errors.New("an event is longer than 32 MiB")

// line reads a line without its end. Lines that hold no data are cut: nobody looks at them.
func (e *events) line() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if err == bufio.ErrBufferFull {
		keep := bytes.HasPrefix(line, []byte("data"))
		e.long = append(e.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = e.r.ReadSlice('\n')
			if keep {
				if len(e.long)+len(line) > maxEvent+len("data: \r\n") {
					return nil, errTooLong
				}
				e.long = append(e.long, line...)
			}
		}
		line = e.long
		if cap(e.long) > 1<<20 {
			e.long = nil // one huge event must not stay in memory
		}
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	} else if err == io.EOF {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line, err
}

// looksRight reports whether the body begins like an event stream; nothing is consumed. It waits for the first bytes that
// tell. When there are none, peekErr says why.
func (e *events) looksRight() bool {
	for n := 1; n <= 4096; n++ {
		head, err := e.r.Peek(n)
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), "\r\n \t")
		for _, field := range [...]string{"data:", ":", "event:", "id:", "retry:"} {
			if bytes.HasPrefix(head, []byte(field)) {
				return true
			}
		}
		if err != nil {
			e.peekErr = err
			return false
		}
		if len(head) >= len("event:") {
			return false
		}
	}
	return false
}
