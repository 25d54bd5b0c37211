package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func rec(kind, data string) Record {
	r := Record{Kind: kind}
	if data != "" {
		r.Data = json.RawMessage(data)
	}
	return r
}

// numbered returns a record that says which one it is.
func numbered(i int) Record { return rec("note", fmt.Sprintf(`{"i":%d}`, i)) }

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func no(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func collect(t *testing.T, seq iter.Seq2[Record, error]) []Record {
	t.Helper()
	var out []Record
	for r, err := range seq {
		no(t, err)
		out = append(out, r)
	}
	return out
}

func readErr(seq iter.Seq2[Record, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// foldForTest knows two kinds: meta sets cwd and title, prompt makes the session prompted.
func foldForTest(s *Summary, r Record) {
	switch r.Kind {
	case "meta":
		var m struct{ CWD, Title string }
		_ = json.Unmarshal(r.Data, &m)
		s.CWD, s.Title = m.CWD, m.Title
	case "prompt":
		s.Prompted = true
	}
}

func options() Options { return Options{Fold: foldForTest} }

// stores runs a test with both stores.
func stores(t *testing.T, f func(t *testing.T, s Store)) {
	t.Run("files", func(t *testing.T) { f(t, Files(t.TempDir(), options())) })
	t.Run("memory", func(t *testing.T) { f(t, Memory(options())) })
}

func TestAppendRead(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
		before := time.Now().Truncate(time.Millisecond)
		l := must(s.Create("s1", Record{Kind: "meta", Time: at, Data: []byte(`{"title":"é","n":[1,{}]}`)}))(t)
		no(t, l.Append(rec("turn_started", "")))
		no(t, l.Append(rec("a", `1`), rec("b", `null`), rec("c", `"x\ny"`)))
		no(t, l.Append())
		got := collect(t, l.Read(0))
		if d := got[1].Time.Sub(before); d < 0 || d > time.Minute || got[1].Time.Location() != time.UTC {
			t.Errorf("time of a record without one: %v", got[1].Time)
		}
		for i := 1; i < len(got); i++ {
			got[i].Time = time.Time{}
		}
		want := []Record{
			{1, time.Date(2026, 1, 2, 2, 4, 5, 678_000_000, time.UTC), "meta", json.RawMessage(`{"title":"é","n":[1,{}]}`)},
			{2, time.Time{}, "turn_started", nil},
			{3, time.Time{}, "a", json.RawMessage(`1`)},
			{4, time.Time{}, "b", json.RawMessage(`null`)},
			{5, time.Time{}, "c", json.RawMessage(`"x\ny"`)},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		for from, first := range map[uint64]uint64{0: 1, 1: 1, 3: 3, 5: 5} {
			if got := collect(t, l.Read(from)); got[0].Seq != first {
				t.Errorf("read from %d begins with %d", from, got[0].Seq)
			}
		}
		if got := collect(t, l.Read(6)); got != nil {
			t.Errorf("behind the end: %v", got)
		}
		if d := cmp.Diff(collect(t, l.Read(2)), collect(t, s.Read("s1", 2))); d != "" {
			t.Errorf("read without holding it differs: %s", d)
		}
		if i := l.Info(); i.Records != 5 || len(i.Checksum) != 8 || i.Bytes < 200 {
			t.Errorf("info %+v", i)
		}
	})
}

func TestBadRecords(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		l := must(s.Create("s1"))(t)
		defer l.Close()
		no(t, l.Append(numbered(0)))
		before := l.Info()
		for _, r := range []Record{
			rec("", ""), rec("Upper", ""), rec("two words", ""), rec("_a", ""), rec("k\n", ""), rec(`k"`, ""), rec(strings.Repeat("a", 33), ""),
			rec("a", `{`), rec("a", "{\n}"), rec("a", "{\r}"), rec("a", ` `), rec("a", `{}{}`), rec("a", `{"a":1,}`), rec("a", "\"\x00\""),
		} {
			// With a good one in front: all of them or none.
			if err := l.Append(numbered(1), r); err == nil {
				t.Errorf("kind %q, data %q was taken", r.Kind, r.Data)
			}
		}
		if after := l.Info(); after != before {
			t.Errorf("from %+v to %+v", before, after)
		}
		no(t, l.Append(rec(strings.Repeat("a", 32), ""), rec("a2_b", "")))
		if got := collect(t, l.Read(1)); len(got) != 3 || got[2].Seq != 3 {
			t.Errorf("%v", got)
		}
	})
}

