// Package rpc is a JSON-RPC 2.0 peer over a reader and a writer, one message a
// line. Both sides are equal: each may send requests and notifications, and
// each answers those of the other.
//
// What it promises:
//
//   - every request is answered exactly once, also after a panic, a cancel, the
//     end of input or a request that is none;
//   - messages with the same key start in wire order, requests without one at
//     once, and the response to a Call comes after the notifications before it;
//   - nothing is dropped: slow handlers stop the reader, a peer that does not
//     read stops the senders, and memory stays bounded both ways;
//   - junk costs one answer and one line in the log, never the connection.
//
// How it flows: one goroutine reads lines (lines.go), takes them apart
// (envelope.go) and decides what each is (receive.go). Requests and
// notifications go to the inbox (inbox.go), which orders them and starts
// goroutines that run the handler and answer (serve.go). Responses go to the
// Calls that wait (call.go). Every sender encodes its frame (frame.go) into one
// buffer, which one goroutine writes out (writer.go).
//
// It knows nothing of the protocol above it: no method but "$/cancel_request",
// no types of parameters and results. It starts and closes no process and no
// pipe, and it sets no time limits but the one for the last flush: a Call
// waits as long as its context.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	defaultMaxLine      = 64 << 20
	defaultQueue        = 1024
	defaultFlushTimeout = 5 * time.Second

	// minHeldBytes keeps a small MaxLine from stopping the reader after one or
	// two messages.
	minHeldBytes = 1 << 20

	// reapTimeout is how long Run waits for a goroutine whose Read or Write it
	// has just interrupted. Some cannot be interrupted (a terminal's).
	reapTimeout = 100 * time.Millisecond
)

// Appender is anything that can append itself to b as one JSON value. It is an
// alias of a literal interface, so that a package which must not import this
// one can name the identical type. AppendJSON runs while the output is locked:
// it must not call back into the Conn. An Appender that appends nothing counts
// as nil.
type Appender = interface {
	AppendJSON(b []byte) []byte
}

// Config says how a Conn treats what it receives. The zero value works: every
// request is answered with "method not found".
type Config struct {
	// Handler answers requests and receives notifications (req.ID is ""). The
	// Appender is the result, nil stands for {}. Of a notification only the
	// error matters, and it is logged. An error with a method
	//
	//	RPCError() (code int, message string, data json.RawMessage)
	//
	// in its chain goes on the wire as that says, ErrMethodNotFound as -32601
	// and any other as -32603 with its text. Before all that, an error that
	// comes of the end of ctx goes as -32800.
	//
	// The context ends when the connection does (its cause is ErrClosed or that
	// of Run's context), that of a request also when the peer cancels it and
	// when it is answered. Messages that wait at the end of the connection are
	// still handled, with the ended context. A Call made with this context, or
	// one derived from it, gets its response at once; see Conn.Call.
	Handler func(ctx context.Context, req *Request) (Appender, error)

	// Key puts messages in order: those with the same key, requests and
	// notifications alike, start in wire order, each when the one before has
	// returned or called Admitted. With "" a request starts at once, and a
	// notification joins the one queue of all notifications without a key; nil
	// means "" for all. A handler that calls the peer back should call Admitted
	// first if the peer may need the same key to answer. Key runs on the reading
	// goroutine, so it must be quick; Member is.
	Key func(method string, params json.RawMessage) string

	// Inline names notifications that must have taken effect before anything
	// behind them is looked at, a response to a pending Call included: a cancel,
	// say. Their handlers run on the reading goroutine when nothing with their
	// key is ahead of them, so they must not block. nil means none.
	Inline func(method string) bool

	// MaxLine bounds an inbound line, in bytes without its newline. A longer one
	// is skipped and answered with -32700. Default 64 MiB.
	MaxLine int

	// Queue bounds the inbound messages that wait or run: as long as there are
	// so many, or they hold more than MaxLine bytes (1 MiB if that is less),
	// nothing more is read.
	// Messages whose handler called Admitted do not count. While a Call from
	// inside a handler is pending there is no bound, and while another Call is
	// pending only notifications count: what those handlers wait for may stand
	// further down the line. Default 1024.
	Queue int

	// FlushTimeout bounds the last flush, for a peer that has stopped reading.
	// Default 5 s.
	FlushTimeout time.Duration

	// Logger gets one line for everything odd that comes in. Default: none.
	Logger *slog.Logger
}

