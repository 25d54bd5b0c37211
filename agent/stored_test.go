package agent_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

func storeOf(home string) ledger.Store {
	return ledger.Files(filepath.Join(home, "acp"), ledger.Options{Fold: session.Fold})
}

// keep stores a session of these events, a second apart, and gives it up. An event
// may also be a ledger.Record.
func keep(t *testing.T, store ledger.Store, id string, from time.Time, events ...any) {
	t.Helper()
	log, err := store.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		r, raw := e.(ledger.Record)
		if !raw {
			if r.Kind, r.Data, err = event.Encode(e.(event.Event)); err != nil {
				t.Fatal(err)
			}
		}
		from = from.Add(time.Second)
		r.Time = from
		if err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func opened(cwd string) event.Opened {
	return event.Opened{CWD: cwd, Axes: event.Axes{Model: "scripted/case", Mode: "normal", Preset: "workspace-write"}}
}

func shown(t *testing.T, home, id string) string {
	t.Helper()
	var b bytes.Buffer
	if err := agent.New(agent.Config{Home: home}).ShowStored(&b, id); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestShowStored: every kind of event, text in pieces, calls that failed or never
// ended, turns that never ended, and records that this version cannot show.
func TestShowStored(t *testing.T) {
	home := t.TempDir()
	old, many, plan := "a\r\nb\n", strings.Repeat("line\n", 60), "plan"
	keep(t, storeOf(home), "s1", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		opened("/w"),
		event.Prompt{Text: "Do\r\nit.\n", Submit: "what the model is told"},
		event.Thought{Text: "Let me"}, event.Thought{Text: " think.\nFirst"}, event.Thought{Text: " this.\n"},
		event.Text{Text: "I "}, event.Text{Text: "will.\n\n"},
		event.Usage{Usage: model.Usage{Input: 1}}, event.Answer{},
		event.Plan{Entries: []tool.PlanEntry{{Content: "one", Status: "completed"}, {Content: "two\nlines", Status: "in_progress"}, {Content: "three", Status: "pending"}}},
		event.ToolCall{ID: "c1", Tool: "write_file", Title: "Write a", Diffs: []tool.Diff{{Path: "/w/a", New: "proposed"}}}, event.Waiting{ID: "c1"},
		event.ToolEnd{ID: "c1", Text: "Wrote a.", Diffs: []tool.Diff{{Path: "/w/a", Old: &old, New: "a\nb\n"}, {Path: "/x/b", New: many}}},
		event.ToolCall{ID: "c2", Tool: "read_file", Title: "Read ``` all"}, event.ToolEnd{ID: "c2", Text: "```\n" + many},
		event.ToolCall{ID: "c3", Tool: "none"}, event.ToolEnd{ID: "c3", Failed: true, Text: "none: there is no tool of this name"},
		event.ToolCall{ID: "c4", Tool: "edit", Title: "Edit"},
		event.ToolEnd{ID: "c4", Failed: true, Text: strings.Repeat("why\n", 10), Diffs: []tool.Diff{{Path: "/w/d", New: "half\n"}}},
		event.ToolCall{ID: "c5", Tool: "shell", Title: "Run make"},
		event.Done{Outcome: event.Failed, Reason: "the model\nfailed"},
		event.Warning{Text: "stopped after 3 model rounds"},
		event.Set{Mode: &plan},
		event.Command{Input: "/status"}, event.Output{Text: "status:\n- idle\n"}, event.Done{Outcome: event.EndTurn},
		ledger.Record{Kind: "hologram", Data: json.RawMessage(`{"x":1}`)},
		ledger.Record{Kind: "warning", Data: json.RawMessage(`{"Text":5}`)},
		event.Prompt{Text: "More"}, event.Text{Text: "half an ans"}, event.ToolCall{ID: "c6", Tool: "shell", Title: "Run it"},
		event.Prompt{Text: "And?"}, event.Text{Text: "So"},
	)
	want := strings.ReplaceAll(`# Session s1

- Folder: /w
- Started: 2026-03-01T12:00:01Z
- Model: scripted/case, mode: normal, permissions: workspace-write

## User, 2026-03-01T12:00:02Z

Do
it.

> **Thought:** Let me think.
> First this.

I will.

**Plan**

- [x] one
- [ ] two lines (in progress)
- [ ] three

**Write a** (write_file): completed

'''diff
--- a
+++ a
@@ -1,2 +1,2 @@
-a`+"\uFFFD"+`
+a
 b
'''

'''diff
--- /dev/null
+++ /x/b
@@ -0,0 +1,60 @@
`+strings.Repeat("+line\n", 37)+`… 23 more lines
'''

**Read ''' all** (read_file): completed

''''
'''
`+strings.Repeat("line\n", 9)+`… 51 more lines
''''

**Tool call** (none): failed

'''
none: there is no tool of this name
'''

**Edit** (edit): failed

'''diff
--- /dev/null
+++ d
@@ -0,0 +1 @@
+half
'''

'''
`+strings.Repeat("why\n", 10)+`'''

**Run make** (shell): not ended

*Turn ended: failed: the model failed*

**Warning:** stopped after 3 model rounds

*Mode: plan*

## User, 2026-03-01T12:00:24Z

/status

'''
status:
- idle
'''

*Turn ended: end_turn*

**Record 28 cannot be read:** a record of kind "warning": json: cannot unmarshal number into Go struct field Warning.Text of type string

## User, 2026-03-01T12:00:29Z

More

half an ans

**Run it** (shell): not ended

*Turn not ended*

## User, 2026-03-01T12:00:32Z

And?

So

*Turn not ended*

*Records of kinds that this version does not know: 1; 'reasonix sessions export' has them*
`, "'", "`")
	if diff := cmp.Diff(want, shown(t, home, "s1")); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
}

// TestStoredIsHarmless: whatever is stored, no character that steers a terminal
// comes out, and the JSON lines still mean what is stored.
func TestStoredIsHarmless(t *testing.T) {
	home := t.TempDir()
	evil := "\x1b[31mred\x07\u009b2J\x7f\u0085\tü…\U0001F600"
	keep(t, storeOf(home), "s1", time.Now(), opened("/w/"+evil), event.Prompt{Text: evil}, event.Thought{Text: evil}, event.Text{Text: evil},
		event.Plan{Entries: []tool.PlanEntry{{Content: evil, Status: evil}}}, event.Set{Model: &evil},
		event.ToolCall{ID: evil, Tool: evil, Title: evil}, event.ToolEnd{ID: evil, Text: evil, Diffs: []tool.Diff{{Path: "/" + evil, New: evil}}},
		event.ToolCall{ID: "2", Tool: evil, Title: evil}, event.ToolEnd{ID: "2", Text: evil},
		event.Warning{Text: evil}, event.Output{Text: evil}, event.Done{Outcome: event.Outcome(evil), Reason: evil})
	var lines bytes.Buffer
	if err := agent.New(agent.Config{Home: home}).ExportStored(&lines, "s1"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"markdown": shown(t, home, "s1"), "jsonl": lines.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%s has a control character: %q", name, text[max(0, i-40):i+2])
		}
		if !strings.Contains(text, "ü…\U0001F600") {
			t.Errorf("%s has lost what is harmless:\n%s", name, text)
		}
	}
	dec := json.NewDecoder(&lines)
	for r, err := range storeOf(home).Read("s1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Seq  uint64
			Time time.Time
			Kind string
			Data any
		}
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(r.Data, &want); err != nil {
			t.Fatal(err)
		}
		if got.Seq != r.Seq || !got.Time.Equal(r.Time) || got.Kind != r.Kind || !cmp.Equal(want, got.Data) {
			t.Errorf("record %d came out as %+v, want %+v %v", r.Seq, got, r, want)
		}
	}
	if dec.More() {
		t.Error("more lines than records")
	}
}

