package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	maxWaiting = 1 << 20 // bytes of stderr that wait for a slow writer
	maxTail    = 4 << 10 // bytes of its end that are kept for errors
)

// tail reads all that an agent says on stderr at once, so that it never blocks
// there, hands it on as fast as the writer takes it, and remembers the end.
type tail struct {
	w       io.Writer
	stopped chan struct{} // closed when everything has been read and handed on

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte
	dropped int
	end     []byte
	eof     bool
}

func newTail(w io.Writer) *tail {
	t := &tail{w: w, stopped: make(chan struct{})}
	t.more.L = &t.mu
	if w == nil {
		t.w = io.Discard
	}
	return t
}

// drain runs until stderr ends.
func (t *tail) drain(stderr *os.File) {
	handed := make(chan struct{})
	go t.forward(handed)
	defer stderr.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := stderr.Read(buf)
		t.mu.Lock()
		t.end = append(t.end, buf[:n]...)
		t.end = t.end[max(0, len(t.end)-maxTail):]
		if room := maxWaiting - len(t.waiting); n > room {
			t.dropped += n - room
			n = room
		}
		t.waiting = append(t.waiting, buf[:n]...)
		t.eof = err != nil
		t.more.Signal()
		t.mu.Unlock()
		if err != nil {
			break
		}
	}
	select {
	case <-handed:
	case <-time.After(orphanGrace): // a writer that hangs must not keep us
	}
	close(t.stopped)
}

func (t *tail) forward(done chan struct{}) {
	defer close(done)
	for {
		t.mu.Lock()
		for len(t.waiting) == 0 && t.dropped == 0 && !t.eof {
			t.more.Wait()
		}
		next, dropped := t.waiting, t.dropped
		t.waiting, t.dropped = nil, 0
		t.mu.Unlock()
		if len(next) == 0 && dropped == 0 {
			return
		}
		if dropped > 0 {
			next = fmt.Appendf(next, "\n[%d bytes of the agent's stderr left out]\n", dropped)
		}
		if _, err := t.w.Write(next); err != nil {
			return // it has said that it wants no more
		}
	}
}

// stop ends drain when the agent is gone: a process that it left behind may hold
// stderr open.
func (t *tail) stop(stderr *os.File) {
	select {
	case <-t.stopped:
	case <-time.After(orphanGrace):
		_ = stderr.SetReadDeadline(time.Now())
		<-t.stopped
	}
}

// quote adds the end of stderr to the error.
func (t *tail) quote(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := strings.TrimSpace(strings.ToValidUTF8(string(bytes.TrimRight(t.end, "\x00")), "\uFFFD"))
	if end == "" {
		return err
	}
	return fmt.Errorf("%w; the end of its stderr:\n%s", err, end)
}
