package ledger

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawRecord(r *rapid.T) Record {
	rec := Record{
		Kind: rapid.StringMatching(`[a-z][a-z0-9_]{0,31}`).Draw(r, "kind"),
		Time: time.UnixMilli(rapid.Int64Range(-1<<40, 1<<45).Draw(r, "ms")).UTC(),
	}
	switch rapid.IntRange(0, 9).Draw(r, "data") {
	case 0, 1:
	case 2, 3, 4, 5:
		rec.Data, _ = json.Marshal(rapid.String().Draw(r, "text"))
	case 6, 7, 8:
		rec.Data, _ = json.Marshal(rapid.MapOfN(rapid.StringN(0, 8, -1), rapid.Int(), 0, 4).Draw(r, "object"))
	case 9: // longer than the blocks of Read, sometimes than its buffer
		rec.Data, _ = json.Marshal(strings.Repeat("x", rapid.IntRange(1000, 200_000).Draw(r, "long")))
	}
	return rec
}

// TestLikeASlice drives a session by random calls, beside a plain slice.
func TestLikeASlice(t *testing.T) {
	for name, store := range map[string]func(dir string) Store{
		"files":  func(dir string) Store { return Files(dir, options()) },
		"memory": func(string) Store { return Memory(options()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(r *rapid.T) {
				_ = os.RemoveAll(filepath.Join(dir, "sessions"))
				m := &model{s: store(dir), dir: dir, disk: name == "files"}
				m.create(r)
				defer func() { m.l.Close() }()
				r.Repeat(map[string]func(*rapid.T){
					"append": m.append, "read": m.read, "sync": m.sync, "reopen": m.reopen, "kill": m.kill, "": m.check,
				})
			})
		})
	}
}

type model struct {
	s    Store
	dir  string
	disk bool
	l    Ledger
	want []Record
}

func (m *model) draw(r *rapid.T) []Record {
	recs := make([]Record, rapid.IntRange(0, 4).Draw(r, "n"))
	for i := range recs {
		recs[i] = drawRecord(r)
		want := recs[i]
		want.Seq = uint64(len(m.want) + 1)
		m.want = append(m.want, want)
	}
	return recs
}

func (m *model) create(r *rapid.T) {
	var err error
	if m.l, err = m.s.Create("s1", m.draw(r)...); err != nil {
		r.Fatal(err)
	}
}

func (m *model) append(r *rapid.T) {
	if err := m.l.Append(m.draw(r)...); err != nil {
		r.Fatal(err)
	}
}

func (m *model) read(r *rapid.T) {
	from := rapid.IntRange(0, len(m.want)+2).Draw(r, "from")
	want := m.want[min(max(from, 1)-1, len(m.want)):]
	for name, seq := range map[string]func(func(Record, error) bool){"held": m.l.Read(uint64(from)), "not held": m.s.Read("s1", uint64(from))} {
		got, err := gather(seq)
		if err != nil || !slices.EqualFunc(want, got, same) {
			r.Fatalf("%s, from %d: %v %s", name, from, err, cmp.Diff(want, got))
		}
	}
}

func same(a, b Record) bool {
	return a.Seq == b.Seq && a.Time.Equal(b.Time) && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data) && (a.Data == nil) == (b.Data == nil)
}

func (m *model) sync(r *rapid.T) {
	if err := m.l.Sync(); err != nil {
		r.Fatal(err)
	}
}

func (m *model) reopen(r *rapid.T) {
	if !m.disk {
		return
	}
	if err := m.l.Close(); err != nil {
		r.Fatal(err)
	}
	var err error
	if m.l, err = openSame(m.s); err != nil {
		r.Fatal(err)
	}
}