// TestPrintable: JSON that no terminal obeys stays as it is, byte for byte.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"ü…\u001b"}`:     `{"a":"ü…\u001b"}`,
		"\"\x7f\u0080\u009f\"": `"\u007f\u0080\u009f"`,
		"\"\u00a0\xff\"":       "\"\u00a0" + `\ufffd"`,
		"\"\xc2":               `"\ufffd`,
		"\"\uFFFD\"":           "\"\uFFFD\"",
		"":                     "",
	} {
		if got := string(agent.Printable([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestFindStored: an id is found before ids that begin so, and what the list
// leaves out, damaged or never prompted, is found and can be deleted.
func TestFindStored(t *testing.T) {
	home := t.TempDir()
	store, now := storeOf(home), time.Now()
	for i, id := range []string{"ab1", "ab2", "abc", "abcd"} {
		keep(t, store, id, now.Add(time.Duration(i)*time.Minute), opened("/w"), event.Prompt{Text: "hello " + id})
	}
	keep(t, store, "quiet", now, opened("/w"))
	for i := range 9 {
		keep(t, store, fmt.Sprint("many", i), now, opened("/other"), event.Prompt{Text: "x"})
	}
	if err := os.WriteFile(filepath.Join(home, "acp/sessions/abcd/log"), []byte("00000000 {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Config{Home: home})
	for id, want := range map[string]string{"ab1": "ab1", "ab2": "ab2", "abc": "abc", "qu": "quiet", "abcd": "abcd", "many3": "many3"} {
		if got, err := a.FindStored(id); err != nil || got != want {
			t.Errorf("%q found %q, %v; want %q", id, got, err, want)
		}
	}
	for id, want := range map[string]string{
		"":      "empty",
		"ab":    `"ab" begins more than one session: ab1, ab2, abc`,
		"many":  "many0, many1, many2, many3, many4 and 4 more",
		"nope":  `there is no session "nope"`,
		"../ab": `there is no session "../ab"`,
	} {
		if got, err := a.FindStored(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", id, got, err, want)
		}
	}
	var ids []string
	list, err := a.Stored("/w")
	for _, s := range list {
		ids = append(ids, s.ID+" "+s.Title)
	}
	if want := []string{"abc hello abc", "ab2 hello ab2", "ab1 hello ab1"}; err != nil || !cmp.Equal(want, ids) {
		t.Errorf("listed %q, %v; want %q", ids, err, want)
	}
	var damaged *ledger.DamagedError
	if err := a.ShowStored(io.Discard, "abcd"); !errors.As(err, &damaged) {
		t.Errorf("the transcript of a damaged session: %v", err)
	}
	if err := a.DeleteStored("abcd"); err != nil {
		t.Errorf("a damaged session cannot be deleted: %v", err)
	}
	if got, err := a.FindStored("abcd"); err == nil {
		t.Errorf("%s is still there", got)
	}
}

// TestStoredIsFlat: what is written of a big session needs no more memory than
// what is written of a small one.
func TestStoredIsFlat(t *testing.T) {
	home := t.TempDir()
	log, err := storeOf(home).Create("s1")
	if err != nil {
		t.Fatal(err)
	}
	var recs []ledger.Record
	for _, e := range []event.Event{event.Prompt{Text: "again"}, event.Thought{Text: strings.Repeat("t", 300)}, event.Text{Text: strings.Repeat("x", 300)},
		event.ToolCall{ID: "c", Tool: "read_file", Title: "Read it"}, event.ToolEnd{ID: "c", Text: strings.Repeat("y\n", 300)}, event.Done{Outcome: event.EndTurn}} {
		kind, data, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, ledger.Record{Kind: kind, Data: data})
	}
	for range 10_000 {
		if err := log.Append(recs...); err != nil {
			t.Fatal(err)
		}
	}
	size := log.Info().Bytes
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Config{Home: home})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, write := range map[string]func(io.Writer, string) error{"export": a.ExportStored, "show": a.ShowStored} {
		before := heap()
		w := &sampler{sample: func(written int) {
			if now := heap(); now > before+2<<20 {
				t.Errorf("%s: %d KiB more after %d KiB of a session of %d KiB", name, (now-before)>>10, written>>10, size>>10)
			}
		}}
		if err := write(w, "s1"); err != nil || w.samples < 3 {
			t.Errorf("%s: %v after %d samples", name, err, w.samples)
		}
	}
}

// sampler calls sample once in a while.
type sampler struct {
	sample           func(written int)
	written, samples int
}

func (s *sampler) Write(p []byte) (int, error) {
	s.written += len(p)
	if s.written/(2<<20) > s.samples {
		s.samples++
		s.sample(s.written)
	}
	return len(p), nil
}

// TestStoredFailedWrite: what cannot be written is an error, wherever it happens,
// nothing is written behind it, and nothing spins.
func TestStoredFailedWrite(t *testing.T) {
	home := t.TempDir()
	diff := tool.Diff{Path: "/w/a", New: "x\n"}
	keep(t, storeOf(home), "s1", time.Now(), opened("/w"), event.Prompt{Text: "x"}, event.Text{Text: "words"}, event.ToolCall{ID: "c"},
		event.ToolEnd{ID: "c", Failed: true, Text: "x", Diffs: []tool.Diff{diff, diff}}, event.Done{Outcome: event.EndTurn})
	a := agent.New(agent.Config{Home: home})
	for name, write := range map[string]func(io.Writer, string) error{"export": a.ExportStored, "show": a.ShowStored} {
		writes := 0
		for left := 0; ; left++ {
			w := &brokenWriter{left: left}
			err := write(w, "s1")
			if err == nil {
				writes = left
				break
			}
			if !errors.Is(err, errFull) || w.failed != 1 {
				t.Fatalf("%s: %v after %d writes, and %d more", name, err, left, w.failed-1)
			}
		}
		if writes < 5 {
			t.Errorf("%s: done after %d writes", name, writes)
		}
		if err := write(bufio.NewWriterSize(&brokenWriter{}, 16), "s1"); !errors.Is(err, errFull) {
			t.Errorf("%s through a buffer: %v", name, err)
		}
	}
}

var errFull = errors.New("the disk is full")

// brokenWriter fails when nothing is left.
type brokenWriter struct{ left, failed int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		w.failed++
		return 0, errFull
	}
	return len(p), nil
}
