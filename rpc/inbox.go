package rpc

import (
	"errors"
	"sync"
)

var errIDInUse = errors.New("the id is in use by a request that is not answered yet")

// inbox holds the messages that have been read and not yet handled. It decides
// when each starts, when a response may be delivered and when the reader must
// wait. It knows no JSON and runs no handler.
type inbox struct {
	maxCount, maxBytes int

	mu      sync.Mutex
	changed sync.Cond // less is held, more Calls are pending, or the inbox is closed
	closed  bool
	active  int // messages accepted whose handlers have not returned

	requests, notes load                       // held, of those not admitted
	running         map[ID]*message            // requests not answered, by id; not those with id null
	queues          map[string]*fifo[*message] // what waits, by key, as long as a message with it runs

	// stretches of the input, the oldest first: each but the last ends with a
	// response that waits for its notifications and those before.
	stretches fifo[*stretch]
	current   *stretch // the last

	inside, outside int // pending Calls made from inside a handler, and others
}

type load struct{ count, bytes int }

// stretch is what came between two responses that had to wait.
type stretch struct {
	notes int   // not handled yet
	ends  *call // whose response came next; nil for the current stretch
}

func newInbox(count, bytes int) *inbox {
	in := &inbox{
		maxCount: count, maxBytes: bytes,
		running: map[ID]*message{},
		queues:  map[string]*fifo[*message]{},
	}
	in.changed.L = &in.mu
	in.beginStretch()
	return in
}

// accept takes m over. It waits while too much is held, which is how slow
// handlers push back on the pipe. With start the caller must start m;
// otherwise it starts after others. It fails with ErrClosed or errIDInUse, and
// then m is the caller's.
func (in *inbox) accept(m *message) (start bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.full() && !in.closed {
		in.changed.Wait()
	}
	if in.closed {
		return false, ErrClosed
	}
	if m.isNotification() {
		m.stretch = in.current
		m.stretch.notes++
	} else if m.req.ID != nullID {
		if in.running[m.req.ID] != nil {
			return false, errIDInUse
		}
		in.running[m.req.ID] = m
	}
	in.active++
	in.add(m, 1)
	if !m.ordered {
		return true, nil
	}
	if queue := in.queues[m.key]; queue != nil {
		queue.push(m)
		return false, nil
	}
	in.queues[m.key] = &fifo[*message]{}
	return true, nil
}

// full reports whether the reader must wait. A handler that waits for a
// response needs it to read on. Another Call gets its response only after the
// notifications before it, so those may hold up the reader; requests may not,
// because a request's handler can depend on a Call made elsewhere.
func (in *inbox) full() bool {
	if in.inside > 0 {
		return false
	}
	held := in.notes
	if in.outside == 0 {
		held.count += in.requests.count
		held.bytes += in.requests.bytes
	}
	return held.count >= in.maxCount || held.bytes > in.maxBytes
}

func (in *inbox) add(m *message, sign int) {
	held := &in.requests
	if m.isNotification() {
		held = &in.notes
	}
	held.count += sign
	held.bytes += sign * m.size
}

// admit lets go on what waits for m. The caller must start next, if not nil.
func (in *inbox) admit(m *message) (next *message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.admitLocked(m)
}

func (in *inbox) admitLocked(m *message) (next *message) {
	if m.admitted {
		return nil
	}
	m.admitted = true
	in.add(m, -1)
	in.changed.Broadcast()
	if m.isNotification() {
		m.stretch.notes--
		in.settle()
	}
	if !m.ordered {
		return nil
	}
	queue := in.queues[m.key]
	if queue.len() == 0 {
		delete(in.queues, m.key)
		return nil
	}
	return queue.pop()
}

// done is told when m has been handled and answered. The caller must go on with
// next, if not nil.
func (in *inbox) done(m *message) (next *message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	next = in.admitLocked(m)
	in.active--
	if in.active == 0 {
		in.changed.Broadcast()
	}
	return next
}

func (in *inbox) beginStretch() {
	in.current = &stretch{}
	in.stretches.push(in.current)
}

// settle delivers the responses that nothing before them holds up any more.
func (in *inbox) settle() {
	for {
		oldest := in.stretches.front()
		if oldest.notes > 0 || oldest.ends == nil {
			return
		}
		oldest.ends.finish()
		in.stretches.pop()
	}
}

// cancelable returns the request with this id if it is not answered yet.
func (in *inbox) cancelable(id ID) *message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.running[id]
}

// answered frees m's id. It must come before the answer is on the wire: the
// peer may use the id again as soon as it has read it. It reports whether
// nothing else waits or runs.
func (in *inbox) answered(m *message) (last bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if m.req.ID != nullID {
		delete(in.running, m.req.ID)
	}
	return in.active == 1
}

// expect and unexpect count the pending Calls.
func (in *inbox) expect(cl *call) {
	in.mu.Lock()
	defer in.mu.Unlock()
	*in.pending(cl)++
	in.changed.Broadcast()
}

func (in *inbox) unexpect(cl *call) {
	in.mu.Lock()
	defer in.mu.Unlock()
	*in.pending(cl)--
}

func (in *inbox) pending(cl *call) *int {
	if cl.inside {
		return &in.inside
	}
	return &in.outside
}

// deliver finishes a Call whose response has just been read: at once if a
// handler waits for it, otherwise after the notifications before it.
func (in *inbox) deliver(cl *call) {
	in.mu.Lock()
	defer in.mu.Unlock()
	*in.pending(cl)--
	if cl.inside || (in.stretches.len() == 1 && in.current.notes == 0) {
		cl.finish()
		return
	}
	in.current.ends = cl
	in.beginStretch()
	in.settle()
}

// close makes accept fail and waits until all that was accepted is handled.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.changed.Broadcast()
	for in.active > 0 {
		in.changed.Wait()
	}
}
