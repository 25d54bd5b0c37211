package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plant writes a log by hand and returns a store that has it as s1, with what is logged.
func plant(t testing.TB, dir string, log []byte) (Store, *bytes.Buffer) {
	t.Helper()
	folder := filepath.Join(dir, "sessions", "s1")
	err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, logFile), log, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	o := options()
	o.Logger = slog.New(slog.NewTextHandler(&said, nil))
	return Files(dir, o), &said
}

// openSame opens s1 and sees to it that what Open shows is what there is.
func openSame(s Store) (Ledger, error) {
	var shown []Record
	l, err := s.Open("s1", func(r Record) {
		r.Data = bytes.Clone(r.Data)
		shown = append(shown, r)
	})
	if err != nil {
		return nil, err
	}
	there, err := gather(l.Read(1))
	if err != nil || !slices.EqualFunc(there, shown, same) {
		return nil, errors.Join(fmt.Errorf("Open shows %v, but Read %v", shown, there), err, l.Close())
	}
	return l, nil
}

// logOfThree is a small log: one record, two together, one; cuts are the ends of its lines.
func logOfThree(t testing.TB) (log []byte, cuts []int) {
	t.Helper()
	log = appendHead(nil)
	var err error
	for i, n := range []int{1, 2, 1} {
		recs := make([]Record, n)
		for j := range recs {
			recs[j] = Record{Kind: "note", Time: time.UnixMilli(1e12), Data: fmt.Appendf(nil, `{"i":%d}`, 10*i+j)}
		}
		if log, err = appendLines(log, []uint64{0, 1, 3}[i], recs, time.Now); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range log {
		if c == '\n' {
			cuts = append(cuts, i+1)
		}
	}
	return log, cuts
}

func seqs(recs []Record) []uint64 {
	var out []uint64
	for _, r := range recs {
		out = append(out, r.Seq)
	}
	return out
}

// openHead says whether the error is one that a log with a broken head may give.
func headError(err error) bool {
	var format *FormatError
	var damaged *DamagedError
	return errors.As(err, &format) || errors.As(err, &damaged)
}

// TestEveryPrefix opens the log as a killed machine may leave it: cut at each
// byte. Every whole record is there, those that belong together all or none.
func TestEveryPrefix(t *testing.T) {
	dir := t.TempDir()
	log, cuts := logOfThree(t)
	for n := range len(log) + 1 {
		s, said := plant(t, dir, log[:n])
		unheldErr := readErr(s.Read("s1", 1))
		l, err := openSame(s)
		if n < cuts[0] {
			if !headError(err) || !headError(unheldErr) {
				t.Fatalf("%d bytes: open %v, read %v", n, err, unheldErr)
			}
			continue
		}
		no(t, err)
		var want []uint64
		end := cuts[0]
		for _, whole := range [][]uint64{{1}, {2, 3}, {4}} {
			if last := whole[len(whole)-1]; n >= cuts[last] {
				want, end = append(want, whole...), cuts[last]
			}
		}
		if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, want) {
			t.Fatalf("%d bytes: %v, want %v", n, got, want)
		}
		if got := l.Info().Bytes; got != int64(end) {
			t.Fatalf("%d bytes: cut to %d, want %d", n, got, end)
		}
		wantLine := fmt.Sprintf("session=s1 bytes=%d\n", n-end)
		if n == end && said.Len() > 0 || n > end && (!strings.Contains(said.String(), wantLine) || strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "level=WARN")) {
			t.Fatalf("%d bytes: said %q", n, said)
		}
		goesOn(t, s, l, want)
	}
}

// goesOn appends to a repaired log, reopens it and finds both the old and the new.
func goesOn(t *testing.T, s Store, l Ledger, before []uint64) {
	t.Helper()
	next := uint64(1)
	if len(before) > 0 {
		next = before[len(before)-1] + 1
	}
	if got := seqs(collect(t, s.Read("s1", 1))); !cmp.Equal(got, before) {
		t.Fatalf("not held: %v, want %v", got, before)
	}
	no(t, l.Append(numbered(99)))
	no(t, l.Close())
	l, err := openSame(s)
	no(t, err)
	if got, want := seqs(collect(t, l.Read(1))), append(before[:len(before):len(before)], next); !cmp.Equal(got, want) {
		t.Fatalf("after an append: %v, want %v", got, want)
	}
	no(t, l.Close())
}

