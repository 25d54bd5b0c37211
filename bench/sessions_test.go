package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/agent"
)

// The agent's sessions beside what the system alone takes for the same: reading
// and writing the same bytes, looking at the same files.
const (
	loadEvents   = 100_000
	listSessions = 10_000
	openSessions = 1_000
)

// keeper is the agent on a store, and the plain-bytes host in front of it.
type keeper struct {
	home, work string
	*driver
	end func()
}

func keep(b *testing.B, home, work string) *keeper {
	b.Helper()
	fromDriver, toAgent := pipe(b)
	fromAgent, toDriver := pipe(b)
	done := make(chan error, 1)
	go func() {
		a := agent.New(agent.Config{Home: home, Model: "scripted/case", Getenv: func(string) string { return "" }})
		done <- a.Serve(context.Background(), fromDriver, toDriver)
	}()
	return &keeper{home, work, &driver{w: toAgent, r: bufio.NewReaderSize(fromAgent, 64<<10)}, func() {
		toAgent.Close()
		if err := <-done; err != nil {
			b.Error(err)
		}
		for _, f := range []*os.File{fromDriver, fromAgent, toDriver} {
			f.Close()
		}
	}}
}

// ask sends a request and returns its answer; seen gets each line before it.
func (k *keeper) ask(b *testing.B, method, params string, seen func([]byte)) []byte {
	b.Helper()
	k.send(b, fmt.Sprintf(`,"method":%q,"params":{%s}}`, method, params))
	for {
		line, err := k.r.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if !bytes.Contains(line[:min(len(line), 40)], []byte(`"method"`)) {
			answered(b, line)
			return line
		}
		if seen != nil {
			seen(line)
		}
	}
}

func (k *keeper) create(b *testing.B) (id string) {
	b.Helper()
	var m struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal(k.ask(b, "session/new", fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, k.work), nil), &m); err != nil {
		b.Fatal(err)
	}
	return m.Result.SessionID
}

func (k *keeper) session(b *testing.B, id, method, params string, seen func([]byte)) []byte {
	b.Helper()
	return k.ask(b, method, fmt.Sprintf(`"sessionId":%q%s`, id, params), seen)
}