func TestClosed(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		l := must(s.Create("s1", numbered(0)))(t)
		info := l.Info()
		no(t, l.Close())
		no(t, l.Close())
		no(t, l.Sync()) // everything is on the disk
		if err := l.Append(numbered(1)); err != ErrClosed {
			t.Errorf("append: %v", err)
		}
		if err := l.Delete(); err != ErrClosed {
			t.Errorf("delete: %v", err)
		}
		if err := readErr(l.Read(1)); err != ErrClosed {
			t.Errorf("read: %v", err)
		}
		if l.Info() != info {
			t.Errorf("info changed to %+v", l.Info())
		}
	})
}

func TestUnknown(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		for _, id := range []string{"nope", "", "../x", ".", "a/b", ".deleted-x"} {
			if _, err := s.Open(id, nil); err != ErrUnknown {
				t.Errorf("open %q: %v", id, err)
			}
			if err := readErr(s.Read(id, 1)); err != ErrUnknown {
				t.Errorf("read %q: %v", id, err)
			}
			if err := s.Delete(id); err != nil {
				t.Errorf("delete %q: %v", id, err)
			}
		}
		if list := must(s.List())(t); len(list) != 0 {
			t.Errorf("%v", list)
		}
		if _, err := s.Create("../x"); err == nil || !strings.Contains(err.Error(), `"../x"`) {
			t.Errorf("create: %v", err)
		}
		l := must(s.Create("s1"))(t)
		defer l.Close()
		if _, err := s.Create("s1"); !errors.Is(err, ErrExists) {
			t.Errorf("twice: %v", err)
		}
		if _, err := s.Create("s2", rec("", "")); err == nil {
			t.Error("a session with a bad first record")
		}
		if _, err := s.Open("s2", nil); err != ErrUnknown {
			t.Errorf("it is there: %v", err)
		}
	})
}

func TestMemoryForgets(t *testing.T) {
	s := Memory(options())
	l := must(s.Create("s1", rec("meta", `{"cwd":"/w","title":"T"}`), rec("prompt", "")))(t)
	if again := must(s.Open("s1", nil))(t); again != l {
		t.Error("open gives another ledger")
	}
	list := must(s.List())(t)
	if len(list) != 1 || list[0].CWD != "/w" || list[0].Title != "T" || !list[0].Prompted || list[0].Records != 2 || list[0].Created.IsZero() {
		t.Errorf("%+v", list)
	}
	var held *HeldError
	if err := s.Delete("s1"); !errors.As(err, &held) {
		t.Errorf("delete of an open one: %v", err)
	}
	no(t, l.Close())
	if _, err := s.Open("s1", nil); err != ErrUnknown {
		t.Errorf("after close: %v", err)
	}
	l = must(s.Create("s1"))(t)
	no(t, l.Delete())
	if _, err := s.Open("s1", nil); err != ErrUnknown {
		t.Errorf("after delete: %v", err)
	}
	if l.Info().Folder != "" {
		t.Error("a folder in memory")
	}
}

func TestMemoryDataIsOwn(t *testing.T) {
	l := must(Memory(options()).Create("s1"))(t)
	data := []byte(`{"a":1}`)
	no(t, l.Append(Record{Kind: "a", Data: data}))
	copy(data, `xxxxxxx`)
	copy(collect(t, l.Read(1))[0].Data, `yyyyyyy`)
	if got := string(collect(t, l.Read(1))[0].Data); got != `{"a":1}` {
		t.Error(got)
	}
}

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "A-Z_09.x", "550e8400-e29b-41d4-a716-446655440000", strings.Repeat("a", 128), "-", "_", "com10", "com", "lptx", "console", "a.con"} {
		if !ValidID(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", ".", "..", ".a", "a.", "a/b", `a\b`, "a b", "a\x00", "é", "a:b", "a*", strings.Repeat("a", 129), "con", "NUL", "nul.txt", "Com1", "lpt9.x.y", "AUX", "prn."} {
		if ValidID(id) {
			t.Errorf("%q is taken", id)
		}
	}
}
