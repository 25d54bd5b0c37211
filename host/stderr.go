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
	maxTail      = 4 << 10   // kept of stderr for error messages
	maxTailLines = 10        // shown of it
	maxUnwritten = 256 << 10 // may wait for a slow writer
)

// stderr reads an agent's diagnostics as fast as they come. One goroutine reads,
// another passes on to the writer, so that a slow one stops only itself.
type stderr struct {
	f       *os.File
	read    chan struct{} // closed when reading has ended
	written chan struct{} // closed when the writer has got all it gets

	mu        sync.Mutex
	more      sync.Cond // there is something to write, or reading has ended
	tail      []byte
	unwritten []byte
	lost      int // bytes left out ahead of unwritten
	ended     bool
}

func readStderr(f *os.File, w io.Writer) *stderr {
	s := &stderr{f: f, read: make(chan struct{}), written: make(chan struct{})}
	s.more.L = &s.mu
	go s.readAll(w != nil)
	if w == nil {
		close(s.written)
	} else {
		go s.writeAll(w)
	}
	return s
}

func (s *stderr) readAll(keep bool) {
	defer close(s.read)
	buf := make([]byte, 16<<10)
	for {
		n, err := s.f.Read(buf)
		s.mu.Lock()
		s.tail = keepLast(append(s.tail, buf[:n]...), maxTail)
		if keep {
			s.unwritten = append(s.unwritten, buf[:n]...)
			if over := len(s.unwritten) - maxUnwritten; over > 0 {
				s.lost += over
				s.unwritten = keepLast(s.unwritten, maxUnwritten)
			}
		}
		s.ended = err != nil
		s.more.Signal()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *stderr) writeAll(w io.Writer) {
	defer close(s.written)
	for {
		b := s.next()
		if b == nil {
			return
		}
		if _, err := w.Write(b); err != nil {
			return // the writer's own matter; reading goes on
		}
	}
}

// next waits for what is to be written; nil means the end.
func (s *stderr) next() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.unwritten) == 0 && !s.ended {
		s.more.Wait()
	}
	b := s.unwritten
	if s.lost > 0 {
		b = append(fmt.Appendf(nil, "\n[%d bytes of stderr left out here]\n", s.lost), b...)
	}
	s.unwritten, s.lost = nil, 0
	return b
}

// close ends reading, and waits for the writer no longer than limit.
func (s *stderr) close(limit time.Duration) {
	// All that the agent wrote stands in the pipe. Who still holds it open has
	// left the agent's tree.
	if !within(s.read, 100*time.Millisecond) {
		_ = s.f.Close()
		<-s.read
	}
	_ = s.f.Close()
	within(s.written, limit)
}

// said is the end of what the agent wrote, to go behind an error; "" when it
// wrote nothing. It is quoted: an agent must not steer a terminal through an
// error message.
func (s *stderr) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tail := bytes.TrimSpace(s.tail)
	for i, n := len(tail), 0; i > 0; i-- {
		if tail[i-1] == '\n' {
			if n++; n == maxTailLines {
				tail = tail[i:]
				break
			}
		}
	}
	if len(tail) == 0 {
		return ""
	}
	return fmt.Sprintf("; last on stderr: %q", strings.ToValidUTF8(string(tail), "\uFFFD"))
}

func keepLast(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	return append(b[:0], b[len(b)-n:]...)
}
