package play

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

const (
	maxLine = 64 << 20
	maxRead = 256 << 20
)

// inbox takes what an agent writes, line by line and without ever pushing back: a player that waits for room in a pipe
// while the agent does the same would hang.
type inbox struct {
	maxLine int // the longest line, without its newline; a longer one is a fault
	maxRead int // all that is kept of one process: an agent that writes without end must not eat the machine

	changed chan struct{} // holds a token when something came since the last take
	ended   chan struct{} // closed by read at the end of the agent's output

	mu       sync.Mutex
	messages []*transcript.Message // guarded by mu
}

func newInbox() *inbox {
	return &inbox{maxLine: maxLine, maxRead: maxRead, changed: make(chan struct{}, 1), ended: make(chan struct{})}
}

// take returns the messages that came since it was called last.
func (in *inbox) take() []*transcript.Message {
	in.mu.Lock()
	defer in.mu.Unlock()
	got := in.messages
	in.messages = nil
	return got
}

func (in *inbox) put(m *transcript.Message) {
	in.mu.Lock()
	in.messages = append(in.messages, m)
	in.mu.Unlock()
	select {
	case in.changed <- struct{}{}:
	default:
	}
}

// read reads r to its end, or until it is closed. Blank lines are no messages and are left out. A last line without a
// newline is a fault, unless cutOff says that the process was killed: then it is the half of a line.
func (in *inbox) read(r io.Reader, cutOff func() bool) {
	defer close(in.ended)
	br := bufio.NewReaderSize(r, 64<<10)
	total, full := 0, false
	for {
		line, size, err := readLine(br, in.maxLine)
		total += len(line)
		switch {
		case full:
		case total > in.maxRead:
			full = true
			in.put(transcript.ParseMessage([]byte("…"), fmt.Sprintf("more than %d bytes of output; the rest was not kept", in.maxRead)))
		case len(bytes.Trim(line, " \t\r")) == 0 && size <= in.maxLine:
		case size > in.maxLine:
			in.put(transcript.ParseMessage([]byte(transcript.Shorten(string(line))), fmt.Sprintf("a line of %d bytes; the limit is %d", size, in.maxLine)))
		case err == nil:
			in.put(transcript.ParseMessage(line, ""))
		case !cutOff():
			in.put(transcript.ParseMessage(line, "the last line has no newline"))
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line without its newline, at most the first limit bytes of it, and its whole size. The error is
// that of the reader; the line may then be the beginning of one.
func readLine(br *bufio.Reader, limit int) (line []byte, size int, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		size += len(part)
		line = append(line, part[:min(len(part), limit-len(line))]...)
		if err != bufio.ErrBufferFull {
			return line, size, err
		}
	}
}

// tail keeps the end of what is written to it. It may be used by several goroutines.
type tail struct {
	limit int

	mu   sync.Mutex
	data []byte // guarded by mu
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if len(t.data) > 2*t.limit { // moving rarely keeps writing cheap
		t.data = append([]byte(nil), t.data[len(t.data)-t.limit:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data[max(0, len(t.data)-t.limit):])
}
