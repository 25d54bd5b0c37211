package rpc

import (
	"context"
	"encoding/json"
	"errors"
)

// work handles m and then the messages that waited for it, unless it has let
// them go on before (Admitted).
func (c *Conn) work(m *message) {
	defer func() {
		// A handler that ends its goroutine (runtime.Goexit, as t.FailNow does)
		// must not take the answer and the queue with it.
		if m != nil {
			c.log.Error("rpc: handler ended its goroutine", "method", clip(m.req.Method))
			frames := c.answer(m, nil, internalError(m.req.Method))
			if next := c.in.done(m); next != nil {
				go c.work(next)
			}
			c.out.write(frames)
		}
	}()
	for m != nil {
		if m.cancel != nil && c.base.Err() != nil {
			// A context ends before those derived from it: without this, one that
			// was waiting could slip in between.
			m.cancel(context.Cause(c.base))
		}
		result, fail := c.invoke(m)
		frames := c.answer(m, result, fail)
		m = c.in.done(m)
		if frames == nil {
			continue
		}
		if m != nil { // a peer that does not read must not hold it up
			go c.work(m)
			m = nil
		}
		c.out.write(frames)
	}
}

// invoke runs the handler. What it returns is either the result or, with a
// non-nil fail, the error that answers the request.
func (c *Conn) invoke(m *message) (result Appender, fail *Error) {
	returned := false
	defer func() {
		if returned { // recover is dear: its stack frame makes a new goroutine's stack grow
			return
		}
		if v := recover(); v != nil {
			c.logPanic(m.req.Method, recovered(v))
			result, fail = nil, internalError(m.req.Method)
		}
	}()
	err := ErrMethodNotFound
	if c.cfg.Handler != nil {
		result, err = c.cfg.Handler(m, &m.req)
	}
	if err != nil {
		// Still under recover: a typed nil that calls itself an error panics as
		// soon as it is asked for its text.
		result, fail = nil, wireError(m, m.req.Method, err)
		if m.isNotification() && fail.Code != CodeMethodNotFound && fail.Code != CodeRequestCancelled {
			c.log.Warn("rpc: notification failed", "method", clip(m.req.Method), "error", err)
		}
	}
	returned = true
	return result, fail
}

// answer sends the answer to a request, whatever happens; a notification has
// none. What it returns the caller must write.
func (c *Conn) answer(m *message, result Appender, fail *Error) (frames []byte) {
	defer c.runAfter(m)
	if m.isNotification() {
		return nil
	}
	f := &frame{response: true, id: m.req.ID, body: result, fail: fail}
	var err error
	if c.in.answered(m) && m.after == nil {
		frames, err = c.out.sendFirst(f)
	} else {
		err = c.out.send(context.Background(), f)
	}
	var bad *bodyError
	if errors.As(err, &bad) {
		var p *panicError
		if errors.As(err, &p) {
			c.logPanic(m.req.Method, p)
		} else {
			c.log.Error("rpc: bad result", "method", clip(m.req.Method), "error", err)
		}
		err = c.out.send(context.Background(), &frame{response: true, id: m.req.ID, fail: internalError(m.req.Method)})
	}
	if err != nil {
		c.log.Warn("rpc: answer lost", "method", clip(m.req.Method), "id", clip(string(m.req.ID)), "error", err)
	}
	return frames
}

// runAfter runs what the handler left for the time behind the answer, and ends
// the request.
func (c *Conn) runAfter(m *message) {
	for _, f := range m.after {
		func() {
			defer func() {
				if v := recover(); v != nil {
					c.logPanic(m.req.Method, recovered(v))
				}
			}()
			f()
		}()
	}
	if m.cancel != nil {
		m.cancel(context.Canceled)
	}
}

// keyOf asks Config.Key. The reader must survive whatever a peer makes of it.
func (c *Conn) keyOf(method string, params json.RawMessage) (key string) {
	if c.cfg.Key == nil {
		return ""
	}
	defer func() {
		if v := recover(); v != nil {
			c.logPanic(method, recovered(v))
			key = ""
		}
	}()
	return c.cfg.Key(method, params)
}

// isInline asks Config.Inline, as keyOf does Config.Key.
func (c *Conn) isInline(method string) (inline bool) {
	if c.cfg.Inline == nil {
		return false
	}
	defer func() {
		if v := recover(); v != nil {
			c.logPanic(method, recovered(v))
			inline = false
		}
	}()
	return c.cfg.Inline(method)
}

func (c *Conn) logPanic(method string, p *panicError) {
	c.log.Error("rpc: "+p.Error(), "method", clip(method), "stack", string(p.stack))
}
