package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// cut, and a power cut in the middle leaves all or nothing.
func TestCreateIsDurable(t *testing.T) {
	d := newModelDisk(t)
	s := d.store()
	steps := 0
	d.step = func(op string) {
		steps++
		after := d.powerCut(t)
		l, err := after.Open("s1", nil)
		if err == nil {
			if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, []uint64{1, 2}) {
				t.Errorf("power cut after %q: %v", op, got)
			}
			l.Close()
		} else if err != ErrUnknown {
			t.Errorf("power cut after %q: %v", op, err)
		}
		if _, err := after.List(); err != nil {
			t.Errorf("power cut after %q: list: %v", op, err)
		}
	}
	l := must(s.Create("s1", numbered(1), numbered(2)))(t)
	d.step = nil
	if steps < 8 {
		t.Errorf("only %d steps: %v", steps, d.did)
	}
	after := must(d.powerCut(t).Open("s1", nil))(t)
	if got := seqs(collect(t, after.Read(1))); !cmp.Equal(got, []uint64{1, 2}) {
		t.Errorf("after the power cut: %v", got)
	}
	no(t, after.Close())

	// The second one, whose store is there already.
	must(s.Create("s2", numbered(1)))(t)
	no(t, must(d.powerCut(t).Open("s2", nil))(t).Close())

	// Sync is on the disk, too, and what was not synced is what the model loses.
	no(t, l.Append(numbered(3)))
	if got := seqs(collect(t, d.powerCut(t).Read("s1", 1))); !cmp.Equal(got, []uint64{1, 2}) {
		t.Errorf("without Sync: %v", got)
	}
	no(t, l.Sync())
	no(t, l.Append(numbered(4)))
	if got := seqs(collect(t, d.powerCut(t).Read("s1", 1))); !cmp.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("after Sync: %v", got)
	}
	no(t, l.Close())
	if got := seqs(collect(t, d.powerCut(t).Read("s1", 1))); !cmp.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("after Close: %v", got)
	}
	no(t, s.Delete("s1"))
	if _, err := d.powerCut(t).Open("s1", nil); err != ErrUnknown {
		t.Errorf("after Delete: %v", err)
	}
}

// TestOpenedIsSynced: what a killed holder appended and did not sync, Open finds
// in the memory of the system; the first Sync puts it on the disk.
func TestOpenedIsSynced(t *testing.T) {
	d := newModelDisk(t)
	l := must(d.store().Create("s1"))(t).(*fileLedger)
	no(t, l.Append(numbered(1)))
	no(t, l.f.Close()) // as a kill does
	no(t, l.lock.Unlock())
	l2 := must(d.store().Open("s1", nil))(t)
	no(t, l2.Sync())
	if got := seqs(collect(t, d.powerCut(t).Read("s1", 1))); !cmp.Equal(got, []uint64{1}) {
		t.Errorf("%v", got)
	}
	no(t, l2.Close())
}

func count(did []string, prefix string) (n int) {
	for _, op := range did {
		if strings.HasPrefix(op, prefix) {
			n++
		}
	}
	return n
}

func TestSyncIsCheap(t *testing.T) {
	d := newModelDisk(t)
	l := must(d.store().Create("s1", numbered(1)))(t)
	d.did = nil
	for range 3 {
		no(t, l.Sync())
	}
	if len(d.did) != 0 {
		t.Errorf("nothing was appended: %v", d.did)
	}
	no(t, l.Append(numbered(2), numbered(3)))
	no(t, l.Append(numbered(4)))
	for range 3 {
		no(t, l.Sync())
	}
	if d := cmp.Diff([]string{"write home/acp/sessions/s1/log", "write home/acp/sessions/s1/log", "sync home/acp/sessions/s1/log"}, d.did); d != "" {
		t.Error(d)
	}
	no(t, l.Close())
}

// blockingFile lets each Sync wait until it is told how it ends.
type blockingFile struct {
	file
	began chan struct{}
	end   chan error
}

func (f *blockingFile) Sync() error {
	f.began <- struct{}{}
	return <-f.end
}

