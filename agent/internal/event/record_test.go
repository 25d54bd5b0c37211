package event

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// all is one of each, with everything set.
var all = []Event{
	Thought{"hm <b>\n\u2028"}, Text{`"quoted" \ ü 🙂`}, Answer{[]model.Call{{ID: "c", Name: "f", Args: json.RawMessage("{\"a\":[1,\"x > f && <y>\u2028\"]}")}}, "p/m"}, Answer{},
	Plan{[]tool.PlanEntry{{Content: "look", Priority: "high", Status: "pending"}}},
	ToolCall{ID: "c", Tool: "f", Title: "Do", Kind: "edit", Args: json.RawMessage(`{"a":1}`), Locations: []tool.Location{{Path: "/x", Line: 3}}, Diffs: []tool.Diff{{Path: "/x", New: "n"}, {Path: "/y", Old: new("o"), New: "n"}}},
	ToolCall{ID: "c", Tool: "f", Title: "Do"}, ToolEnd{ID: "c", Failed: true, Text: "no", Full: "no, really", Diffs: []tool.Diff{{Path: "/x", New: "n"}}},
	Usage{model.Usage{Input: 1 << 60, Output: 2, Cached: 3, Reasoning: 4}}, Waiting{ID: "c", Input: true}, Retry{"again"}, Nudge{"on"}, Goal{"blocked", "why"}, Compacted{ID: "x", Dropped: 2, Before: 9, Tokens: 7, Message: "sum"},
	Opened{CWD: "/w", Directories: []string{"/m"}, Axes: Axes{Model: "p/m", Effort: "high", Preset: "read-only", Mode: "plan"}},
	Set{Model: new("p/m"), Later: true}, Set{Effort: new(""), Preset: new("x"), Mode: new("goal")}, Set{},
	Prompt{Text: "hi", Submit: "expanded"}, Command{"/help"}, Output{""}, Warning{"!"}, Done{Outcome: Failed, Reason: "why"},
}

// TestRecords: every event comes back as it was, from one line.
func TestRecords(t *testing.T) {
	for _, e := range all {
		kind, data, err := Encode(e)
		if err != nil || kind == "" || bytes.ContainsAny(data, "\n") || !json.Valid(data) {
			t.Errorf("%#v: kind %q, %s, %v", e, kind, data, err)
			continue
		}
		back, err := Decode(kind, data)
		if d := cmp.Diff(e, back); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got)\n%s", kind, err, d)
		}
	}
	if kind, _, err := Encode(ToolStart{"c"}); kind != "" || err != nil {
		t.Errorf("a start is kept as %q, %v", kind, err)
	}
}

// TestText: whatever valid text there is.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		kind, data, _ := Encode(Text{text})
		if e, err := Decode(kind, data); err != nil || e != (Text{text}) {
			t.Errorf("%q came back as %#v, %v", text, e, err)
		}
	})
}

// TestOtherRecords: members of a newer version are passed over, a kind of one
// gives nothing, and junk is an error that names the kind.
func TestOtherRecords(t *testing.T) {
	for kind, data := range map[string]string{"text": `{"New":[1],"Text":"x"}`, "prompt": `{"New":{},"Text":"x"}`} {
		if e, err := Decode(kind, json.RawMessage(data)); err != nil || e == nil {
			t.Errorf("%s: %#v, %v", kind, e, err)
		}
	}
	if e, err := Decode("hologram", json.RawMessage(`{}`)); e != nil || err != nil {
		t.Errorf("an unknown kind: %#v, %v", e, err)
	}
	for _, kind := range []string{"text", "prompt", "done"} {
		if _, err := Decode(kind, json.RawMessage(`{"Text":5,"Outcome":5}`)); err == nil {
			t.Errorf("%s of a number is no error", kind)
		}
	}
}