// Conn is one end of a connection. Its methods may be called from any
// goroutine, also before Run: what they send is written once Run runs.
type Conn struct {
	cfg     Config
	log     *slog.Logger
	reader  io.Reader
	base    context.Context // of all handlers; set by Run
	in      *inbox
	calls   calls
	out     *writer
	started atomic.Bool
	stopped atomic.Bool // set when Run stops reading: a late line is nobody's
}

// New returns a Conn that reads from r and writes to w. It starts nothing; Run
// does. It leaves closing r and w to the caller, except that Run ends a Read or
// Write that nothing else would end by a deadline in the past or, where there
// are none, by closing.
func New(r io.Reader, w io.Writer, c Config) *Conn {
	if c.MaxLine <= 0 {
		c.MaxLine = defaultMaxLine
	}
	if c.Queue <= 0 {
		c.Queue = defaultQueue
	}
	if c.FlushTimeout <= 0 {
		c.FlushTimeout = defaultFlushTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Conn{
		cfg:    c,
		log:    c.Logger,
		reader: r,
		in:     newInbox(c.Queue, max(c.MaxLine, minHeldBytes)),
		calls:  newCalls(),
		out:    newWriter(w),
	}
}

// Run serves the connection until the input ends (it returns nil), ctx is done
// (its cause), or reading or writing fails. When it returns, the contexts of
// all handlers have ended and the handlers have returned, each accepted request
// has been answered, pending Calls have failed with ErrClosed, the output is
// flushed as far as the peer took it, and nothing is written any more. It
// waits for handlers as long as they take.
//
// Run can be called once. Its goroutines end with it, except that a Read or
// Write which can be neither interrupted nor closed (a terminal's, say) stays
// until the system lets it go.
func (c *Conn) Run(ctx context.Context) error {
	if !c.started.CompareAndSwap(false, true) {
		return errors.New("rpc: Run may be called only once")
	}
	var cancel context.CancelCauseFunc
	c.base, cancel = context.WithCancelCause(ctx)
	defer cancel(ErrClosed)
	go c.out.run()
	read := make(chan error, 1)
	go newReceiver(c).run(read)

	var err error
	reading := true
	select {
	case err = <-read:
		reading = false
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.out.done: // while running it ends only by a failed Write
		err = c.out.failure()
	}

	c.stopped.Store(true)
	// In this order, so that a handler's Call neither sends a cancel for the end
	// of its context, nor fails before the context tells the handler why.
	pending := c.calls.close()
	cancel(ErrClosed)
	for _, cl := range pending {
		cl.err = sendError(cl.method, ErrClosed)
		cl.finish()
	}
	c.out.release()
	c.in.close() // waits for the handlers
	if lost := c.out.finish(c.cfg.FlushTimeout); lost != nil && !errors.Is(err, lost) {
		// No failure of Run's: at the end of input the peer is usually gone.
		c.log.Warn("rpc: output lost", "error", lost)
	}
	if reading { // last, because reader and writer may be one
		c.interruptRead()
		select {
		case <-read:
		case <-time.After(reapTimeout):
		}
	}
	return err
}

// Notify sends a notification. nil params are left out. It waits while too much
// output is pending, until ctx is done; where there is room it sends even with
// a done ctx, so that a cancelled handler can still say how things ended.
// It fails with ErrClosed when the connection has ended, and with another error
// when encoding params panics or yields what is not one line.
func (c *Conn) Notify(ctx context.Context, method string, params Appender) error {
	return c.notify(ctx, &frame{method: method, body: params})
}

// NotifyMore is Notify for one of many in a row: it may go out no sooner than
// the next message that is sent in another way, so there must be one. The many
// then take few writes.
func (c *Conn) NotifyMore(ctx context.Context, method string, params Appender) error {
	return c.notify(ctx, &frame{method: method, body: params, more: true})
}

func (c *Conn) notify(ctx context.Context, f *frame) error {
	if f.method == "" {
		return errNoMethod
	}
	if err := c.out.send(ctx, f); err != nil {
		return sendError(f.method, err)
	}
	return nil
}

// sendError puts the method before errors of our own; a context's cause is
// returned as it is.
func sendError(method string, err error) error {
	var bad *bodyError
	if err == ErrClosed || errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", clip(method), err)
	}
	return err
}

// interruptRead ends a Read that hangs.
func (c *Conn) interruptRead() {
	if d, ok := c.reader.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(longAgo()) == nil {
		return
	}
	closeIfCloser(c.reader)
}

// longAgo is a deadline that has passed.
func longAgo() time.Time { return time.Unix(1, 0) }

func closeIfCloser(x any) {
	if c, ok := x.(io.Closer); ok {
		_ = c.Close() // the last resort: an error leaves nothing more to try
	}
}
