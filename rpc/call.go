package rpc

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
)

// call is a request of ours that waits for its response.
type call struct {
	method string
	inside bool // made by a handler

	done   chan struct{} // closed once, by finish
	result json.RawMessage
	err    error
}

// finish lets Call return with what result and err say.
func (cl *call) finish() { close(cl.done) }

// Call sends a request and waits for its response. nil params are left out. The
// result is raw JSON, `null` included, and belongs to the caller. An error
// response is an *Error; one that is malformed is another error.
//
// Outside handlers the response is delivered after the notifications that came
// before it have been handled. From inside a handler, which the context tells,
// it is delivered at once, because it would else wait for its own caller.
//
// When ctx is done, Call returns its cause at once and sends the peer a
// $/cancel_request. When the connection has ended, also before the Call, it
// fails with ErrClosed.
func (c *Conn) Call(ctx context.Context, method string, params Appender) (json.RawMessage, error) {
	if method == "" {
		return nil, errNoMethod
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cl := &call{
		method: method,
		inside: ctx.Value(insideKey{c}) != nil,
		done:   make(chan struct{}),
	}
	id, ok := c.calls.add(cl)
	if !ok {
		return nil, sendError(method, ErrClosed)
	}
	c.in.expect(cl)
	if err := c.out.send(ctx, &frame{id: id, method: method, body: params}); err != nil {
		if c.calls.remove(id) {
			c.in.unexpect(cl)
		}
		return nil, sendError(method, err)
	}
	select {
	case <-cl.done:
		return cl.result, cl.err
	case <-ctx.Done():
		return c.giveUp(ctx, id, cl)
	}
}

// giveUp ends a Call whose context has ended.
func (c *Conn) giveUp(ctx context.Context, id ID, cl *call) (json.RawMessage, error) {
	if c.calls.abandon(id) {
		c.in.unexpect(cl)
		// If it cannot be sent, the connection has ended, and nobody is left to
		// tell.
		_ = c.out.send(ctx, &frame{method: methodCancel, body: cancelParams(id), urgent: true})
		return nil, context.Cause(ctx)
	}
	select {
	case <-cl.done: // both at the same time: the response is worth more
		return cl.result, cl.err
	default: // it has come, but waits for notifications before it
		return nil, context.Cause(ctx)
	}
}

type cancelParams ID

func (p cancelParams) AppendJSON(b []byte) []byte {
	b = append(b, `{"requestId":`...)
	b = append(b, p...)
	return append(b, '}')
}

// calls has the requests of ours that are not answered, by their id.
type calls struct {
	mu      sync.Mutex
	closed  bool
	last    int64
	pending map[ID]*call
	late    map[ID]struct{} // given up; their responses may still come
}

// maxLate bounds what is remembered of peers that never answer what was
// cancelled. Forgetting an id costs one line in the log.
const maxLate = 1024

func newCalls() calls {
	return calls{pending: map[ID]*call{}, late: map[ID]struct{}{}}
}

// add gives cl an id; not ok means the connection has ended.
func (cs *calls) add(cl *call) (id ID, ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return "", false
	}
	cs.last++
	id = ID(strconv.FormatInt(cs.last, 10))
	cs.pending[id] = cl
	return id, true
}

// take returns the Call that a response is for and forgets it; nil if there is
// none. late tells that it was given up, so the response is nothing odd.
func (cs *calls) take(id []byte) (cl *call, late bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cl = cs.pending[ID(id)]; cl != nil {
		delete(cs.pending, ID(id))
		return cl, false
	}
	if _, late = cs.late[ID(id)]; late {
		delete(cs.late, ID(id))
	}
	return nil, late
}

// remove forgets a Call that was never sent. It reports whether it was pending.
func (cs *calls) remove(id ID) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_, ok := cs.pending[id]
	delete(cs.pending, id)
	return ok
}

// abandon forgets a Call that has been sent, but not that its response may
// come. It reports whether it was pending.
func (cs *calls) abandon(id ID) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, ok := cs.pending[id]; !ok {
		return false
	}
	delete(cs.pending, id)
	if len(cs.late) == maxLate {
		clear(cs.late)
	}
	cs.late[id] = struct{}{}
	return true
}

// close takes no more Calls and returns those still pending, which no response
// and no giving up will find any more.
func (cs *calls) close() map[ID]*call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	pending := cs.pending
	cs.pending, cs.closed = nil, true
	return pending
}
