package ledger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// countingStore counts how many records are folded.
func countingStore(dir string, now time.Time) (*files, *atomic.Int64) {
	var n atomic.Int64
	o := options()
	o.Fold = func(s *Summary, r Record) {
		n.Add(1)
		foldForTest(s, r)
	}
	o.Now = func() time.Time { return now }
	return Files(dir, o).(*files), &n
}

func list(t *testing.T, s Store) []Summary {
	t.Helper()
	out := must(s.List())(t)
	slices.SortFunc(out, func(a, b Summary) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// three makes the sessions a, b and c, of which c was never prompted.
func three(t *testing.T, dir string) []Summary {
	t.Helper()
	s, _ := countingStore(dir, start)
	var want []Summary
	for _, id := range []string{"a", "b", "c"} {
		l := must(s.Create(id, rec("meta", fmt.Sprintf(`{"cwd":"/w/%s","title":"\u00e9 \"%s\""}`, id, id))))(t)
		if id != "c" {
			no(t, l.Append(Record{Kind: "prompt", Time: start.Add(time.Hour)}))
		}
		info := l.Info()
		no(t, l.Close())
		w := Summary{ID: id, CWD: "/w/" + id, Title: `é "` + id + `"`, Created: start, Updated: start, Records: info.Records, Bytes: info.Bytes}
		if id != "c" {
			w.Prompted, w.Updated = true, start.Add(time.Hour)
		}
		want = append(want, w)
	}
	return want
}

func TestListWarm(t *testing.T) {
	dir := t.TempDir()
	want := three(t, dir)
	s, folded := countingStore(dir, start)
	for i, most := range []int64{5, 0, 0} {
		if d := cmp.Diff(want, list(t, s)); d != "" {
			t.Error(d)
		}
		if n := folded.Swap(0); n != most {
			t.Errorf("list %d folded %d records, want %d", i, n, most)
		}
	}
	// Only what has changed is folded.
	l := must(s.Open("b", nil))(t)
	no(t, l.Append(rec("meta", `{"title":"new"}`)))
	got := list(t, s)
	if got[1].Title != "new" || got[1].Records != 3 || folded.Swap(0) != 3 {
		t.Errorf("%+v", got[1])
	}
	no(t, l.Close())
	list(t, s)
	if n := folded.Load(); n != 0 {
		t.Errorf("the change was not written: %d folded", n)
	}
}

// TestListWithBrokenIndex: the index is a cache and may be anything.
func TestListWithBrokenIndex(t *testing.T) {
	dir := t.TempDir()
	want := three(t, dir)
	s, folded := countingStore(dir, start)
	list(t, s)
	path := filepath.Join(dir, "index")
	good := must(os.ReadFile(path))(t)
	try := func(name string, index []byte) {
		t.Helper()
		no(t, os.WriteFile(path, index, 0o600))
		folded.Store(0)
		if d := cmp.Diff(want, list(t, s)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if n := folded.Swap(0); n != 5 {
			t.Errorf("%s: %d folded", name, n)
		}
		if d := cmp.Diff(want, list(t, s)); d != "" || folded.Load() != 0 {
			t.Errorf("%s: not mended: %d folded, %s", name, folded.Load(), d)
		}
	}
	for i := range good {
		if i == len(good)-1 {
			continue // the newline means nothing
		}
		bad := bytes.Clone(good)
		bad[i] ^= 1
		try(fmt.Sprintf("byte %d", i), bad)
	}
	for n := 0; n < len(good)-1; n += 7 {
		try(fmt.Sprintf("%d bytes", n), good[:n])
	}
	try("zeros", make([]byte, len(good)))
	try("another program's", []byte(`{"sessions":[]}`))
	sealed := func(body string) []byte { return seal([]byte(blankSum+body), 0) }
	try("newer", sealed(`{"format":"reasonix-acp-index","version":2,"sessions":[]}`))
	try("other", sealed(`{"format":"x","version":1,"sessions":[]}`))
	try("empty", sealed(`{}`))
	try("no list", sealed(`{"format":"reasonix-acp-index","version":1,"sessions":{}}`))
	no(t, os.Remove(path))
	if d := cmp.Diff(want, list(t, s)); d != "" {
		t.Error(d)
	}
}

// TestListStale: an index that is older, or of another folder.
func TestListStale(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	s, _ := countingStore(dir, start)
	list(t, s)
	path := filepath.Join(dir, "index")
	old := must(os.ReadFile(path))(t)
	no(t, s.Delete("a"))
	l := must(s.Open("b", nil))(t)
	no(t, l.Append(rec("meta", `{"title":"newer"}`)))
	no(t, l.Close())
	no(t, must(s.Create("d", rec("meta", `{"title":"d"}`)))(t).Close())
	no(t, os.WriteFile(path, old, 0o600))
	var titles []string
	for _, e := range list(t, s) {
		titles = append(titles, e.ID+" "+e.Title)
	}
	if d := cmp.Diff([]string{"b newer", `c é "c"`, "d d"}, titles); d != "" {
		t.Error(d)
	}
	noTrace(t, dir, "/w/a")
	// As long as before, with another time: it was written anew.
	log := filepath.Join(dir, "sessions", "d", "log")
	text := must(os.ReadFile(log))(t)
	bad := bytes.Replace(text, []byte(`"title":"d"`), []byte(`"title":"e"`), 1)
	lines := bytes.SplitAfter(bad, []byte("\n"))
	no(t, os.WriteFile(log, append(lines[0], seal(bytes.TrimSpace(lines[1]), 0)...), 0o600))
	no(t, os.Chtimes(log, time.Time{}, time.Now().Add(time.Second)))
	if got := list(t, s); got[2].Title != "e" {
		t.Errorf("%+v", got[2])
	}
	// Longer, with the same time: a clock that stood still.
	was := must(os.Stat(log))(t).ModTime()
	l = must(s.Open("d", nil))(t)
	no(t, l.Append(rec("meta", `{"title":"f"}`)))
	no(t, l.Close())
	no(t, os.Chtimes(log, time.Time{}, was))
	if got := list(t, s); got[2].Title != "f" {
		t.Errorf("%+v", got[2])
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	later := start.Add(30*24*time.Hour + time.Hour)
	s, _ := countingStore(dir, start.Add(30*24*time.Hour-time.Hour))
	if n := len(list(t, s)); n != 3 {
		t.Fatalf("%d sessions after 29 days", n)
	}
	s, _ = countingStore(dir, later)
	l := must(s.Open("c", nil))(t)
	if n := len(list(t, s)); n != 3 {
		t.Fatalf("%d sessions, one of them held", n)
	}
	no(t, l.Close())
	for range 2 {
		if got := list(t, s); len(got) != 2 || got[0].ID != "a" || got[1].ID != "b" {
			t.Fatalf("%v", got)
		}
	}
	noTrace(t, dir, "/w/c", deleted)
	if _, err := s.Open("c", nil); err != ErrUnknown {
		t.Error(err)
	}
	// Without any record the time of the file counts.
	no(t, must(s.Create("d"))(t).Close())
	s.Now = time.Now
	if n := len(list(t, s)); n != 3 {
		t.Fatalf("%d sessions", n)
	}
	s.Now = func() time.Time { return time.Now().Add(unpromptedLife + time.Hour) }
	if n := len(list(t, s)); n != 2 {
		t.Fatalf("%d sessions", n)
	}
}

// TestPromptedWhilePruned: a session that was used after the list looked stays.
func TestPromptedWhilePruned(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	s, _ := countingStore(dir, start)
	c := must(s.summarize("c", filepath.Join(s.folder("c"), logFile)))(t)
	l := must(s.Open("c", nil))(t)
	no(t, l.Append(rec("prompt", "")))
	no(t, l.Close())
	if s.prune("c", &c) {
		t.Error("pruned")
	}
	no(t, must(s.Open("c", nil))(t).Close())
}

// TestUnfinished: the folder of a creator that was killed can be taken over, and
// goes by itself.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	s, _ := countingStore(dir, time.Now())
	for _, id := range []string{"x", "y"} {
		no(t, os.MkdirAll(s.folder(id), 0o700))
		no(t, os.WriteFile(filepath.Join(s.folder(id), newLog), []byte("half a li"), 0o600))
		if _, err := s.Open(id, nil); err != ErrUnknown {
			t.Error(err)
		}
	}
	list(t, s)
	if !exists(s.folder("x")) {
		t.Fatal("gone while its creator may be at it")
	}
	no(t, must(s.Create("y", rec("prompt", "")))(t).Close())
	s.Now = func() time.Time { return time.Now().Add(2 * unfinished) }
	held := must(tryLock(filepath.Join(s.folder("x"), lockFile)))(t)
	list(t, s)
	if !exists(s.folder("x")) {
		t.Fatal("gone while it was held")
	}
	no(t, held.Unlock())
	// Taking the lock may have made the file.
	s.Now = func() time.Time { return time.Now().Add(3 * unfinished) }
	if got := list(t, s); len(got) < 2 || exists(s.folder("x")) || !exists(s.folder("y")) {
		t.Errorf("%v", got)
	}
}

func TestListIgnoresOthers(t *testing.T) {
	dir := t.TempDir()
	want := three(t, dir)
	sessions := filepath.Join(dir, "sessions")
	no(t, os.WriteFile(filepath.Join(sessions, "file"), nil, 0o600))
	no(t, os.Mkdir(filepath.Join(sessions, ".git"), 0o700))
	no(t, os.MkdirAll(filepath.Join(sessions, "z", "log"), 0o700))
	no(t, os.CopyFS(filepath.Join(sessions, "a copy"), os.DirFS(filepath.Join(sessions, "a"))))
	s, _ := countingStore(dir, start)
	if d := cmp.Diff(want, list(t, s)); d != "" {
		t.Error(d)
	}
	if !exists(filepath.Join(sessions, ".git")) || !exists(filepath.Join(sessions, "file")) {
		t.Error("something of others is gone")
	}
}

// TestManyInOneSecond: ids, not times, tell sessions apart.
func TestManyInOneSecond(t *testing.T) {
	stores(t, func(t *testing.T, s Store) {
		switch s := s.(type) {
		case *files:
			s.Now = func() time.Time { return start }
		case *memory:
			s.Now = func() time.Time { return start }
		}
		ledgers := make([]Ledger, 120)
		var wg sync.WaitGroup
		for i := range ledgers {
			wg.Go(func() {
				l, err := s.Create("s"+strconv.Itoa(i), rec("meta", fmt.Sprintf(`{"title":"%d"}`, i)))
				if err != nil {
					t.Error(err)
					return
				}
				ledgers[i] = l
				if err := l.Append(numbered(i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got := list(t, s)
		if len(got) != 120 {
			t.Fatalf("%d sessions", len(got))
		}
		for _, e := range got {
			if "s"+e.Title != e.ID || !e.Created.Equal(start) || e.Records != 2 {
				t.Errorf("%+v", e)
			}
		}
		for _, l := range ledgers {
			no(t, l.Close())
		}
	})
}

// TestListWhileChurning: lists, creates and deletes from several stores at once.
// No list fails, and none brings a deleted session back into the index.
func TestListWhileChurning(t *testing.T) {
	dir := t.TempDir()
	want := three(t, dir)
	var wg, listing sync.WaitGroup
	done := make(chan struct{})
	for w := range 3 {
		wg.Go(func() {
			s, _ := countingStore(dir, start)
			for i := range 20 {
				id := fmt.Sprintf("gone-%d-%d", w, i)
				l, err := s.Create(id, rec("meta", `{"title":"gone"}`), rec("prompt", ""))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.List(); err != nil {
					t.Error(err)
				}
				if err := l.Delete(); err != nil {
					t.Error(err)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "index")); err == nil && bytes.Contains(text, []byte(`"`+id+`"`)) {
					t.Errorf("%s is in the index", id)
				}
			}
		})
		listing.Go(func() {
			s, _ := countingStore(dir, start)
			for {
				if got, err := s.List(); err != nil || len(got) < 3 {
					t.Errorf("%d sessions: %v", len(got), err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	wg.Wait()
	close(done)
	listing.Wait()
	s, _ := countingStore(dir, start)
	if d := cmp.Diff(want, list(t, s)); d != "" {
		t.Error(d)
	}
	noTrace(t, dir, "gone")
}

// TestLateIndex: a list that was made before a delete is written after it.
func TestLateIndex(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	s, _ := countingStore(dir, start)
	list(t, s)
	index, known := s.readIndex()
	if !known || len(index) != 3 {
		t.Fatal(index)
	}
	no(t, s.Delete("a"))
	s.writeIndex([]cached{index["a"], index["b"]})
	noTrace(t, dir, "/w/a")
	if index, known := s.readIndex(); !known || len(index) != 1 {
		t.Errorf("%v", index)
	}
	// One that cannot get the lock is not written, and a delete that cannot get it
	// leaves no index.
	lock := must(tryLock(filepath.Join(dir, indexLock)))(t)
	s.writeIndex(nil)
	if index, _ := s.readIndex(); len(index) != 1 {
		t.Errorf("%v", index)
	}
	no(t, s.Delete("b"))
	noTrace(t, dir, "/w/b")
	no(t, lock.Unlock())
}

// TestDeleteWithBrokenIndex: nothing stays in an index that cannot be read, and
// in one that a killed process was writing.
func TestDeleteWithBrokenIndex(t *testing.T) {
	dir := t.TempDir()
	three(t, dir)
	s, _ := countingStore(dir, start)
	list(t, s)
	path := filepath.Join(dir, indexFile)
	text := must(os.ReadFile(path))(t)
	no(t, os.WriteFile(path+".new", text[:len(text)/2], 0o600))
	no(t, s.Delete("a"))
	noTrace(t, dir, "/w/a")
	text = must(os.ReadFile(path))(t)
	no(t, os.WriteFile(path, text[:len(text)-5], 0o600))
	no(t, s.Delete("b"))
	noTrace(t, dir, "/w/b")
	s.writeIndex(nil)
	no(t, os.WriteFile(path+".new", []byte("/w/c"), 0o600))
	no(t, s.Delete("c")) // which the index does not know
	noTrace(t, dir, "/w/c")
}
