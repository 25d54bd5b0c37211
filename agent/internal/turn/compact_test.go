package turn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
)

// TestCompaction: before the window is full the model sums up, with the request that it has seen already and one message
// more, and goes on with that, the newest messages and the prompt.
func TestCompaction(t *testing.T) {
	big := strings.Repeat("word ", 300)
	s := newSession(t, `{"text":"`+big+`","usage":{"input":500,"output":320}}`)
	s.window = 1000
	s.policy.SetPreset(permission.WorkspaceWrite)
	s.prompt(t.Context(), "first")
	before := s.requests[0].Messages

	s.play(`{"text":"sum of all","usage":{"input":830,"output":9}}`, `{"tools":[{"id":"w","name":"write_file","args":{"path":"x","content":"1"}}],"usage":{"input":40,"output":5}}`, `{"text":"end","usage":{"input":60,"output":5}}`)
	expect(t, s, s.prompt(t.Context(), "second"), EndTurn{}, "compacting", "usage 830", "compacted 2 of 3", "usage 40", "call w Write x", "start w", "done w Created x (1 bytes).",
		"text end", "usage 60")
	if got := s.requests[0].Messages; len(got) != 4 || got[0].Text != before[0].Text || got[3].Text != condenseRequest {
		t.Errorf("the summary was asked for with %+v", got)
	}
	if got := s.requests[1].Messages; len(got) != 2 || !strings.HasSuffix(got[0].Text, "sum of all") || got[1].Text != "second" {
		t.Errorf("the next request has %+v", got)
	}
}

// TestCompactionWithinATurn: what is being worked on stays word for word, calls stay with their results, and a refusal
// still takes the turn away.
func TestCompactionWithinATurn(t *testing.T) {
	s := newSession(t)
	s.window = 1000
	var script []string
	for i := range 6 {
		s.put(fmt.Sprint("f", i), strings.Repeat("text ", 100))
		script = append(script, fmt.Sprintf(`{"tools":[{"id":"r%d","name":"read_file","args":{"path":"f%d"}}],"usage":{"input":%d,"output":10}}`, i, i, 200*(i+1)))
	}
	s.play(append(script[:4], `{"text":"sum"}`, `{"tools":[{"id":"r9","name":"read_file","args":{"path":"f5"}}],"usage":{"input":100,"output":10}}`, `{"text":"no","finish":"content_filter"}`)...)
	if o := s.prompt(t.Context(), "read them all"); o != (Refusal{}) {
		t.Fatalf("%#v", o)
	}
	messages := s.requests[5].Messages
	if !strings.Contains(messages[0].Text, "sum") || !strings.HasSuffix(messages[0].Text, "read them all") || messages[1].Role != model.Assistant {
		t.Errorf("after the compaction: %+v", messages)
	}
	if got := s.history.Messages(); len(got) != 1 || got[0].Role != model.User {
		t.Errorf("after the refusal: %+v", got)
	}
}

// TestCompactionWithoutSummary: a model that cannot sum up leaves the user's words; a provider that says the request is too
// long has it condensed, once.
func TestCompactionWithoutSummary(t *testing.T) {
	tooLong := `{"status":400,"body":"{\"error\":{\"message\":\"m\",\"code\":\"context_length_exceeded\"}}"}`
	s := newSession(t, `{"text":"one"}`, tooLong, tooLong, `{"text":"two"}`)
	s.prompt(t.Context(), "first")
	expect(t, s, s.prompt(t.Context(), "second"), EndTurn{}, "compacting", "compacted 3 of 3", "text two")
	if got := s.requests[2].Messages; len(got) != 1 || !strings.Contains(got[0].Text, "- first\n- second") {
		t.Errorf("the next request has %+v", got)
	}
	s.play(tooLong, tooLong, tooLong)
	if o, ok := s.prompt(t.Context(), "third").(Failed); !ok {
		t.Errorf("%#v", o)
	}
}
