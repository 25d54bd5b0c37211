package turn

import (
	"strings"
	"sync"
	"time"
)

const (
	maxWait   = 50 * time.Millisecond // how long a piece of text waits for more
	maxJoined = 4 << 10               // bytes at which it waits no longer
)

type textKind int

const (
	kindThought textKind = iota
	kindText
)

func (k textKind) event(s string) Event {
	if k == kindThought {
		return Thought{Text: s}
	}
	return Text{Text: s}
}

// coalescer is the only way to emit. It joins pieces of text of one kind, and emits them before anything else.
type coalescer struct {
	emit func(Event) error
	each bool // do not join

	mu    sync.Mutex // guards all below, and held while emitting
	kind  textKind
	buf   strings.Builder
	timer *time.Timer // runs while buf waits
	err   error       // the first failure; after it nothing is emitted
}

// add takes the next piece of text.
func (c *coalescer) add(kind textKind, s string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.each {
		c.emitLocked(kind.event(s))
		return c.err
	}
	if kind != c.kind {
		c.flushLocked()
		c.kind = kind
	}
	c.buf.WriteString(s)
	if c.buf.Len() >= maxJoined {
		c.flushLocked()
	} else if c.timer == nil {
		c.timer = time.AfterFunc(maxWait, func() { c.flush() })
	}
	return c.err
}

// event emits the waiting text and then e.
func (c *coalescer) event(e Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushLocked()
	c.emitLocked(e)
	return c.err
}

// flush emits the waiting text.
func (c *coalescer) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushLocked()
	return c.err
}

// close drops what waits; nothing is emitted any more.
func (c *coalescer) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf.Reset()
	c.flushLocked()
}

func (c *coalescer) flushLocked() {
	if c.timer != nil {
		c.timer.Stop() // one that has fired already finds less to do
		c.timer = nil
	}
	if c.buf.Len() == 0 {
		return
	}
	text := c.buf.String()
	c.buf.Reset()
	c.emitLocked(c.kind.event(text))
}

func (c *coalescer) emitLocked(e Event) {
	if c.err == nil {
		c.err = c.emit(e)
	}
}
