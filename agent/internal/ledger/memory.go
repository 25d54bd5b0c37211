package ledger

import (
	"bytes"
	"fmt"
	"iter"
	"sync"
)

// memory is the store that touches no disk.
type memory struct {
	Options
	mu   sync.Mutex
	open map[string]*memoryLedger
}

func (m *memory) Create(id string, first ...Record) (Ledger, error) {
	if !ValidID(id) {
		return nil, badID(id)
	}
	l := &memoryLedger{store: m, id: id, size: int64(len(appendHead(nil)))}
	if err := l.Append(first...); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open[id] != nil {
		return nil, ErrExists
	}
	m.open[id] = l
	return l, nil
}

func (m *memory) find(id string) (*memoryLedger, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.open[id]; l != nil {
		return l, nil
	}
	return nil, ErrUnknown
}

func (m *memory) Open(id string, each func(Record)) (Ledger, error) {
	l, err := m.find(id)
	if err != nil {
		return nil, err // not l: a nil *memoryLedger is no nil Ledger
	}
	if each != nil {
		recs, _, _ := l.snapshot()
		for _, r := range recs {
			each(r)
		}
	}
	return l, nil
}

func (m *memory) Read(id string, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		l, err := m.find(id)
		if err != nil {
			yield(Record{}, err)
			return
		}
		l.Read(from)(yield)
	}
}

func (m *memory) List() ([]Summary, error) {
	m.mu.Lock()
	ledgers := make([]*memoryLedger, 0, len(m.open))
	for _, l := range m.open {
		ledgers = append(ledgers, l)
	}
	m.mu.Unlock()
	list := make([]Summary, 0, len(ledgers))
	for _, l := range ledgers {
		recs, size, _ := l.snapshot()
		fold := folder{fold: m.Fold}
		for _, r := range recs {
			fold.take(r)
		}
		list = append(list, fold.summary(l.id, uint64(len(recs)), size))
	}
	return list, nil
}

func (m *memory) Delete(id string) error {
	if _, err := m.find(id); err != nil {
		return nil
	}
	return &HeldError{Holder: m.Owner}
}

// memoryLedger is a session that nobody else can open.
type memoryLedger struct {
	store *memory
	id    string

	mu     sync.Mutex // guards what follows
	recs   []Record   // only appended to, so that a reader needs no copy
	size   int64      // as if it were a file
	sum    [sumLen]byte
	closed bool
}

func (l *memoryLedger) Append(recs ...Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if len(recs) == 0 {
		return nil
	}
	text, err := appendLines(nil, uint64(len(l.recs)), recs, l.store.Now)
	if err != nil {
		return err
	}
	l.size += int64(len(text))
	copy(l.sum[:], lastLine(text))
	// The records are taken from the lines: the same as a file would give.
	var m maker
	for line := range bytes.Lines(text) {
		e, ok := parse(line[:len(line)-1])
		if !ok {
			return fmt.Errorf("record %d cannot be read back", len(l.recs)+1)
		}
		l.recs = append(l.recs, m.record(&e))
	}
	return nil
}

func (l *memoryLedger) Sync() error { return nil }

func (l *memoryLedger) snapshot() ([]Record, int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recs, l.size, l.closed
}

func (l *memoryLedger) Read(from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		recs, _, closed := l.snapshot()
		if closed {
			yield(Record{}, ErrClosed)
			return
		}
		for _, r := range recs[min(max(from, 1)-1, uint64(len(recs))):] {
			r.Data = bytes.Clone(r.Data)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *memoryLedger) Info() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := Info{Records: uint64(len(l.recs)), Bytes: l.size}
	if i.Records > 0 {
		i.Checksum = string(l.sum[:])
	}
	return i
}

func (l *memoryLedger) Delete() error {
	if !l.end() {
		return ErrClosed
	}
	return nil
}

func (l *memoryLedger) Close() error {
	l.end()
	return nil
}

// end forgets the session; false when it was over already.
func (l *memoryLedger) end() bool {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.closed = true
	delete(l.store.open, l.id)
	return true
}
