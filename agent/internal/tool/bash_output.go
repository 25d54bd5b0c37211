package tool

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// capture keeps the beginning and the end of an endless output in bounded memory. Its methods may be called at the same
// time.
type capture struct {
	headMax, tailMax int

	mu    sync.Mutex // guards all below
	head  []byte
	tail  []byte // a ring once it is full
	start int    // of the ring: the oldest byte
	total int64  // bytes written
}

// Write never fails and never blocks for long.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.headMax - len(c.head); room > 0 {
		room = min(room, len(p))
		c.head = append(c.head, p[:room]...)
		p = p[room:]
	}
	if len(p) > c.tailMax {
		p = p[len(p)-c.tailMax:]
	}
	if room := c.tailMax - len(c.tail); room > 0 {
		room = min(room, len(p))
		c.tail = append(c.tail, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.start:], p)
		p, c.start = p[k:], (c.start+k)%len(c.tail)
	}
	return n, nil
}

// text is all that is kept, with a marker for what is not.
func (c *capture) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := append(append([]byte{}, c.tail[c.start:]...), c.tail[:c.start]...)
	dropped := c.total - int64(len(c.head)) - int64(len(tail))
	if dropped == 0 {
		return clean(append(append([]byte{}, c.head...), tail...))
	}
	return joinCut(c.head, tail, dropped)
}

// since is what was written behind an offset, shortened to at most about limit bytes, and the offset to go on from. While
// more may come, a character that has begun is left for the next time. Only for a capture without a head.
func (c *capture) since(offset int64, limit int, more bool) (text string, next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := append(append([]byte{}, c.tail[c.start:]...), c.tail[:c.start]...)
	first := c.total - int64(len(data))
	next = c.total
	dropped := max(0, first-offset)
	if offset > first {
		data = data[offset-first:]
	}
	if more {
		whole := wholeEnd(data)
		next -= int64(len(data) - len(whole))
		data = whole
	}
	switch {
	case len(data) > limit: // what is just out of reach is part of the gap
		head, tail := data[:limit/3], data[len(data)-limit*2/3:]
		if dropped > 0 {
			head, tail = nil, data[len(data)-limit:]
		}
		return joinCut(head, tail, dropped+int64(len(data)-len(head)-len(tail))), next
	case dropped > 0:
		return joinCut(nil, data, dropped), next
	}
	return clean(data), next
}

// joinCut puts a marker between two parts, and cuts both at the boundary of a character.
func joinCut(head, tail []byte, dropped int64) string {
	h, t := wholeEnd(head), wholeStart(tail)
	dropped += int64(len(head) - len(h) + len(tail) - len(t))
	marker := fmt.Sprintf("[%d bytes left out]\n", dropped)
	if len(h) > 0 {
		marker = "\n" + marker
	}
	return clean(h) + marker + clean(t)
}

// wholeEnd drops a character that has only begun.
func wholeEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// wholeStart drops the rest of a character whose beginning is missing.
func wholeStart(b []byte) []byte {
	for i := range min(utf8.UTFMax-1, len(b)) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b[min(utf8.UTFMax-1, len(b)):]
}

// clean shows what is no text: bytes that are no character as U+FFFD, NUL as its symbol.
func clean(b []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "␀")
}
