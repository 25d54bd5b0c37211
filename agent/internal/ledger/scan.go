package ledger

import (
	"bytes"
	"errors"
	"io"
	"time"
)

const (
	bufferSize = 64 << 10
	markEvery  = 256 << 10
	arenaSize  = 4 << 10
)

// lines reads a part of a file line by line through one buffer, which grows to
// the longest line.
type lines struct {
	r        io.ReaderAt
	off, end int64 // of the next byte to read, and of the last one
	buf      []byte
	lo, hi   int // what of buf is not given out yet
	limit    int // a longer line is not kept whole
}

func newLines(r io.ReaderAt, from, end int64) *lines {
	return &lines{r: r, off: from, end: end, buf: make([]byte, min(bufferSize, max(end-from, 1))), limit: maxLine}
}

// pos is the offset of the next line.
func (l *lines) pos() int64 { return l.off - int64(l.hi-l.lo) }

// next returns a line without its newline, valid until the next call, and
// whether it had one. io.EOF is the end.
func (l *lines) next() (line []byte, terminated bool, err error) {
	seen := 0 // without a newline, counted from lo
	for {
		if i := bytes.IndexByte(l.buf[l.lo+seen:l.hi], '\n'); i >= 0 {
			line = l.buf[l.lo : l.lo+seen+i]
			l.lo += seen + i + 1
			return line, true, nil
		}
		seen = l.hi - l.lo
		if l.off == l.end {
			if seen == 0 {
				return nil, false, io.EOF
			}
			line, l.lo = l.buf[l.lo:l.hi], l.hi
			return line, false, nil
		}
		if seen > l.limit { // no line of ours: its sum will not fit, so its rest may go
			seen, l.hi = prefix, l.lo+prefix
		}
		if err := l.fill(); err != nil {
			return nil, false, err
		}
	}
}

// fill reads on behind hi.
func (l *lines) fill() error {
	if l.lo > 0 {
		l.hi = copy(l.buf, l.buf[l.lo:l.hi])
		l.lo = 0
	}
	if l.hi == len(l.buf) {
		bigger := make([]byte, 2*len(l.buf))
		copy(bigger, l.buf)
		l.buf = bigger
	}
	want := min(int64(len(l.buf)-l.hi), l.end-l.off)
	n, err := l.r.ReadAt(l.buf[l.hi:l.hi+int(want)], l.off)
	l.hi += n
	l.off += int64(n)
	if n > 0 {
		return nil // an error comes again
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF // the file was longer a moment ago
	}
	return err
}

// mark is where a record begins.
type mark struct {
	seq uint64
	off int64
}

// survey is what a log holds, found without looking into the records.
type survey struct {
	records uint64
	last    uint64 // highest Seq
	to      uint64 // where the records that were appended with the last one end
	sum     [sumLen]byte
	end     int64 // behind the last whole record: what follows is torn
	bad     uint64
	marks   []mark // one in markEvery bytes
}

// add takes in the record of a line that begins at off.
func (s *survey) add(e *entry, line []byte, off, end int64) {
	if n := len(s.marks); n == 0 || off-s.marks[n-1].off >= markEvery {
		s.marks = append(s.marks, mark{e.seq, off})
	}
	s.records++
	s.last, s.to, s.end = e.seq, e.to, end
	copy(s.sum[:], line)
}

// look surveys the first size bytes of a log. Bad lines with good ones behind
// them are counted, and so is a gap in the Seq; bad ones at the end are left out.
// each, which may be nil, gets the records that there are; their Data are good
// until it returns.
func look(r io.ReaderAt, size int64, each func(Record)) (survey, error) {
	l := newLines(r, 0, size)
	s, err := lookHead(l)
	if err != nil {
		return s, err
	}
	var before survey // what there was when the last records that belong together began
	var pending uint64
	shown := showing{each: each}
	terminated := true
	for {
		off := l.pos()
		var line []byte
		line, terminated, err = l.next()
		if err == io.EOF {
			terminated = true
			break
		}
		if err != nil {
			return s, err
		}
		if !terminated {
			break
		}
		e, ok := parse(line)
		if !ok || e.seq <= s.last {
			pending++
			continue
		}
		if pending == 0 && e.seq != s.last+1 {
			pending++
		}
		if e.to != s.to {
			before = s
			shown.release()
		}
		s.bad += pending
		pending = 0
		s.add(&e, line, off, l.pos())
		shown.add(&e)
	}
	if s.last < s.to {
		switch torn := pending == 0 || !terminated; {
		case torn && before.last == before.to:
			return before, nil
		case !torn:
			// The rest is there, but damaged. What is good stays, and so does the
			// rest, or it would look torn the next time.
			s.bad += pending
			s.end = size
		}
		// Torn, and what is before is not complete either: a damaged log, of which
		// nothing good is given up.
	}
	shown.release()
	return s, nil
}

