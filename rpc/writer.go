package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// maxPending is how much output may wait before senders do.
	maxPending = 256 << 10
	// fullWrite is how much output does not wait for what follows it.
	fullWrite = 64 << 10
	// maxKept is the largest buffer kept for later frames.
	maxKept = 512 << 10
)

var errNotRead = errors.New("the peer does not read")

// writer joins frames into one buffer, so that those that wait go out together,
// and has one Write at a time, so that frames never interleave. A goroutine of
// its own writes, or, when nothing else goes on, the sender of an answer.
type writer struct {
	w    io.Writer
	done chan struct{} // closed when run has returned

	mu     sync.Mutex
	filled sync.Cond     // for run: there is output to write, or the end has come
	busy   bool          // a Write goes on
	room   chan struct{} // made by a sender that waits for room; closed when there may be
	out    []byte        // frames that wait
	due    bool          // they are to be written now, whatever follows
	spare  []byte        // the buffer written last, to be used again
	rushed bool          // nobody waits for room any more
	closed bool          // nothing more is taken; run ends when it has written all
	err    error         // of a Write; nothing more is taken nor written
}

func newWriter(w io.Writer) *writer {
	wr := &writer{w: w, done: make(chan struct{})}
	wr.filled.L = &wr.mu
	return wr
}

// send takes a frame. It waits for room until ctx is done, whose cause it then
// returns. It fails with ErrClosed at the end, and with a *bodyError.
func (w *writer) send(ctx context.Context, f *frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.ended() && !f.urgent && len(w.out) >= maxPending {
		if w.rushed {
			// There are only so many answers, and each is owed. All else could
			// go on for ever to a peer that has stopped reading.
			if f.response {
				break
			}
			return ErrClosed
		}
		if err := w.waitForRoom(ctx); err != nil {
			return err
		}
	}
	if w.ended() {
		return ErrClosed
	}
	out, err := f.appendTo(w.out)
	if err != nil {
		return err
	}
	w.out = out
	if !f.more || len(out) >= fullWrite {
		w.due = true
	}
	if w.due && !w.busy {
		w.filled.Signal()
	}
	return nil
}

// sendFirst is send, but leaves the writing to the caller if nothing else goes
// on: it must then pass what it gets to write. That saves waking a goroutine, a
// third of a round trip (RoundTrip/agent); under load it would cost the joining
// of frames.
func (w *writer) sendFirst(f *frame) (frames []byte, err error) {
	w.mu.Lock()
	if w.busy || len(w.out) > 0 || w.ended() {
		w.mu.Unlock()
		return nil, w.send(context.Background(), f)
	}
	defer w.mu.Unlock()
	out, err := f.appendTo(w.out)
	if err != nil {
		return nil, err
	}
	w.out = out
	return w.takeLocked(), nil
}

func (w *writer) ended() bool { return w.closed || w.err != nil }

// waitForRoom is called with the lock held and lets go of it while it waits.
func (w *writer) waitForRoom(ctx context.Context) error {
	if w.room == nil {
		w.room = make(chan struct{})
	}
	room := w.room
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *writer) wakeSenders() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// run writes until finish is called and all is written, or a Write fails.
func (w *writer) run() {
	defer close(w.done)
	for {
		frames := w.take()
		if frames == nil {
			return
		}
		w.write(frames)
	}
}

// take waits for frames; nil means the end.
func (w *writer) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy || !w.due && !w.ended() {
		w.filled.Wait()
	}
	if len(w.out) == 0 || w.err != nil {
		return nil
	}
	return w.takeLocked()
}

func (w *writer) takeLocked() []byte {
	frames := w.out
	w.out, w.spare = w.spare[:0], nil
	w.busy, w.due = true, false
	w.wakeSenders()
	return frames
}

// write writes what was taken; nothing taken is nothing to do.
func (w *writer) write(frames []byte) {
	if frames == nil {
		return
	}
	n, err := w.w.Write(frames)
	if err == nil && n < len(frames) {
		err = io.ErrShortWrite
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = false
	if w.due || w.ended() {
		w.filled.Signal()
	}
	if cap(frames) <= maxKept {
		w.spare = frames[:0]
	}
	if err != nil && w.err == nil {
		w.err = err
		w.wakeSenders()
		w.filled.Signal() // run ends, and with it the connection
	}
}

// failure returns why run has ended before finish.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Errorf("rpc: write: %w", w.err)
}

// release makes nobody wait for room any more.
func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rushed = true
	w.wakeSenders()
}

// finish takes nothing more and waits until all is written, but not longer than
// timeout; then it gives up. Its error tells that something was not written.
func (w *writer) finish(timeout time.Duration) error {
	w.mu.Lock()
	w.closed = true
	w.filled.Signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(timeout):
		w.giveUp()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// giveUp ends a Write that hangs.
func (w *writer) giveUp() {
	w.mu.Lock()
	w.err = errNotRead
	w.mu.Unlock()
	d, ok := w.w.(interface{ SetWriteDeadline(time.Time) error })
	if !ok || d.SetWriteDeadline(longAgo()) != nil {
		closeIfCloser(w.w)
	}
	select {
	case <-w.done:
	case <-time.After(reapTimeout):
	}
}
