package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is also the second process: childMode says what it does in
// childDir.
const (
	childMode = "LEDGER_TEST_CHILD"
	childDir  = "LEDGER_TEST_DIR"
)

func TestMain(m *testing.M) {
	mode, dir := os.Getenv(childMode), os.Getenv(childDir)
	if run := children[mode]; run != nil {
		if err := run(dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(dir string) error{
	"hold":   childHold,
	"append": childAppend,
	"churn":  childChurn,
	"create": childCreate,
}

// childHold opens the session until its input ends.
func childHold(dir string) error {
	l, err := Files(dir, options()).Open("s1", nil)
	if err != nil {
		return err
	}
	fmt.Println("held", os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return l.Close()
}

// childAppend appends without an end and reports each Append that returned.
func childAppend(dir string) error {
	l, err := Files(dir, options()).Open("s1", nil)
	if err != nil {
		return err
	}
	next := int(l.Info().Records)
	for i := 0; ; i++ {
		recs := make([]Record, 1+i%3)
		for j := range recs {
			recs[j] = rec("note", fmt.Sprintf(`{"i":%d,"first":%d,"n":%d,"x":%q}`, next+j, next, len(recs), strings.Repeat("x", i*i%30_000)))
		}
		if err := l.Append(recs...); err != nil {
			return err
		}
		next += len(recs)
		fmt.Println(next)
	}
}

// childChurn creates and deletes without an end and reports both.
func childChurn(dir string) error {
	s := Files(dir, options())
	for i := 0; ; i++ {
		id := fmt.Sprintf("c%d-%d", os.Getpid(), i)
		l, err := s.Create(id, rec("meta", fmt.Sprintf(`{"title":"title of %s"}`, id)), rec("prompt", ""))
		if err != nil {
			return err
		}
		fmt.Println("created", id)
		if i%4 == 0 {
			if _, err := s.List(); err != nil {
				return err
			}
		}
		if i%3 == 0 {
			if err := l.Close(); err != nil {
				return err
			}
			continue
		}
		fmt.Println("deleting", id)
		if err := l.Delete(); err != nil {
			return err
		}
		fmt.Println("deleted", id)
	}
}

// childCreate tries to create the sessions 0 to 49 and reports those it got.
func childCreate(dir string) error {
	s := Files(dir, options())
	_, _ = io.Copy(io.Discard, os.Stdin) // all begin together
	for i := range 50 {
		l, err := s.Create(strconv.Itoa(i), numbered(os.Getpid()))
		if errors.Is(err, ErrExists) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println("created", i)
		defer l.Close()
	}
	return nil
}

type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startChild(t *testing.T, mode, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir)
	c.cmd.Stderr = os.Stderr
	c.in = must(c.cmd.StdinPipe())(t)
	c.out = bufio.NewScanner(must(c.cmd.StdoutPipe())(t))
	no(t, c.cmd.Start())
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatal("the child said nothing")
	}
	return c.out.Text()
}

// rest reads what is left after a kill or the end.
func (c *child) rest(t *testing.T) (lines []string) {
	for c.out.Scan() {
		if strings.HasPrefix(c.out.Text(), "error:") {
			t.Fatal(c.out.Text())
		}
		lines = append(lines, c.out.Text())
	}
	_ = c.cmd.Wait()
	return lines
}

func TestHeldByProcess(t *testing.T) {
	dir := t.TempDir()
	s := Files(dir, options())
	no(t, must(s.Create("s1", numbered(0), rec("prompt", "")))(t).Close())
	for _, end := range []string{"close", "kill"} {
		c := startChild(t, "hold", dir)
		pid := strings.TrimPrefix(c.line(t), "held ")
		var held *HeldError
		if _, err := s.Open("s1", nil); !errors.As(err, &held) || !strings.Contains(held.Holder, "(pid "+pid+")") || !strings.Contains(held.Holder, filepath.Base(os.Args[0])) {
			t.Errorf("open: %v", err)
		}
		if err := s.Delete("s1"); !errors.As(err, &held) {
			t.Errorf("delete: %v", err)
		}
		if got := collect(t, s.Read("s1", 1)); len(got) != 2 {
			t.Errorf("read: %v", got)
		}
		if list := must(s.List())(t); len(list) != 1 {
			t.Errorf("list: %v", list)
		}
		if end == "kill" {
			no(t, c.cmd.Process.Kill())
		} else {
			no(t, c.in.Close())
		}
		c.rest(t)
		no(t, must(s.Open("s1", nil))(t).Close())
	}
	no(t, s.Delete("s1"))
}

// TestKillWhileAppending kills the holder at many moments. What it reported as
// appended is there, and what was appended together is there together.
func TestKillWhileAppending(t *testing.T) {
	dir := t.TempDir()
	s := Files(dir, options())
	no(t, must(s.Create("s1"))(t).Close())
	reported := 0
	for range 40 {
		c := startChild(t, "append", dir)
		c.line(t)
		kill := time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { _ = c.cmd.Process.Kill() })
		for _, line := range c.rest(t) {
			reported = must(strconv.Atoi(line))(t)
		}
		kill.Stop()
		l := must(s.Open("s1", nil))(t)
		n := 0
		for r, err := range l.Read(1) {
			no(t, err)
			var i, first, size int
			if _, err := fmt.Sscanf(string(r.Data), `{"i":%d,"first":%d,"n":%d,`, &i, &first, &size); err != nil || i != n || r.Seq != uint64(n+1) {
				t.Fatalf("record %d, want %d: %v %.60s", r.Seq, n+1, err, r.Data)
			}
			if n++; uint64(n) == l.Info().Records && i != first+size-1 {
				t.Errorf("the last append is there in part: record %d of %d", i-first+1, size)
			}
		}
		if n < reported {
			t.Fatalf("%d records, and %d were reported", n, reported)
		}
		if n > 20_000 {
			break // enough to read each time
		}
		no(t, l.Close())
	}
	if reported < 100 {
		t.Errorf("only %d records were appended", reported)
	}
}

// TestKillWhileDeleting kills a process that creates and deletes. What it created
// is there, what it deleted has left no trace after the next List.
func TestKillWhileDeleting(t *testing.T) {
	dir := t.TempDir()
	s := Files(dir, options())
	for range 25 {
		c := startChild(t, "churn", dir)
		lines := []string{c.line(t)}
		kill := time.AfterFunc(time.Duration(rand.IntN(40_000))*time.Microsecond, func() { _ = c.cmd.Process.Kill() })
		lines = append(lines, c.rest(t)...)
		kill.Stop()
		state := map[string]string{}
		for _, line := range lines {
			what, id, _ := strings.Cut(line, " ")
			state[id] = what
		}
		listed := map[string]bool{}
		for _, l := range must(s.List())(t) {
			listed[l.ID] = true
			if l.Title != "title of "+l.ID {
				t.Errorf("%+v", l)
			}
		}
		for id, what := range state {
			switch what {
			case "created":
				if !listed[id] {
					t.Errorf("%s was created and is not listed", id)
				}
				no(t, must(s.Open(id, nil))(t).Close())
			case "deleted":
				noTrace(t, dir, id+`"`, id+string(filepath.Separator)) // "c1-1" is in "c1-10"
			}
		}
		noTrace(t, dir, deleted)
	}
	if n := len(must(s.List())(t)); n < 10 {
		t.Errorf("only %d sessions", n)
	}
}

// TestCreateRace: several processes create the same sessions; each is made once.
func TestCreateRace(t *testing.T) {
	dir := t.TempDir()
	var cs []*child
	for range 4 {
		cs = append(cs, startChild(t, "create", dir))
	}
	for _, c := range cs {
		no(t, c.in.Close())
	}
	made := map[string]int{}
	for _, c := range cs {
		for _, line := range c.rest(t) {
			made[line]++
		}
	}
	for i := range 50 {
		if n := made["created "+strconv.Itoa(i)]; n != 1 {
			t.Errorf("session %d was made %d times", i, n)
		}
	}
	if list := must(Files(dir, options()).List())(t); len(list) != 50 {
		t.Errorf("%d sessions", len(list))
	}
}
