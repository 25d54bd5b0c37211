package rpc

import (
	"context"
	"encoding/json"

	"github.com/go-faster/jx"
)

// ID is the id of a request as it stands on the wire, a raw JSON token: `1` and
// `"1"` differ, 2.5 and 9007199254740993 come back unharmed. A request may have
// the id `null`. "" is no id.
type ID string

const nullID ID = "null"

// Request is a request or, without an ID, a notification. Its memory is never
// used again by the Conn, so a handler may keep any of it.
type Request struct {
	Method string
	Params json.RawMessage // any JSON value; nil when absent or null
	ID     ID              // "" for a notification
}

// Member returns the string that is the member name of the object params, the
// first if there are more, and "" when there is none. It is what a Config.Key
// needs: it decodes nothing else.
func Member(params json.RawMessage, name string) string {
	d := jx.DecodeBytes(params)
	it, err := d.ObjIter()
	if err != nil {
		return ""
	}
	for it.Next() {
		if string(it.Key()) == name && d.Next() == jx.String {
			s, _ := d.Str()
			return s
		}
		if d.Skip() != nil {
			return ""
		}
	}
	return ""
}

// message is a request or notification on its way through the Conn. It is also
// the context that its handler gets, which saves one allocation for each.
type message struct {
	context.Context
	conn    *Conn
	req     Request
	cancel  context.CancelCauseFunc // nil for a notification
	ordered bool                    // in the queue of key
	key     string
	size    int // bytes held

	// Guarded by inbox.mu.
	stretch  *stretch // of a notification
	admitted bool     // what came after may go on

	after []func() // run when it is answered; only its handler touches it
}

type (
	messageKey struct{}
	insideKey  struct{ conn *Conn }
)

// Value finds the message in the contexts derived from it.
func (m *message) Value(key any) any {
	switch key := key.(type) {
	case messageKey:
		return m
	case insideKey:
		if key.conn == m.conn {
			return m
		}
	}
	return m.Context.Value(key)
}

// String keeps %v of a derived context from printing the whole Conn.
func (m *message) String() string { return "rpc." + clip(m.req.Method) }

func (m *message) isNotification() bool { return m.req.ID == "" }

// Admitted is called by a handler that has done the part which must be in
// order, with its context or one derived from it. The next message with the
// same key may start, a response that waits for this notification may be
// delivered, and the message no longer counts for Config.Queue: call it before
// a long wait, so that the reader goes on to what ends the wait. It does
// nothing the second time, or outside a handler.
func Admitted(ctx context.Context) {
	m, ok := ctx.Value(messageKey{}).(*message)
	if !ok {
		return
	}
	if next := m.conn.in.admit(m); next != nil {
		go m.conn.work(next)
	}
}

// After makes f run when the answer to this request has been put in line, so
// that what f sends comes right behind it. It runs on the handler's goroutine,
// before the next message of the key is handled and before the context ends, and
// also when the answer is an error. It is to be called from the handler's
// goroutine; with a context that is no handler's, f never runs.
func After(ctx context.Context, f func()) {
	if m, ok := ctx.Value(messageKey{}).(*message); ok {
		m.after = append(m.after, f)
	}
}