// home is a folder where the model gives this reply, piece by piece.
func home(b *testing.B, reply string) string {
	b.Helper()
	dir := b.TempDir()
	for name, text := range map[string]string{
		"config.toml": "[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = \"model.jsonl\"\n[agent]\ncoalesce = false\n",
		"model.jsonl": reply + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// played is a home with one closed session, and its id.
func played(b *testing.B, reply string) (dir, work, id string) {
	b.Helper()
	dir, work = home(b, reply), b.TempDir()
	k := keep(b, dir, work)
	defer k.end()
	id = k.create(b)
	k.session(b, id, "session/prompt", `,"prompt":[{"type":"text","text":"go"}]`, nil)
	k.session(b, id, "session/close", "", nil)
	// Opening it again is not to be about a large script.
	if err := os.WriteFile(filepath.Join(dir, "model.jsonl"), []byte(`{"text":"words"}`+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir, work, id
}

// A stored session is opened and all of it shown. plain reads the log line by
// line and writes the very bytes that ours writes.
func BenchmarkLoad(b *testing.B) {
	for _, events := range []int{loadEvents / 10, loadEvents} {
		dir, work, id := played(b, fmt.Sprintf(`{"text":%q,"chunks":%d}`, strings.Repeat(piece, events), events))
		load := func(b *testing.B, k *keeper, seen func([]byte)) {
			k.session(b, id, "session/load", fmt.Sprintf(`,"cwd":%q,"mcpServers":[]`, work), seen)
			k.session(b, id, "session/close", "", nil)
		}
		b.Run(fmt.Sprintf("%d/ours", events), func(b *testing.B) {
			k := keep(b, dir, work)
			defer k.end()
			stop := peak(b)
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				load(b, k, nil)
			}
			b.ReportMetric(float64(events), "items")
			stop()
		})
		b.Run(fmt.Sprintf("%d/plain", events), func(b *testing.B) {
			path := filepath.Join(dir, "acp", "sessions", id, "log")
			var replay bytes.Buffer // not there while ours runs: it would count
			k := keep(b, dir, work)
			load(b, k, func(line []byte) { replay.Write(line) })
			k.end()
			if n := bytes.Count(replay.Bytes(), []byte{'\n'}); n < events {
				b.Fatalf("%d of %d events are shown", n, events)
			}
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				copyLog(b, path, replay.Bytes())
			}
			b.ReportMetric(float64(events), "items")
		})
	}
}

func copyLog(b *testing.B, path string, out []byte) {
	r, w := pipe(b)
	var writing sync.WaitGroup
	writing.Go(func() {
		defer w.Close()
		f, err := os.Open(path)
		if err != nil {
			b.Error(err)
			return
		}
		defer f.Close()
		for lines := bufio.NewReaderSize(f, 64<<10); err == nil; {
			_, err = lines.ReadSlice('\n')
		}
		for len(out) > 0 && errors.Is(err, io.EOF) {
			n := min(len(out), 64<<10)
			if _, werr := w.Write(out[:n]); werr != nil {
				b.Error(werr)
				return
			}
			out = out[n:]
		}
	})
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		if _, err := lines.ReadSlice('\n'); err != nil {
			break
		}
	}
	writing.Wait()
	r.Close()
}

// peak reports the most heap that was in use, above what there was. Garbage that
// is not collected yet counts.
func peak(b *testing.B) (stop func()) {
	heap := func() uint64 { // ReadMemStats would stop the world, a fifth of the time
		m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(m)
		return m[0].Value.Uint64()
	}
	runtime.GC()
	before := heap()
	var most atomic.Uint64
	end := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			most.Store(max(most.Load(), heap()))
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() {
		close(end)
		watching.Wait()
		b.ReportMetric(float64(most.Load()-min(before, most.Load()))/(1<<20), "peak-MiB")
	}
}

// The first page of 10,000 sessions, with the index and without it. plain looks
// at each log's size and time.
func BenchmarkList(b *testing.B) {
	dir, work, id := played(b, `{"text":"words"}`)
	sessions := filepath.Join(dir, "acp", "sessions")
	log, err := os.ReadFile(filepath.Join(sessions, id, "log"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range listSessions - 1 {
		folder := filepath.Join(sessions, fmt.Sprintf("copy-%d", i))
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "log"), log, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	list := func(b *testing.B, k *keeper) {
		if line := k.ask(b, "session/list", "", nil); bytes.Count(line, []byte(`"sessionId"`)) != 50 || !bytes.Contains(line, []byte(`"nextCursor"`)) {
			b.Fatalf("not a page: %s", line)
		}
	}
	for _, c := range []struct {
		name string
		cold bool
	}{{"indexed", false}, {"cold", true}} {
		b.Run(c.name+"/ours", func(b *testing.B) {
			k := keep(b, dir, work)
			defer k.end()
			list(b, k)
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				if c.cold {
					if err := os.Remove(filepath.Join(dir, "acp", "index")); err != nil {
						b.Fatal(err)
					}
				}
				list(b, k)
			}
		})
		b.Run(c.name+"/plain", func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				entries, err := os.ReadDir(sessions)
				if err != nil || len(entries) != listSessions {
					b.Fatal(len(entries), err)
				}
				for _, e := range entries {
					path := sessions + "/" + e.Name() + "/log"
					if c.cold {
						_, err = os.ReadFile(path)
					} else {
						_, err = os.Lstat(path)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// session/new, which is on the disk when it is answered. plain makes a folder
// with one file and syncs the file and both folders.
func BenchmarkNew(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		k := keep(b, home(b, `{"text":"words"}`), b.TempDir())
		defer k.end()
		timed(b, func() { k.create(b) })
	})
	b.Run("plain", func(b *testing.B) {
		dir, n := b.TempDir(), 0
		timed(b, func() {
			n++
			folder := filepath.Join(dir, fmt.Sprint(n))
			if err := os.Mkdir(folder, 0o700); err != nil {
				b.Fatal(err)
			}
			f, err := os.Create(filepath.Join(folder, "log"))
			if err != nil {
				b.Fatal(err)
			}
			_, err = f.Write(make([]byte, 300))
			if err := errors.Join(err, f.Sync(), f.Close(), syncDir(folder), syncDir(dir)); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// What 1,000 open sessions keep, each of which has had a short turn: heap alone,
// and with stacks and what the runtime holds beside it. The aim is 100 KiB each.
func BenchmarkOpen(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		var heap, all float64
		for b.Loop() {
			k := keep(b, home(b, `{"text":"words"}`), b.TempDir())
			before := memory()
			for range openSessions {
				k.session(b, k.create(b), "session/prompt", `,"prompt":[{"type":"text","text":"go"}]`, nil)
			}
			after := memory()
			heap = float64(int64(after.HeapAlloc) - int64(before.HeapAlloc))
			all = float64(int64(after.Sys-after.HeapReleased) - int64(before.Sys-before.HeapReleased))
			k.end()
		}
		b.ReportMetric(openSessions, "items")
		b.ReportMetric(heap/openSessions/1024, "heap-KiB")
		b.ReportMetric(all/openSessions/1024, "all-KiB")
	})
}

func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}