// TestSyncsShare: those that come while an fsync runs share the next one.
func TestSyncsShare(t *testing.T) {
	d := newModelDisk(t)
	synctest.Test(t, func(t *testing.T) {
		l := must(d.store().Create("s1"))(t).(*fileLedger)
		real := l.f
		f := &blockingFile{real, make(chan struct{}), make(chan error)}
		l.f = f
		errs := make(chan error)
		one := func() {
			err := l.Append(numbered(1))
			if err == nil {
				err = l.Sync()
			}
			errs <- err
		}
		go one()
		<-f.began
		for range 50 {
			go one()
		}
		synctest.Wait() // all have appended and wait
		if n := l.Info().Records; n != 51 {
			t.Fatalf("%d appended", n)
		}
		f.end <- nil
		no(t, <-errs)
		synctest.Wait()
		select {
		case err := <-errs:
			t.Fatalf("synced by an fsync that began before: %v", err)
		default:
		}
		<-f.began
		f.end <- nil
		for range 50 {
			no(t, <-errs)
		}
		l.f = real
		no(t, l.Close())
	})
}

// TestSyncFails: all who wait get the error, and so does everybody later.
func TestSyncFails(t *testing.T) {
	d := newModelDisk(t)
	synctest.Test(t, func(t *testing.T) {
		s := d.store()
		l := must(s.Create("s1"))(t).(*fileLedger)
		f := &blockingFile{l.f, make(chan struct{}), make(chan error)}
		l.f = f
		no(t, l.Append(numbered(1)))
		errs := make(chan error)
		for range 10 {
			go func() { errs <- l.Sync() }()
		}
		<-f.began
		synctest.Wait()
		f.end <- syscall.EIO
		for range 10 {
			if err := <-errs; !errors.Is(err, syscall.EIO) {
				t.Errorf("one who waited: %v", err)
			}
		}
		for range 2 {
			if err := l.Sync(); !errors.Is(err, syscall.EIO) {
				t.Errorf("later: %v", err)
			}
		}
		for range 2 {
			if err := l.Close(); !errors.Is(err, syscall.EIO) {
				t.Errorf("close: %v", err)
			}
		}
		no(t, must(s.Open("s1", nil))(t).Close()) // it was given up nevertheless
	})
}

// TestCreateFails at each of its steps: nothing is left, and the next one works.
func TestCreateFails(t *testing.T) {
	d := newModelDisk(t)
	must(d.store().Create("first"))(t)
	d.did = nil
	must(d.store().Create("second", numbered(1)))(t)
	steps := len(d.did)
	failed := 0
	for n := range steps {
		d := newModelDisk(t)
		s := d.store()
		no(t, must(s.Create("first"))(t).Close())
		i := -1
		d.fault = func(op string) error {
			if i++; i == n {
				return fmt.Errorf("%s: %w", op, syscall.ENOSPC)
			}
			return nil
		}
		l, err := s.Create("second", numbered(1))
		d.fault = nil
		if err == nil { // the holder file may fail
			no(t, l.Close())
			continue
		}
		failed++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("step %d: %v", n, err)
		}
		if _, err := s.Open("second", nil); err != ErrUnknown {
			t.Errorf("step %d: open: %v", n, err)
		}
		noTrace(t, d.path, "second", ".deleted-")
		no(t, must(s.Create("second", numbered(1)))(t).Close())
	}
	if failed < 5 {
		t.Errorf("only %d of %d steps failed", failed, steps)
	}
}