// kill leaves a part of an append behind.
func (m *model) kill(r *rapid.T) {
	if !m.disk {
		return
	}
	info := m.l.Info()
	if err := m.l.Close(); err != nil {
		r.Fatal(err)
	}
	recs := []Record{drawRecord(r), drawRecord(r)}
	text, err := appendLines(nil, uint64(len(m.want)), recs, time.Now)
	if err != nil {
		r.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(info.Folder, logFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		r.Fatal(err)
	}
	_, _ = f.Write(text[:rapid.IntRange(0, len(text)-1).Draw(r, "written")])
	f.Close()
	if m.l, err = openSame(m.s); err != nil {
		r.Fatal(err)
	}
	if m.l.Info() != info {
		r.Fatalf("%+v, want %+v", m.l.Info(), info)
	}
}

func (m *model) check(r *rapid.T) {
	if i := m.l.Info(); i.Records != uint64(len(m.want)) {
		r.Fatalf("%d records, want %d", i.Records, len(m.want))
	}
}

// TestReadFromAnywhere: in a log of several marks, written now and opened anew.
func TestReadFromAnywhere(t *testing.T) {
	const n = 20_000
	s := Files(t.TempDir(), options())
	l := must(s.Create("s1"))(t)
	for i := 0; i < n; i += 4 {
		no(t, l.Append(numbered(i), numbered(i+1), rec("long", `"`+strings.Repeat("x", i%300)+`"`), numbered(i+3)))
	}
	for _, how := range []string{"appended", "opened"} {
		if marks := len(l.(*fileLedger).log.marks); marks < 5 {
			t.Fatalf("%s: %d marks in %d bytes", how, marks, l.Info().Bytes)
		}
		froms := []uint64{1, n}
		for _, m := range l.(*fileLedger).log.marks {
			froms = append(froms, m.seq, max(m.seq, 2)-1, m.seq+1, m.seq+50)
		}
		for _, from := range froms {
			next := from
			for r, err := range l.Read(from) {
				no(t, err)
				if r.Seq != next {
					t.Fatalf("%s: from %d: %d, want %d", how, from, r.Seq, next)
				}
				if next++; next > from+3 {
					break
				}
			}
		}
		if got := collect(t, l.Read(n)); len(got) != 1 {
			t.Fatalf("%s: %d records from the last on", how, len(got))
		}
		no(t, l.Close())
		l = must(openSame(s))(t)
	}
	no(t, l.Close())
}

// TestConcurrent appends from several goroutines while others read, sync and look.
func TestConcurrent(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		l := must(s.Create("s1"))(t)
		const writers, each = 4, 300
		var writing, reading sync.WaitGroup
		done := make(chan struct{})
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					if err := l.Append(numbered(w), numbered(i)); err != nil {
						t.Error(err)
					}
					if i%50 == 0 {
						if err := l.Sync(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		for _, read := range []func(uint64) func(func(Record, error) bool){
			func(n uint64) func(func(Record, error) bool) { return l.Read(n) },
			func(n uint64) func(func(Record, error) bool) { return s.Read("s1", n) },
		} {
			reading.Go(func() {
				for {
					least := l.Info().Records
					got, err := gather(read(1))
					if err != nil || uint64(len(got)) < least || len(got)%2 != 0 {
						t.Errorf("%d records, at least %d: %v", len(got), least, err)
						return
					}
					for i, r := range got {
						if r.Seq != uint64(i+1) {
							t.Errorf("record %d has seq %d", i+1, r.Seq)
							return
						}
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		writing.Wait()
		close(done)
		reading.Wait()
		if n := l.Info().Records; n != 2*writers*each {
			t.Errorf("%d records", n)
		}
		// What each writer appended together is together.
		got := collect(t, l.Read(1))
		next := [writers]int{}
		for i := 0; i < len(got); i += 2 {
			var w, n struct{ I int }
			no(t, json.Unmarshal(got[i].Data, &w))
			no(t, json.Unmarshal(got[i+1].Data, &n))
			if n.I != next[w.I] {
				t.Fatalf("writer %d: %d, want %d", w.I, n.I, next[w.I])
			}
			next[w.I]++
		}
		no(t, l.Close())
	})
}

// TestReadWhileAppending: a Read ends where the log did when it began, also when
// its own loop appends.
func TestReadWhileAppending(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		l := must(s.Create("s1", numbered(0), numbered(1)))(t)
		n := 0
		for _, err := range l.Read(1) {
			no(t, err)
			no(t, l.Append(numbered(n)))
			n++
		}
		if n != 2 || l.Info().Records != 4 {
			t.Errorf("%d read, %d there", n, l.Info().Records)
		}
		kept := collect(t, l.Read(1)) // what is read stays good
		for range 100 {
			no(t, l.Append(rec("filler", `"`+strings.Repeat("y", 2000)+`"`)))
		}
		collect(t, l.Read(1))
		if string(kept[0].Data) != `{"i":0}` || string(kept[3].Data) != `{"i":1}` {
			t.Errorf("%s %s", kept[0].Data, kept[3].Data)
		}
		_ = append(kept[0].Data, "overwritten"...)
		if string(kept[1].Data) != `{"i":1}` {
			t.Errorf("records share memory: %s", kept[1].Data)
		}
		for range l.Read(1) {
			no(t, l.Close())
			break
		}
	})
}

// TestCloseWhileReading: a Read that is under way ends with ErrClosed.
func TestCloseWhileReading(t *testing.T) {
	l := must(Files(t.TempDir(), options()).Create("s1"))(t)
	for range 100 {
		no(t, l.Append(rec("long", `"`+strings.Repeat("x", 5000)+`"`)))
	}
	var last error
	n := 0
	for _, last = range l.Read(1) {
		n++
		no(t, l.Close())
	}
	if last != ErrClosed || n < 2 || n > 100 {
		t.Errorf("%d records, then %v", n, last)
	}
}