// showing gives records to each, but holds those back that may be found torn yet:
// of some that were appended together, until the last has come.
type showing struct {
	each func(Record)
	made maker
	held []Record
}

func (s *showing) add(e *entry) {
	switch {
	case s.each == nil:
	case e.seq < e.to:
		s.held = append(s.held, s.made.record(e))
	default:
		s.release()
		s.each(s.made.view(e))
	}
}

func (s *showing) release() {
	for _, r := range s.held {
		s.each(r)
	}
	s.held = nil
}

func lookHead(l *lines) (survey, error) {
	line, terminated, err := l.next()
	if err != nil && err != io.EOF {
		return survey{}, err
	}
	if err := checkHead(line); err != nil {
		return survey{}, err
	}
	if !terminated {
		return survey{}, &DamagedError{Reason: "its first line is not whole"}
	}
	return survey{end: l.pos()}, nil
}

// start is the mark to begin at for the records from seq on.
func (s *survey) start(seq uint64) (mark, bool) {
	for i := len(s.marks) - 1; i >= 0; i-- {
		if s.marks[i].seq <= seq {
			return s.marks[i], true
		}
	}
	if len(s.marks) > 0 {
		return s.marks[0], true
	}
	return mark{}, false
}

// errStop ends a stream that nobody reads on.
var errStop = errors.New("stop")

// stream yields the records of s with at least seq from and returns how many
// lines it skipped as bad.
func (s *survey) stream(r io.ReaderAt, from uint64, yield func(Record, error) bool) (bad uint64, err error) {
	m, ok := s.start(from)
	if !ok {
		return 0, nil
	}
	l := newLines(r, m.off, s.end)
	last := m.seq - 1
	var records maker
	for {
		line, terminated, err := l.next()
		if err == io.EOF {
			return bad, nil
		}
		if err != nil {
			return bad, err
		}
		e, ok := parse(line)
		if !ok || !terminated || e.seq <= last {
			bad++
			continue
		}
		last = e.seq
		if e.seq >= from && !yield(records.record(&e), nil) {
			return bad, errStop
		}
	}
}

// maker turns entries into records that stay good when the buffer is used
// again, with few allocations: kinds repeat, and small data share a block.
type maker struct {
	kinds map[string]string
	last  string // the latest kind: mostly it is the next one, too
	block []byte
}

func (m *maker) record(e *entry) Record {
	r := m.view(e)
	r.Data = m.data(e.data)
	return r
}

// view is a record whose Data are good as long as the entry is.
func (m *maker) view(e *entry) Record {
	if string(e.kind) != m.last {
		m.last = m.kind(e.kind)
	}
	return Record{Seq: e.seq, Time: time.UnixMilli(e.ms).UTC(), Kind: m.last, Data: e.data}
}

func (m *maker) kind(b []byte) string {
	if k, ok := m.kinds[string(b)]; ok {
		return k
	}
	k := string(b)
	if m.kinds == nil {
		m.kinds = map[string]string{}
	}
	if len(m.kinds) < 256 {
		m.kinds[k] = k
	}
	return k
}

func (m *maker) data(b []byte) []byte {
	switch {
	case b == nil:
		return nil
	case len(b) > arenaSize/4:
		return bytes.Clone(b)
	case len(b) > len(m.block):
		m.block = make([]byte, arenaSize)
	}
	d := m.block[:len(b):len(b)]
	m.block = m.block[len(b):]
	copy(d, b)
	return d
}