// TestEveryFlip damages each byte in turn: what is before the line is there, and
// so is what is behind it.
func TestEveryFlip(t *testing.T) {
	dir := t.TempDir()
	log, cuts := logOfThree(t)
	for n := range log {
		for _, mask := range []byte{0x01, 0xff, log[n] ^ '\n', log[n]} {
			if mask == 0 {
				continue
			}
			bad := bytes.Clone(log)
			bad[n] ^= mask
			s, _ := plant(t, dir, bad)
			_ = readErr(s.Read("s1", 1))
			l, err := openSame(s)
			if n < cuts[0] {
				if !headError(err) {
					t.Fatalf("byte %d, mask %02x: %v", n, mask, err)
				}
				continue
			}
			no(t, err)
			var want []uint64
			for seq := 1; seq < len(cuts); seq++ {
				// A newline that is gone takes the next line along.
				if n >= cuts[seq-1] && n < cuts[seq] || n == cuts[seq-1]-1 {
					continue
				}
				want = append(want, uint64(seq))
			}
			if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, want) {
				t.Fatalf("byte %d, mask %02x: %v, want %v", n, mask, got, want)
			}
			goesOn(t, s, l, want)
		}
	}
}

func TestTornTails(t *testing.T) {
	dir := t.TempDir()
	log, _ := logOfThree(t)
	again, _ := appendLines(nil, 0, []Record{numbered(1)}, time.Now)
	for name, tail := range map[string]string{
		"zeros":             strings.Repeat("\x00", 5000),
		"a megabyte":        strings.Repeat("\x00", 1<<20),
		"garbage":           "\xff\xfe garbage",
		"garbage lines":     "a\nb\n\nc\n",
		"newline":           "\n",
		"a wrong sum":       `00000000 {"n":5,"t":1,"k":"a"}` + "\n",
		"a line of another": string(appendHead(nil)),
		"an old record":     string(again),
	} {
		t.Run(name, func(t *testing.T) {
			s, said := plant(t, dir, append(bytes.Clone(log), tail...))
			l := must(openSame(s))(t)
			if l.Info().Bytes != int64(len(log)) {
				t.Errorf("%d bytes, want %d", l.Info().Bytes, len(log))
			}
			if !strings.Contains(said.String(), fmt.Sprintf("bytes=%d", len(tail))) {
				t.Errorf("said %q", said)
			}
			if info := must(os.Stat(filepath.Join(l.Info().Folder, logFile)))(t); info.Size() != int64(len(log)) {
				t.Errorf("the file has %d bytes", info.Size())
			}
			goesOn(t, s, l, []uint64{1, 2, 3, 4})
		})
	}
}

// TestDamagedTogether: records that were appended together and of which the
// last is damaged, not missing. The good ones stay, also the next time.
func TestDamagedTogether(t *testing.T) {
	log, err := appendLines(appendHead(nil), 0, []Record{numbered(1), numbered(2), numbered(3)}, time.Now)
	no(t, err)
	log[len(log)-4] ^= 1
	s, _ := plant(t, t.TempDir(), log)
	for range 3 {
		l := must(openSame(s))(t)
		if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, []uint64{1, 2}) {
			t.Fatal(got)
		}
		no(t, l.Close())
	}
	l := must(openSame(s))(t)
	goesOn(t, s, l, []uint64{1, 2})
}

// TestDamagedAndTorn: of records that belong together the last is damaged or
// gone, and those behind them are torn. What is good is there each time.
func TestDamagedAndTorn(t *testing.T) {
	for _, gone := range []bool{false, true} {
		log := appendHead(nil)
		for last := range uint64(3) {
			var err error
			log, err = appendLines(log, 2*last, []Record{numbered(1), numbered(2)}, time.Now)
			no(t, err)
		}
		lines := bytes.SplitAfter(log, []byte("\n")) // head, 1 to 6
		if gone {
			lines[4] = nil
		} else {
			lines[4][20] ^= 1
		}
		s, _ := plant(t, t.TempDir(), bytes.Join(lines[:6], nil))
		for range 3 {
			l := must(openSame(s))(t)
			if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, []uint64{1, 2, 3, 5}) {
				t.Fatal(got)
			}
			no(t, l.Close())
		}
	}
}

