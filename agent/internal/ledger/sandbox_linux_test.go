//go:build linux && bubblewrap

package ledger

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// insideDir is set in a test that runs in bubblewrap: the folder that is special.
const insideDir = "LEDGER_TEST_INSIDE"

// inBubblewrap runs the calling test again in bubblewrap, with mounts, where dir
// is what they change; there it returns that folder. Outside it returns "" when
// the inner test has passed. Without bubblewrap the test fails: a file system
// that is full or read-only is nothing to take on trust.
func inBubblewrap(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if inside := os.Getenv(insideDir); inside != "" {
		return inside
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal("bubblewrap is needed for this test: install it (apt-get install bubblewrap)")
	}
	if out, err := exec.Command(bwrap, "--bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Fatalf("bubblewrap cannot run here, and this test needs it (user namespaces may be forbidden): %v\n%s", err, out)
	}
	args = append([]string{"--bind", "/", "/", "--dev", "/dev"}, args...)
	args = append(args, "--die-with-parent", "--", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd := exec.Command(bwrap, args...)
	cmd.Env = append(os.Environ(), insideDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in bubblewrap: %v\n%s", err, out)
	}
	return ""
}

// TestDiskFull fills a real file system.
func TestDiskFull(t *testing.T) {
	outer := ""
	if os.Getenv(insideDir) == "" {
		outer = t.TempDir()
	}
	dir := inBubblewrap(t, outer, "--size", "262144", "--tmpfs", outer)
	if dir == "" {
		return
	}
	s := Files(filepath.Join(dir, "acp"), options())
	l := must(s.Create("s1", rec("meta", `{"title":"T"}`), rec("prompt", "")))(t)
	filler := filepath.Join(dir, "filler")
	no(t, os.WriteFile(filler, make([]byte, 100_000), 0o600))
	recs := []Record{rec("long", `"`+strings.Repeat("x", 5000)+`"`), rec("long", `"`+strings.Repeat("y", 5000)+`"`)}
	var want uint64 = 2
	var err error
	for err == nil {
		if err = l.Append(recs...); err == nil {
			want += 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || want < 10 {
		t.Fatalf("after %d records: %v", want, err)
	}
	intact := func(how string) {
		t.Helper()
		if got := collect(t, s.Read("s1", 1)); uint64(len(got)) != want {
			t.Fatalf("%s: %d records, want %d", how, len(got), want)
		}
		info := must(os.Stat(filepath.Join(dir, "acp/sessions/s1/log")))(t)
		if info.Size() != l.Info().Bytes {
			t.Fatalf("%s: %d bytes in the file, want %d", how, info.Size(), l.Info().Bytes)
		}
	}
	intact("full")
	for range 3 {
		if err := l.Append(recs...); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	intact("still full")
	no(t, l.Sync())

	// Not a byte is left for a new session or the list.
	for err = nil; err == nil; {
		if err = l.Append(numbered(1)); err == nil {
			want++
		}
	}
	if _, err := s.Create("s2", recs...); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("create: %v", err)
	}
	noTrace(t, dir, "s2", deleted)
	got := must(s.List())(t)
	if len(got) != 1 || got[0].Title != "T" || got[0].Records != want {
		t.Fatalf("list: %+v", got)
	}
	no(t, l.Close())
	l = must(s.Open("s1", nil))(t)
	intact("opened while full")

	// Room again.
	no(t, os.Remove(filler))
	no(t, l.Append(recs...))
	want += 2
	intact("room again")
	no(t, must(s.Create("s2", recs...))(t).Close())
	no(t, l.Close())
	l = must(s.Open("s1", nil))(t)
	intact("reopened")
	no(t, l.Append(recs...))
	no(t, l.Close())

	// A session can be deleted while the disk is full.
	_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600)
	no(t, s.Delete("s1"))
	no(t, os.Remove(filler))
	noTrace(t, dir, `"s1"`, deleted)
}

// TestReadOnly: a store on a file system that cannot be written lists and reads.
func TestReadOnly(t *testing.T) {
	outer := ""
	if os.Getenv(insideDir) == "" {
		outer = t.TempDir()
		prepareReadOnly(t, filepath.Join(outer, "warm"), true)
		prepareReadOnly(t, filepath.Join(outer, "cold"), false)
	}
	dir := inBubblewrap(t, outer, "--ro-bind", outer, outer)
	if dir == "" {
		return
	}
	for _, kind := range []string{"warm", "cold"} {
		s, _ := countingStore(filepath.Join(dir, kind), start.Add(365*24*60*60*1e9))
		for range 2 {
			// c is old and stays: it cannot be pruned.
			var ids []string
			for _, e := range list(t, s) {
				ids = append(ids, e.ID+e.Title)
			}
			if d := cmp.Diff([]string{`aé "a"`, `bé "b"`, `cé "c"`}, ids); d != "" {
				t.Errorf("%s: %s", kind, d)
			}
		}
		if got := collect(t, s.Read("a", 1)); len(got) != 2 {
			t.Errorf("%v", got)
		}
		var held *HeldError
		for what, err := range map[string]error{
			"open":   second(s.Open("a", nil)),
			"create": second(s.Create("new")),
			"delete": s.Delete("a"),
		} {
			if !errors.Is(err, syscall.EROFS) || errors.As(err, &held) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func second(_ Ledger, err error) error { return err }

func prepareReadOnly(t *testing.T, dir string, index bool) {
	three(t, dir)
	if index {
		s, _ := countingStore(dir, start)
		list(t, s)
	}
	no(t, os.MkdirAll(filepath.Join(dir, "sessions", deleted+"x"), 0o700))
}

// TestUnreadable: what the system does not let us read is its error, and no
// reason for the list to fail. Root may read all, so this runs as nobody special.
func TestUnreadable(t *testing.T) {
	outer := ""
	if os.Getenv(insideDir) == "" {
		outer = t.TempDir()
		three(t, outer)
		no(t, os.Chmod(filepath.Join(outer, "sessions", "b", "log"), 0))
	}
	dir := inBubblewrap(t, outer, "--unshare-user", "--uid", "1000", "--cap-drop", "ALL")
	if dir == "" {
		return
	}
	s, _ := countingStore(dir, start)
	for range 2 {
		if got := list(t, s); len(got) != 2 || got[0].ID != "a" || got[1].ID != "c" {
			t.Errorf("%v", got)
		}
	}
	if _, err := s.Open("b", nil); !errors.Is(err, syscall.EACCES) {
		t.Errorf("open: %v", err)
	}
	if err := readErr(s.Read("b", 1)); !errors.Is(err, syscall.EACCES) {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Open("b", nil); !errors.Is(err, syscall.EACCES) { // it is not held
		t.Errorf("open: %v", err)
	}
	no(t, s.Delete("b"))
}
