package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/rpc"
)

// everyKind is the events of a turn and around it with s wherever a text can be.
func everyKind(s string) []event.Event {
	diffs := []tool.Diff{{Path: s, Old: &s, New: s}, {Path: s, New: s}}
	return []event.Event{
		event.Opened{CWD: s, Axes: event.Axes{Model: s, Mode: s}}, event.Set{Mode: &s}, event.Prompt{Text: s, Submit: s},
		event.Thought{Text: s}, event.Text{Text: s}, event.Text{Text: s + s}, event.Answer{Calls: []model.Call{{ID: "c", Name: s}}}, event.Usage{},
		event.Plan{Entries: []tool.PlanEntry{{Content: s, Priority: "high", Status: "pending"}}},
		event.ToolCall{ID: "c", Tool: s, Title: s, Kind: "edit", Args: json.RawMessage(`{}`), Locations: []tool.Location{{Path: s, Line: 1}}, Diffs: diffs},
		event.Waiting{ID: "c"}, event.ToolStart{ID: "c"}, event.Thought{Text: s}, event.ToolEnd{ID: "c", Failed: true, Text: s, Full: s, Diffs: diffs},
		event.ToolCall{ID: "never ended", Title: s}, event.Text{Text: s}, event.Warning{Text: s}, event.Done{Outcome: event.Failed, Reason: s},
		event.Command{Input: s}, event.Output{Text: s}, event.Output{}, event.Text{}, event.Done{Outcome: event.EndTurn},
	}
}

// sent is what a replay of these records sends, by the general path alone or not.
// An error stands at the end.
func sent(records []ledger.Record, general bool) []string {
	var lines []string
	r := replayer{id: "s", render: render, send: func(u rpc.Appender) error {
		lines = append(lines, string(u.AppendJSON(nil)))
		return nil
	}}
	for _, rec := range records {
		var err error
		if general {
			var e event.Event
			if e, err = session.Event(rec); e != nil {
				err = r.event(e)
			}
		} else {
			err = r.record(rec)
		}
		if err != nil {
			return append(lines, err.Error())
		}
	}
	if err := r.end(); err != nil {
		lines = append(lines, err.Error())
	}
	return lines
}

func encoded(t interface{ Fatal(...any) }, events []event.Event) (records []ledger.Record) {
	for i, e := range events {
		kind, data, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if kind != "" {
			records = append(records, ledger.Record{Seq: uint64(i + 1), Kind: kind, Data: data})
		}
	}
	return records
}

// TestReplayIsRendered: what a replay copies out of the log is, byte by byte, what
// the live path renders from the decoded events: for every kind and whatever text.
func TestReplayIsRendered(t *testing.T) {
	same := func(t interface{ Errorf(string, ...any) }, records []ledger.Record) {
		fast, slow := sent(records, false), sent(records, true)
		if a, b := strings.Join(fast, "\n"), strings.Join(slow, "\n"); a != b || a == "" {
			t.Errorf("copied:\n%s\nrendered:\n%s", a, b)
		}
	}
	for _, s := range []string{
		"words", "", " ", "\"quotes\" and \\ back", "line\nline\r\n\ttab", "\x00\x01\b\f\x1f\x7f", "<b>&amp;</b>", "\u2028\u2029\u0085\ufeff", "ü🙂", "\uE000",
		"\xff\xfe", "\xed\xa0\x80", "cut \xf0\x9f", `\u0041 \ud83d`, `"}`, `","Text":"x`, strings.Repeat("long ", 5000),
	} {
		same(t, encoded(t, everyKind(s)))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if rapid.Bool().Draw(t, "bytes") {
			s = string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		}
		same(t, encoded(t, everyKind(s)))
	})
	// What we do not write, but another version or a hand may have.
	for _, in := range []string{`\u0041`, `\u003c`, `\ud83d\ude42`, `\ud83d`, `\b\f\/`, `\"`, `\`, `"`, "\x01", "\xff", "\n", `","Text":"x`, `","New":"x`, `\u00`, "\u2028"} {
		for _, kind := range []string{"text", "thought", "output", "warning"} {
			for _, record := range []string{`{"Text":"` + in + `"}`, `{"Text": "` + in + `"}`, `{"New":0,"Text":"` + in + `"}`} {
				same(t, []ledger.Record{{Seq: 1, Kind: "prompt", Data: json.RawMessage(`{"Text":"go"}`)}, {Seq: 2, Kind: kind, Data: json.RawMessage(record)}})
			}
		}
	}
}

// TestReplayIsCopied: the test above compares two paths, not one with itself.
func TestReplayIsCopied(t *testing.T) {
	copied := 0
	r := replayer{id: "s", render: render, send: func(u rpc.Appender) error {
		if _, ok := u.(*piece); ok {
			copied++
		}
		return nil
	}}
	for _, rec := range encoded(t, everyKind("words\n")) {
		if err := r.record(rec); err != nil {
			t.Fatal(err)
		}
	}
	if want := 6; copied != want {
		t.Errorf("%d of %d pieces are copied", copied, want)
	}
}