func TestDamagedMiddle(t *testing.T) {
	log := appendHead(nil)
	line := func(seq uint64) []byte {
		b, err := appendLines(nil, seq-1, []Record{numbered(int(seq))}, time.Now)
		no(t, err)
		return b
	}
	for _, part := range [][]byte{
		line(1), []byte("garbage\n"), make([]byte, 100), []byte("\n"), line(2), line(2), line(1), line(5), line(3), line(6), line(1 << 61),
		seal([]byte(blankSum+`{"n":9223372036854775808,"t":1,"k":"a"}`), 0), // too large
		seal([]byte(blankSum+`{"n":0,"t":1,"k":"a"}`), 0),
		seal([]byte(blankSum+`[]`), 0),
		line(1<<61 + 1),
	} {
		log = append(log, part...)
	}
	s, said := plant(t, t.TempDir(), log)
	want := []uint64{1, 2, 5, 6, 1 << 61, 1<<61 + 1}
	if got := seqs(collect(t, s.Read("s1", 0))); !cmp.Equal(got, want) {
		t.Errorf("not held: %v", got)
	}
	// Two lines of garbage; two repeats, which stand for the gap before 5; 3; a gap; three bad ones.
	const line1 = "session=s1 lines=9\n"
	if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), line1) {
		t.Errorf("said %q", said)
	}
	said.Reset()
	l := must(openSame(s))(t)
	if got := seqs(collect(t, l.Read(5))); !cmp.Equal(got, want[2:]) {
		t.Errorf("from 5: %v", got)
	}
	if i := l.Info(); i.Records != 6 || i.Bytes != int64(len(log)) {
		t.Errorf("%+v", i)
	}
	if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), line1) {
		t.Errorf("said %q", said)
	}
	goesOn(t, s, l, want)
}

// TestDamagedWhileHeld: what goes bad after Open is skipped and told, too.
func TestDamagedWhileHeld(t *testing.T) {
	log, cuts := logOfThree(t)
	s, said := plant(t, t.TempDir(), log)
	l := must(openSame(s))(t)
	f := must(os.OpenFile(filepath.Join(l.Info().Folder, logFile), os.O_WRONLY, 0))(t)
	must(f.WriteAt([]byte("#"), int64(cuts[1]+20)))(t)
	no(t, f.Close())
	if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, []uint64{1, 3, 4}) {
		t.Error(got)
	}
	if !strings.Contains(said.String(), "session=s1 lines=1\n") {
		t.Errorf("said %q", said)
	}
	no(t, l.Close())
}

func TestHeads(t *testing.T) {
	sealed := func(body string) string { return string(seal([]byte(blankSum+body), 0)) }
	for name, c := range map[string]struct {
		log  string
		want error
	}{
		"newer":            {sealed(`{"format":"reasonix-acp-session","version":2,"more":[1]}`), &FormatError{2, 1}},
		"another program":  {sealed(`{"format":"other","version":1}`), &FormatError{0, 1}},
		"no version":       {sealed(`{"format":"reasonix-acp-session"}`), &FormatError{0, 1}},
		"version 0":        {sealed(`{"format":"reasonix-acp-session","version":0}`), &FormatError{0, 1}},
		"no object":        {sealed(`7`), &FormatError{0, 1}},
		"text":             {"hello\nworld\n", &FormatError{0, 1}},
		"json lines":       {`{"type":"user"}` + "\n", &FormatError{0, 1}},
		"empty":            {"", &DamagedError{"its first line is not whole"}},
		"zeros":            {strings.Repeat("\x00", 4096), &DamagedError{"its first line is not whole"}},
		"no newline":       {strings.TrimSpace(string(appendHead(nil))), &DamagedError{"its first line is not whole"}},
		"a record instead": {strings.Replace(string(appendHead(nil)), "format", "formal", 1), &DamagedError{"its first line is not whole"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, said := plant(t, dir, []byte(c.log))
			_, err := openSame(s)
			if d := cmp.Diff(c.want, err); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.want, readErr(s.Read("s1", 1))); d != "" {
				t.Error(d)
			}
			if got := must(os.ReadFile(filepath.Join(dir, "sessions", "s1", logFile)))(t); string(got) != c.log {
				t.Error("the log was changed")
			}
			_, err = openSame(s) // still not ErrHeld
			if d := cmp.Diff(c.want, err); d != "" {
				t.Error(d)
			}
			if list := must(s.List())(t); len(list) != 0 || strings.Count(said.String(), "session=s1") != 1 {
				t.Errorf("list %v, said %q", list, said)
			}
			no(t, s.Delete("s1"))
			if exists(filepath.Join(dir, "sessions", "s1")) {
				t.Error("it cannot be deleted")
			}
		})
	}
}

