package ledger

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestAppendReusesItsBuffer: an Append allocates nothing of its own. The race
// detector empties pools at random, so there is no exact number under it.
func TestAppendReusesItsBuffer(t *testing.T) {
	l := must(Files(t.TempDir(), options()).Create("s1"))(t)
	defer l.Close()
	recs := []Record{rec("message", `{"text":"`+strings.Repeat("x", 20_000)+`"}`)}
	no(t, l.Append(recs...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 500
	for range n {
		no(t, l.Append(recs...))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 1000 {
		t.Errorf("%d bytes allocated for each Append of 20,000", each)
	}
}

// TestReadIsFlat: memory does not grow with the log, and not with what is skipped.
func TestReadIsFlat(t *testing.T) {
	s := Files(t.TempDir(), options())
	l := must(s.Create("s1"))(t)
	recs := make([]Record, 1000)
	for i := range recs {
		recs[i] = rec("message", `{"text":"`+strings.Repeat("x", 300)+`"}`)
	}
	for range 100 {
		no(t, l.Append(recs...))
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, seq := range map[string]func(func(Record, error) bool){"held": l.Read(1), "not held": s.Read("s1", 1), "the end": s.Read("s1", 100_000)} {
		before, n := heap(), 0
		for _, err := range seq {
			no(t, err)
			if n++; n%20_000 == 0 || name == "the end" {
				if now := heap(); now > before+1<<20 {
					t.Errorf("%s: %d KiB more after %d records of a log of %d KiB", name, (now-before)>>10, n, l.Info().Bytes>>10)
				}
			}
		}
		if n != 100_000 && name != "the end" || n == 0 {
			t.Errorf("%s: %d records", name, n)
		}
	}
	no(t, l.Close())
}

// TestIdleIsSmall: a session that has appended a large record does not keep its buffer.
func TestIdleIsSmall(t *testing.T) {
	l := must(Files(t.TempDir(), options()).Create("s1"))(t).(*fileLedger)
	no(t, l.Append(rec("long", `"`+strings.Repeat("x", 1<<20)+`"`)))
	if cap(l.buf) > keepBuffer {
		t.Errorf("it keeps %d bytes", cap(l.buf))
	}
	no(t, l.Close())
}

// TestLongLines: a line longer than any of ours is damage, read over with little memory.
func TestLongLines(t *testing.T) {
	log, _ := logOfThree(t)
	size := int64(len(log))
	log = append(append(log, make([]byte, 10<<20)...), '\n')
	more, err := appendLines(nil, 4, []Record{numbered(5)}, options().withDefaults().Now)
	no(t, err)
	log = append(log, more...)
	l := newLines(bytes.NewReader(log), 0, int64(len(log)))
	l.limit = 100_000
	good := 0
	for {
		line, terminated, err := l.next()
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
		if _, ok := parse(line); ok && terminated {
			good++
		}
		if good == 5 && l.pos() != int64(len(log)) || good == 4 && l.pos() != size && l.pos() != int64(len(log)-len(more)) {
			t.Errorf("%d good ones up to %d", good, l.pos())
		}
	}
	if good != 5 || len(l.buf) > 2*l.limit+bufferSize {
		t.Errorf("%d good lines, a buffer of %d bytes", good, len(l.buf))
	}
	long := Record{Kind: "long", Data: make([]byte, maxLine)}
	if err := checkRecord(&long); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a record that could not be read back was taken: %v", err)
	}
}