// TestAppendFails in the middle of a write: the part that was written is taken
// back, at once or as soon as that works, and nothing is lost.
func TestAppendFails(t *testing.T) {
	for _, part := range []int{0, 1, 50, 1 << 20} {
		for _, cut := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d bytes written, cut back %v", part, cut), func(t *testing.T) {
				d := newModelDisk(t)
				s := d.store()
				l := must(s.Create("s1", numbered(1)))(t)
				no(t, l.Append(numbered(2)))
				before := l.Info()
				path := filepath.Join(before.Folder, logFile)
				d.write = func(b []byte) int { return min(part, len(b)) }
				d.fault = func(op string) error {
					if strings.HasPrefix(op, "write ") || !cut && strings.HasPrefix(op, "truncate ") {
						return syscall.ENOSPC
					}
					return nil
				}
				for range 3 {
					if err := l.Append(numbered(3), numbered(4)); !errors.Is(err, syscall.ENOSPC) {
						t.Fatalf("append: %v", err)
					}
					if l.Info() != before {
						t.Fatalf("from %+v to %+v", before, l.Info())
					}
					if got := seqs(collect(t, l.Read(1))); len(got) != 2 {
						t.Fatal(got)
					}
					if info := must(os.Stat(path))(t); cut && info.Size() != before.Bytes {
						t.Fatalf("%d bytes in the file, want %d", info.Size(), before.Bytes)
					}
				}
				d.fault = nil
				no(t, l.Append(numbered(3)))
				no(t, l.Sync())
				no(t, l.Close())
				if info := must(os.Stat(path))(t); info.Size() != l.Info().Bytes {
					t.Errorf("%d bytes in the file, want %d", info.Size(), l.Info().Bytes)
				}
				l = must(s.Open("s1", nil))(t)
				if got := seqs(collect(t, l.Read(1))); !cmp.Equal(got, []uint64{1, 2, 3}) {
					t.Error(got)
				}
				no(t, l.Close())
			})
		}
	}
}

// TestOneWrite: what is appended together is one system call.
func TestOneWrite(t *testing.T) {
	d := newModelDisk(t)
	l := must(d.store().Create("s1"))(t)
	d.did = nil
	recs := make([]Record, 1000)
	for i := range recs {
		recs[i] = rec("long", `"`+strings.Repeat("x", 1000)+`"`)
	}
	no(t, l.Append(recs...))
	if len(d.did) != 1 || count(d.did, "write ") != 1 {
		t.Errorf("%v", d.did)
	}
	no(t, l.Close())
}

// TestDeleteInterrupted: a delete that ends after any of its steps is either not
// begun or ended by the next List or Create, without a trace.
func TestDeleteInterrupted(t *testing.T) {
	for _, next := range []string{"list", "create"} {
		for n := 0; ; n++ {
			d := newModelDisk(t)
			s := d.store()
			no(t, must(s.Create("kept", rec("meta", `{"title":"kept"}`)))(t).Close())
			no(t, must(s.Create("doomed", rec("meta", `{"title":"secret"}`), rec("prompt", "")))(t).Close())
			must(s.List())(t)
			d.did = nil
			i := -1
			// From step n on nothing works any more, as if the process were gone.
			d.fault = func(op string) error {
				if i++; i >= n {
					return syscall.EIO
				}
				return nil
			}
			err := s.Delete("doomed")
			finished := i < n
			if finished != (err == nil) {
				t.Errorf("step %d of %v: %v", n, d.did, err)
			}
			d.fault = nil

			s = d.store()
			renamed := !exists(s.folder("doomed"))
			if l, err := s.Open("doomed", nil); err == nil && !renamed {
				no(t, l.Close())
			} else if err != ErrUnknown || !renamed {
				t.Errorf("step %d: renamed %v, open: %v", n, renamed, err)
			}
			if next == "list" {
				list := must(s.List())(t)
				if want := map[bool]int{true: 1, false: 2}[renamed]; len(list) != want {
					t.Errorf("step %d: %v", n, list)
				}
			} else {
				no(t, must(s.Create("other"))(t).Close())
			}
			if renamed {
				noTrace(t, d.path, "secret", "doomed", ".deleted-")
			}
			if finished {
				if n < 3 {
					t.Errorf("a delete of %d steps", n)
				}
				break
			}
		}
	}
}

// TestRepairIsSynced: what is cut off is off the disk before Open returns.
func TestRepairIsSynced(t *testing.T) {
	d := newModelDisk(t)
	s := d.store()
	l := must(s.Create("s1", numbered(1)))(t)
	path := filepath.Join(l.Info().Folder, logFile)
	no(t, l.Close())
	whole := must(os.ReadFile(path))(t)
	no(t, os.WriteFile(path, append(whole, "torn"...), 0o600))
	d.did = nil
	l = must(s.Open("s1", nil))(t)
	cut := slices.Index(d.did, "truncate home/acp/sessions/s1/log")
	if cut < 0 || !slices.Contains(d.did[cut:], "sync home/acp/sessions/s1/log") {
		t.Errorf("%v", d.did)
	}
	no(t, l.Close())
}