// TestAnyDamage: whatever is done to a log, opening it does not crash, gives only
// records that were in it, in order, and the same ones the next time.
func TestAnyDamage(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		log := appendHead(nil)
		var last uint64
		var original []Record
		for range rapid.IntRange(0, 6).Draw(r, "appends") {
			var recs []Record
			for range rapid.IntRange(1, 4).Draw(r, "together") {
				recs = append(recs, drawRecord(r))
			}
			log, _ = appendLines(log, last, recs, time.Now)
			last += uint64(len(recs))
			original = append(original, recs...)
		}
		for range rapid.IntRange(0, 4).Draw(r, "damages") {
			log = damage(r, log)
		}
		s, _ := plant(t, dir, log)
		unheld, unheldErr := gather(s.Read("s1", 1))
		l, err := openSame(s)
		if err != nil {
			if !headError(err) || !headError(unheldErr) {
				r.Fatal(err)
			}
			return
		}
		first, err := gather(l.Read(1))
		if err != nil || unheldErr != nil || !cmp.Equal(first, unheld) {
			r.Fatalf("held %v %v, not held %v %v", first, err, unheld, unheldErr)
		}
		var before uint64
		for _, rec := range first {
			if rec.Seq <= before || rec.Seq > last || rec.Kind != original[rec.Seq-1].Kind || !bytes.Equal(rec.Data, original[rec.Seq-1].Data) {
				r.Fatalf("record %d: %v", rec.Seq, rec)
			}
			before = rec.Seq
		}
		info := l.Info()
		if err := l.Close(); err != nil || info.Records != uint64(len(first)) {
			r.Fatal(err, info)
		}
		if l, err = openSame(s); err != nil {
			r.Fatal(err)
		}
		defer l.Close()
		second, err := gather(l.Read(1))
		if err != nil || !cmp.Equal(first, second) || l.Info() != info {
			r.Fatalf("first %v, then %v %v; %+v, then %+v", first, second, err, info, l.Info())
		}
		if err := l.Append(numbered(1)); err != nil {
			r.Fatal(err)
		}
		if third, err := gather(l.Read(before + 1)); err != nil || len(third) != 1 || third[0].Seq != before+1 {
			r.Fatalf("after an append: %v %v", third, err)
		}
	})
}

// damage changes a log in one of the ways of disks and people.
func damage(r *rapid.T, log []byte) []byte {
	at := func(name string) int { return rapid.IntRange(0, len(log)).Draw(r, name) }
	log = bytes.Clone(log)
	switch rapid.IntRange(0, 5).Draw(r, "damage") {
	case 0: // cut
		return log[:at("length")]
	case 1: // flip
		if i := at("flip"); i < len(log) {
			log[i] ^= rapid.ByteRange(1, 255).Draw(r, "mask")
		}
		return log
	case 2: // zeros
		i, j := at("from"), at("to")
		clear(log[min(i, j):max(i, j)])
		return log
	case 3: // a part twice
		i, j := at("from"), at("to")
		part := bytes.Clone(log[min(i, j):max(i, j)])
		return append(log, part...)
	case 4: // a part gone
		i, j := at("from"), at("to")
		return append(log[:min(i, j)], log[max(i, j):]...)
	default: // garbage
		return append(log, rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(r, "garbage")...)
	}
}

func gather(seq func(func(Record, error) bool)) (out []Record, err error) {
	for r, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}
