package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := Files(dir, options())
	l := must(s.Create("s1", numbered(0)))(t)
	for i := range 10 {
		no(t, l.Append(numbered(i), numbered(i+100)))
	}
	want, info := collect(t, l.Read(1)), l.Info()
	no(t, l.Close())

	l = must(Files(dir, options()).Open("s1", nil))(t)
	if d := cmp.Diff(want, collect(t, l.Read(1))); d != "" {
		t.Error(d)
	}
	if l.Info() != info {
		t.Errorf("info was %+v and is %+v", info, l.Info())
	}
	no(t, l.Append(numbered(11)))
	if got := collect(t, l.Read(22)); len(got) != 1 || got[0].Seq != 22 {
		t.Errorf("%v", got)
	}
	no(t, l.Close())
}

func TestNothingTouched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "acp")
	s := Files(dir, options())
	_, _ = s.List()
	_, _ = s.Open("s1", nil)
	_ = readErr(s.Read("s1", 1))
	no(t, s.Delete("s1"))
	_, _ = s.Create("..")
	if exists(filepath.Dir(dir)) {
		t.Error("something was created")
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "acp")
	s := Files(dir, options())
	defer must(s.Create("s1", numbered(0)))(t).Close()
	must(s.List())(t)
	n := 0
	no(t, filepath.WalkDir(filepath.Dir(dir), func(path string, d os.DirEntry, err error) error {
		no(t, err)
		info := must(d.Info())(t)
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		n++
		return nil
	}))
	if n != 9 { // home acp sessions s1, log lock holder, index index.lock
		t.Errorf("%d files and folders", n)
	}
}

func TestHeldInProcess(t *testing.T) {
	dir := t.TempDir()
	o := options()
	o.Owner = "editor one"
	s := Files(dir, o)
	l := must(s.Create("s1", numbered(0)))(t)
	_, err := Files(dir, options()).Open("s1", nil)
	var held *HeldError
	if !errors.As(err, &held) || held.Holder != "editor one" {
		t.Errorf("open: %v", err)
	}
	if err := s.Delete("s1"); !errors.As(err, &held) {
		t.Errorf("delete: %v", err)
	}
	if err.Error() != "the session is open in editor one; close it there" {
		t.Error(err)
	}
	no(t, os.WriteFile(filepath.Join(dir, "sessions", "s1", "holder"), []byte("{"), 0o600))
	if _, err := s.Open("s1", nil); !errors.As(err, &held) || held.Holder != "another process" {
		t.Errorf("holder damaged: %v", err)
	}
	no(t, l.Close())
	if exists(filepath.Join(dir, "sessions", "s1", "holder")) {
		t.Error("a holder without a lock")
	}
	no(t, must(s.Open("s1", nil))(t).Close())
}

func TestDeleteLeavesNothing(t *testing.T) {
	for _, how := range []string{"held", "not held"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			s := Files(dir, options())
			secret := `{"cwd":"/w","title":"very-secret-title"}`
			no(t, must(s.Create("other", rec("meta", `{}`)))(t).Close())
			l := must(s.Create("doomed", rec("meta", secret), rec("prompt", "")))(t)
			must(s.List())(t)
			if how == "held" {
				no(t, l.Delete())
				no(t, l.Delete())
				no(t, l.Close())
				if err := l.Append(numbered(1)); err != ErrClosed {
					t.Error(err)
				}
				if err := l.Sync(); err != nil && err != ErrClosed {
					t.Error(err)
				}
			} else {
				no(t, l.Close())
				no(t, s.Delete("doomed"))
				no(t, s.Delete("doomed"))
			}
			noTrace(t, dir, "secret", "doomed", ".deleted-")
			if list := must(s.List())(t); len(list) != 1 || list[0].ID != "other" {
				t.Errorf("%v", list)
			}
			if _, err := s.Open("doomed", nil); err != ErrUnknown {
				t.Errorf("open: %v", err)
			}
			no(t, must(s.Create("doomed"))(t).Close())
		})
	}
}

// noTrace looks for words in all names and files below dir.
func noTrace(t *testing.T, dir string, words ...string) {
	t.Helper()
	no(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		no(t, err)
		text := strings.TrimPrefix(path, dir)
		if !d.IsDir() {
			text += string(must(os.ReadFile(path))(t))
		}
		for _, w := range words {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q is still there", path, w)
			}
		}
		return nil
	}))
}

func TestLinksAreNotOurs(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	s := Files(dir, options())
	no(t, must(s.Create("s1", numbered(0)))(t).Close())
	no(t, os.Rename(filepath.Join(dir, "sessions", "s1"), filepath.Join(outside, "s1")))
	no(t, os.Symlink(filepath.Join(outside, "s1"), filepath.Join(dir, "sessions", "s1")))
	no(t, must(s.Create("s2", numbered(0)))(t).Close())
	no(t, os.Remove(filepath.Join(dir, "sessions", "s2", "log")))
	no(t, os.Symlink(filepath.Join(outside, "s1", "log"), filepath.Join(dir, "sessions", "s2", "log")))
	for _, id := range []string{"s1", "s2"} {
		if _, err := s.Open(id, nil); err != ErrUnknown {
			t.Errorf("open %s: %v", id, err)
		}
		if err := readErr(s.Read(id, 1)); err != ErrUnknown {
			t.Errorf("read %s: %v", id, err)
		}
		if _, err := s.Create(id); err != ErrExists {
			t.Errorf("create %s: %v", id, err)
		}
	}
	no(t, s.Delete("s1"))
	if list := must(s.List())(t); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if !exists(filepath.Join(outside, "s1", "log")) {
		t.Error("a file outside is gone")
	}
}

// TestOneOwner: several create, open and delete one session. It never has two
// owners, also not while its folder goes and comes.
func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	var owners, got atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			s := Files(dir, options())
			for got.Load() < 100 { // not so many times: a busy machine may let one go on alone
				take := func() (Ledger, error) { return s.Open("s1", nil) }
				if w == 0 {
					take = func() (Ledger, error) { return s.Create("s1") }
				}
				l, err := take()
				if err != nil {
					var held *HeldError
					if err != ErrUnknown && err != ErrExists && !errors.As(err, &held) {
						t.Error(err)
					}
					continue
				}
				got.Add(1)
				if owners.Add(1) > 1 {
					t.Error("two owners")
				}
				runtime.Gosched()
				owners.Add(-1)
				end := l.Delete
				if w%2 == 1 {
					end = l.Close
				}
				if err := end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestMadeOnce: several create the same sessions and close them at once. The
// second one to come finds a session, held or not.
func TestMadeOnce(t *testing.T) {
	dir := t.TempDir()
	const n = 100
	var made [n]atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s := Files(dir, options())
			for i := range n {
				l, err := s.Create(fmt.Sprint("s", i), numbered(i))
				if err == nil {
					made[i].Add(1)
					err = l.Close()
				}
				if err != nil && !errors.Is(err, ErrExists) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range made {
		if made[i].Load() != 1 {
			t.Errorf("session %d was made %d times", i, made[i].Load())
		}
	}
}
