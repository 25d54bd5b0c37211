package host

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// endOfInput is a method that never goes on the wire: where its notification
// stands among the output, the agent's input is closed. That is how all that
// was sent before goes out first, whatever of it still waits in the rpc.Conn.
const endOfInput = "$/acpkit/end_of_input"

var endOfInputFrame = []byte(`{"jsonrpc":"2.0","method":"` + endOfInput + `"}` + "\n")

// input is the agent's input as an rpc.Conn writes it: whole frames.
type input struct {
	w       io.WriteCloser
	closing atomic.Bool   // set before endOfInput is sent
	closed  chan struct{} // w has been closed
	once    sync.Once
	err     error // of closing
}

func newInput(w io.WriteCloser) *input { return &input{w: w, closed: make(chan struct{})} }

// Write passes frames on, up to endOfInput. What stands behind it is dropped,
// and is no failure: the agent cannot get it, but what it still sends counts.
func (in *input) Write(p []byte) (int, error) {
	if !in.closing.Load() {
		return in.w.Write(p)
	}
	select {
	case <-in.closed:
		return len(p), nil
	default:
	}
	end := frameIndex(p, endOfInputFrame)
	if end < 0 {
		return in.w.Write(p)
	}
	if end > 0 {
		if n, err := in.w.Write(p[:end]); err != nil {
			return n, err
		}
	}
	_ = in.Close()
	return len(p), nil
}

// frameIndex finds a frame: it begins where another has ended, so a string
// inside another frame is no match.
func frameIndex(p, frame []byte) int {
	if bytes.HasPrefix(p, frame) {
		return 0
	}
	if i := bytes.Index(p, append([]byte("\n"), frame...)); i >= 0 {
		return i + 1
	}
	return -1
}

// Close closes the agent's input, also while a Write hangs.
func (in *input) Close() error {
	in.once.Do(func() {
		in.err = in.w.Close()
		close(in.closed)
	})
	return in.err
}
