package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// methodCancel is the one method that belongs to the peer itself.
const methodCancel = "$/cancel_request"

// receiver is the reading side of a Conn: the state of the one goroutine that
// reads lines and decides what each is.
type receiver struct {
	*Conn
	lines   *lines
	dec     jx.Decoder
	methods map[string]string // names seen, to save allocating each again
}

func newReceiver(c *Conn) *receiver {
	return &receiver{Conn: c, lines: newLines(c.reader, c.cfg.MaxLine), methods: map[string]string{}}
}

// run reads to the end and sends to done what read returns. If the handler of
// an inline notification ends its goroutine, another goes on from there.
func (r *receiver) run(done chan<- error) {
	returned := false
	defer func() {
		if !returned {
			go r.run(done)
		}
	}()
	err := r.read()
	returned = true
	done <- err
}

// read reads until the input ends (nil), reading fails or the Conn stops.
func (r *receiver) read() error {
	for {
		line, own, err := r.lines.next()
		switch {
		case r.stopped.Load() || err == io.EOF:
			return nil
		case err == errLineTooLong:
			r.reject(nullID, CodeParseError, fmt.Sprintf("parse error: line longer than %d bytes", r.cfg.MaxLine), nil)
		case err != nil:
			return fmt.Errorf("rpc: read: %w", err)
		default:
			r.receive(line, own)
		}
	}
}

// receive deals with one line; own tells that the line's memory may be kept.
func (r *receiver) receive(line []byte, own bool) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if !utf8.Valid(line) {
		r.reject(nullID, CodeParseError, "parse error: invalid UTF-8", line)
		return
	}
	e, err := parse(&r.dec, line)
	if own {
		r.dec.ResetBytes(nil) // else a long line lives until the next message
	}
	switch {
	case err != nil:
		r.reject(nullID, CodeParseError, "parse error", line)
	case e.isResponse():
		r.response(&e, line, own)
	case e.fault != "":
		r.invalid(&e, line)
	default:
		r.message(&e, line, own)
	}
}

// message takes a well-formed request or notification to the inbox.
func (r *receiver) message(e *envelope, line []byte, own bool) {
	method := r.method(e.method)
	if e.id == nil && method == methodCancel {
		r.cancel(e.params, line)
		return
	}
	m := &message{Context: r.base, conn: r.Conn}
	m.req.Method = method
	if e.params != nil && !isNull(e.params) {
		m.req.Params = keep(e.params, own)
	}
	m.size = len(m.req.Params)
	if own {
		m.size = len(line)
	}
	m.key = r.keyOf(method, m.req.Params)
	m.ordered = m.key != "" || e.id == nil
	if e.id != nil {
		m.req.ID = ID(e.id)
		m.Context, m.cancel = context.WithCancelCause(r.base)
	}
	start, err := r.in.accept(m)
	switch {
	case start && m.isNotification() && r.isInline(method):
		r.work(m) // only the reader queues, so nothing can be waiting behind m
	case start:
		go r.work(m)
	case err != nil: // it is a request with an id in use, or the Conn has stopped
		if m.cancel != nil {
			m.cancel(err)
		}
		if err == errIDInUse {
			r.reject(m.req.ID, CodeInvalidRequest, prefix(method)+err.Error(), line)
		}
	}
}

// cancel ends the context of a request of the peer's.
func (r *receiver) cancel(params, line []byte) {
	id := cancelID(params)
	if id == nil {
		r.odd("cancel without a request id", line)
		return
	}
	// An unknown id means the answer is already on its way.
	if m := r.in.cancelable(ID(id)); m != nil {
		m.cancel(errCancelled)
	}
}

// response takes a response to the Call that waits for it.
func (r *receiver) response(e *envelope, line []byte, own bool) {
	if e.id == nil || isNull(e.id) {
		r.odd("response without an id", line)
		return
	}
	cl, late := r.calls.take(e.id)
	switch {
	case cl != nil:
		result, err := e.outcome(cl.method)
		cl.result, cl.err = keep(result, own), err
		r.in.deliver(cl)
	case !late:
		r.odd("response to an unknown id", line)
	}
}

// invalid answers JSON that is no message.
func (r *receiver) invalid(e *envelope, line []byte) {
	id := nullID
	if e.id != nil {
		id = ID(e.id)
	}
	about := ""
	if e.method != nil && e.method[0] == '"' {
		about = prefix(r.method(e.method))
	}
	r.reject(id, CodeInvalidRequest, about+"invalid request: "+e.fault, line)
}

// reject answers a line that reaches no handler.
func (r *receiver) reject(id ID, code int, text string, line []byte) {
	r.odd(text, line)
	f := frame{response: true, id: id, fail: &Error{Code: code, Message: text}}
	if err := r.out.send(context.Background(), &f); err != nil {
		r.log.Warn("rpc: answer lost", "error", err)
	}
}

// odd writes the one log line for what should not have come in.
func (r *receiver) odd(what string, line []byte) {
	r.log.Warn("rpc: "+what, "line", clip(line))
}

// method decodes a method name, out of memory if it was seen before.
func (r *receiver) method(raw []byte) string {
	if name, ok := r.methods[string(raw)]; ok {
		return name
	}
	name, err := text(raw)
	if err != nil { // parse has read it as a string already
		return string(raw)
	}
	const many, long = 128, 128 // a peer must not fill the memory with names
	if len(r.methods) < many && len(raw) < long {
		r.methods[string(raw)] = name
	}
	return name
}

// keep returns raw as memory that will not be used again.
func keep(raw []byte, own bool) json.RawMessage {
	if own {
		return raw
	}
	return bytes.Clone(raw)
}
