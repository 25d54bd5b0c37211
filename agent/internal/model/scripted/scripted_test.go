package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func read(t *testing.T, lines ...string) *Script {
	t.Helper()
	s, err := Read("case", strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play makes one call and collects what it streams.
func play(ctx context.Context, m model.Model) (deltas []model.Delta, res model.Result, err error) {
	res, err = m.Stream(ctx, &model.Request{}, func(d model.Delta) error {
		deltas = append(deltas, d)
		return nil
	})
	return deltas, res, err
}

func TestReplies(t *testing.T) {
	tests := []struct {
		line   string
		deltas []model.Delta
		result model.Result
		err    error
	}{
		{line: `{}`, result: model.Result{Finish: "stop"}},
		{line: `{"text":""}`, result: model.Result{Finish: "stop"}},
		{line: `{"text":"hi","finish":"content_filter"}`, deltas: []model.Delta{{Text: "hi"}}, result: model.Result{Finish: "content_filter"}},
		{line: `{"finish":"eos"}`, result: model.Result{Finish: "eos"}},
		{
			line:   `{"think":"abc","text":"äöüß","chunks":2}`,
			deltas: []model.Delta{{Thought: "a"}, {Thought: "bc"}, {Text: "äö"}, {Text: "üß"}},
			result: model.Result{Finish: "stop"},
		},
		{line: `{"text":"ab","chunks":0}`, deltas: []model.Delta{{Text: "ab"}}, result: model.Result{Finish: "stop"}},
		{line: `{"text":"ab","chunks":4294967295}`, deltas: []model.Delta{{Text: "a"}, {Text: "b"}}, result: model.Result{Finish: "stop"}},
		{
			line: `{"tools":[{"id":"x","name":"f","args":{"a": 1}},{"name":"g"},{"name":"h","args":"{\"a\":"},{"name":"i","args":null},{"name":"j","args":""}]}`,
			result: model.Result{Finish: "tool_calls", Calls: []model.Call{
				{ID: "x", Name: "f", Args: json.RawMessage(`{"a": 1}`)},
				{Name: "g", Args: json.RawMessage(`{}`)},
				{Name: "h", Args: json.RawMessage(`{"a":`)},
				{Name: "i", Args: json.RawMessage(`null`)},
				{Name: "j", Args: json.RawMessage(``)},
			}},
		},
		{line: `{"tools":[{"name":"f"}],"finish":"length"}`, result: model.Result{Finish: "length", Calls: []model.Call{{Name: "f", Args: json.RawMessage(`{}`)}}}},
		{
			line:   `{"usage":{"input":4,"output":3,"cached":2,"reasoning":1}}`,
			result: model.Result{Finish: "stop", Usage: &model.Usage{Input: 4, Output: 3, Cached: 2, Reasoning: 1}},
		},
		{
			line: `{"status":429,"body":"wait","headers":{"Retry-After":"1"}}`,
			err:  &model.Error{Status: 429, Body: "wait", Headers: map[string]string{"Retry-After": "1"}},
		},
		{line: `{"status":503}`, err: &model.Error{Status: 503}},
		{line: `{"text":"half","tools":[{"name":"f"}],"cut":true}`, deltas: []model.Delta{{Text: "half"}}, err: &model.Error{Cut: true}},
	}
	for _, test := range tests {
		deltas, result, err := play(t.Context(), read(t, test.line).New())
		if d := cmp.Diff(test.deltas, deltas); d != "" {
			t.Errorf("%s: deltas (-want +got):\n%s", test.line, d)
		}
		if d := cmp.Diff(test.result, result); d != "" {
			t.Errorf("%s: result (-want +got):\n%s", test.line, d)
		}
		if d := cmp.Diff(test.err, err); d != "" {
			t.Errorf("%s: error (-want +got):\n%s", test.line, d)
		}
	}
}

func TestOrderAndEnd(t *testing.T) {
	s := read(t, `{"text":"one"}`, ``, "  \r", `{"status":500}`, `{"text":"two"}`, ``)
	first, second := s.New(), s.New()
	for n, want := range []string{"one", "", "two"} {
		deltas, _, err := play(t.Context(), first)
		if want == "" && err == nil || want != "" && (err != nil || !slices.Equal(deltas, []model.Delta{{Text: want}})) {
			t.Errorf("call %d: %v, %v", n+1, deltas, err)
		}
	}
	for _, want := range []string{"script case has no reply left for model call 4", "script case has no reply left for model call 5"} {
		if _, _, err := play(t.Context(), first); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if deltas, _, err := play(t.Context(), second); err != nil || len(deltas) != 1 || deltas[0].Text != "one" {
		t.Errorf("the second session starts with %v, %v", deltas, err)
	}
}

func TestBadScripts(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":}`:                        "",
		`[]`:                               "an object",
		`{"text":5}`:                       "/text",
		`{"text":null}`:                    "/text",
		`{"text":"a","text":"b"}`:          "text",
		`{"chunks":-1}`:                    "/chunks",
		`{"tools":[{"args":{}}]}`:          "/tools/0",
		`{"txet":"a"}`:                     `unknown member "txet"`,
		`{"Text":"a"}`:                     `unknown member "Text"`,
		`{"stopReason":"end_turn"}`:        `unknown member "stopReason"`,
		`{"tools":[{"name":"f","arg":1}]}`: `tool 1: unknown member "arg"`,
		`{"status":200}`:                   "status 200 is not between 400 and 599",
		`{"status":500,"text":"a"}`:        "status excludes",
		`{"status":500,"hang":true}`:       "status excludes",
		`{"body":"a"}`:                     "body and headers need status",
		`{"headers":{}}`:                   "body and headers need status",
		`{"cut":true,"hang":true}`:         "cut and hang",
	} {
		_, err := Read("case.jsonl", strings.NewReader("{}\n\n"+line+"\n{}"))
		if err == nil || !strings.HasPrefix(err.Error(), "script case.jsonl, line 3: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "case.jsonl")
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m := s.New()
	if deltas, _, err := play(t.Context(), m); err != nil || len(deltas) != 1 || len(deltas[0].Text) != 1<<20 {
		t.Errorf("%d deltas, %v", len(deltas), err)
	}
	if _, _, err := play(t.Context(), m); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("at the end: %v", err)
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		deltas, _, err := play(t.Context(), read(t, `{"think":"ab","text":"cd","chunks":2,"delayMs":30}`).New())
		if err != nil || len(deltas) != 4 || time.Since(start) != 120*time.Millisecond {
			t.Errorf("%v, %v after %v", deltas, err, time.Since(start))
		}
	})
}

func TestCancel(t *testing.T) {
	for _, line := range []string{`{"text":"ab","hang":true}`, `{"text":"abcdef","chunks":6,"delayMs":300}`} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			deltas, _, err := play(ctx, read(t, line).New())
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second || len(deltas) == 0 {
				t.Errorf("%s: %v, %v after %v", line, deltas, err, time.Since(start))
			}
		})
	}
}

func TestEmitFails(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	_, err := read(t, `{"text":"abc","chunks":3}`).New().Stream(t.Context(), &model.Request{}, func(model.Delta) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// However a text is cut, it is whole again when joined, no piece breaks a character, and the lengths differ by one at most.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.Uint32Range(0, 50).Draw(t, "n")
		parts := pieces(text, n)
		length := utf8.RuneCountInString(text)
		if want := min(length, max(int(n), 1)); len(parts) != want || strings.Join(parts, "") != text {
			t.Fatalf("%q in %d: %q", text, n, parts)
		}
		for _, part := range parts {
			if runes := utf8.RuneCountInString(part); !utf8.ValidString(part) || runes < length/len(parts) || runes > length/len(parts)+1 {
				t.Errorf("piece %q of %q", part, parts)
			}
		}
	})
}
