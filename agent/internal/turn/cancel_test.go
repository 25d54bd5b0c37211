package turn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

// hanging is a tool that waits for the end of ctx, after it has told so.
func hanging(started func()) tool.Tool {
	return tool.Tool{Name: "hang", Kind: tool.KindOther, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) {
		return tool.Invocation{Title: "Hang", Run: func(ctx context.Context) (tool.Output, error) {
			started()
			<-ctx.Done()
			return tool.Output{}, ctx.Err()
		}}, nil
	}}
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name  string
		set   func(s *session, cancel func())
		story []string
		last  model.Message // of the history
	}{
		{
			name: "before the start",
			set:  func(s *session, cancel func()) { cancel() },
			last: model.Message{Role: model.User, Text: "go"},
		},
		{
			name: "before the first token",
			set: func(s *session, cancel func()) {
				s.play(`{"hang":true}`)
				time.AfterFunc(time.Second, cancel)
			},
			last: model.Message{Role: model.User, Text: "go"},
		},
		{
			name: "in the text",
			set: func(s *session, cancel func()) {
				s.play(`{"think":"hm","text":"half","hang":true}`)
				time.AfterFunc(time.Second, cancel)
			},
			story: []string{"thought hm", "text half"},
			last:  model.Message{Role: model.Assistant, Text: "half", Thought: "hm"},
		},
		{
			name: "between two pieces that would be joined",
			set: func(s *session, cancel func()) {
				s.play(`{"text":"abcd","chunks":4,"delayMs":20}`)
				time.AfterFunc(50*time.Millisecond, cancel)
			},
			story: []string{"text ab"},
			last:  model.Message{Role: model.Assistant, Text: "ab"},
		},
		{
			name: "while the model does not care",
			set: func(s *session, cancel func()) {
				s.model = modelFunc(func(ctx context.Context, emit func(model.Delta) error) (model.Result, error) {
					for n := 0; ; n++ {
						if err := emit(model.Delta{Text: "x"}); err != nil {
							return model.Result{}, err
						}
						if n == 2 {
							cancel()
						}
					}
				})
			},
			story: []string{"text xxxx"},
			last:  model.Message{Role: model.Assistant, Text: "xxxx"},
		},
		{
			name: "in the permission",
			set: func(s *session, cancel func()) {
				s.play(writeX)
				s.answer = func(ctx context.Context, _ Ask) (permission.Answer, error) {
					time.AfterFunc(time.Second, cancel)
					<-ctx.Done()
					return "", ctx.Err()
				}
			},
			story: []string{"call w Write x", "failed w cancelled"},
			last:  model.Message{Role: model.Tool, CallID: "w", Name: "write_file", Text: "cancelled", Failed: true},
		},
		{
			name: "crossing an approval",
			set: func(s *session, cancel func()) {
				s.play(writeX)
				s.answer = func(context.Context, Ask) (permission.Answer, error) {
					cancel()
					return permission.AllowAlways, nil
				}
			},
			story: []string{"call w Write x", "failed w cancelled"},
			last:  model.Message{Role: model.Tool, CallID: "w", Name: "write_file", Text: "cancelled", Failed: true},
		},
		{
			name: "with the announcement of a call that needs no answer",
			set: func(s *session, cancel func()) {
				s.play(`{"tools":[{"id":"r","name":"read_file","args":{"path":"y"}}]}`)
				s.emit = func(Event) error { cancel(); return nil }
			},
			story: []string{"call r Read y", "failed r cancelled"},
			last:  model.Message{Role: model.Tool, CallID: "r", Name: "read_file", Text: "cancelled", Failed: true},
		},
		{
			name: "in a tool, with more calls to come",
			set: func(s *session, cancel func()) {
				s.play(`{"text":"Now.","tools":[{"id":"h","name":"hang"},{"id":"r","name":"read_file","args":{"path":"x"}}]}`)
				s.tools = []tool.Tool{hanging(func() { time.AfterFunc(time.Second, cancel) })}
			},
			story: []string{"text Now.", "call h Hang", "start h", "failed h cancelled"},
			last:  model.Message{Role: model.Tool, CallID: "r", Name: "read_file", Text: notRun, Failed: true},
		},
		{
			name: "in a tool that is done all the same",
			set: func(s *session, cancel func()) {
				s.play(`{"tools":[{"id":"d","name":"do"},{"id":"r","name":"read_file"}]}`)
				s.tools = []tool.Tool{{Name: "do", Kind: tool.KindOther, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) {
					return tool.Invocation{Title: "Do", Run: func(context.Context) (tool.Output, error) {
						cancel()
						return tool.Output{Text: "did it"}, nil
					}}, nil
				}}}
			},
			story: []string{"call d Do", "start d", "done d did it"},
			last:  model.Message{Role: model.Tool, CallID: "r", Name: "read_file", Text: notRun, Failed: true},
		},
		{
			name: "with the last piece",
			set: func(s *session, cancel func()) {
				s.play(`{"text":"all of it"}`)
				s.emit = func(Event) error { cancel(); return nil }
			},
			story: []string{"text all of it"},
			last:  model.Message{Role: model.Assistant, Text: "all of it"},
		},
		{
			name: "with a refusal",
			set: func(s *session, cancel func()) {
				s.play(`{"text":"no","finish":"content_filter"}`)
				s.emit = func(Event) error { cancel(); return nil }
			},
			story: []string{"text no"},
			last:  model.Message{Role: model.Assistant, Text: "no"},
		},
		{
			name: "with an emit that fails",
			set: func(s *session, cancel func()) {
				s.play(`{"text":"lost"}`)
				s.emit = func(Event) error { cancel(); return errors.New("broken pipe") }
			},
			last: model.Message{Role: model.Assistant, Text: "lost"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				test.set(s, cancel)
				expect(t, s, s.prompt(ctx, "go"), Cancelled{}, test.story...)
				messages := s.history.Messages()
				if d := cmp.Diff(test.last, messages[len(messages)-1]); d != "" {
					t.Errorf("end of the history (-want +got):\n%s", d)
				}
				if s.has("x") {
					t.Error("the file was written")
				}
				s.emit, s.answer = nil, nil
				s.play(`{"text":"fine"}`)
				expect(t, s, s.prompt(t.Context(), "next"), EndTurn{}, "text fine")
			})
		})
	}
}

// Wherever the cancellation hits, each announced call has ended and the next turn works.
func TestCancelAtEachEvent(t *testing.T) {
	script := []string{
		`{"think":"t","text":"u","usage":{"input":1},"tools":[{"id":"a","name":"todo_write","args":{"todos":[{"content":"c","status":"pending"}]}},{"id":"b","name":"read_file","args":{"path":"x"}},{"id":"w","name":"write_file","args":{"path":"x","content":"x"}}]}`,
		`{"text":"end"}`,
	}
	complete := 0
	for at := 0; complete == 0; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			s := newSession(t, script...)
			s.policy.SetPreset(permission.WorkspaceWrite)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			s.emit = func(Event) error {
				if n++; n == at+1 {
					cancel()
				}
				return nil
			}
			outcome := s.prompt(ctx, "go")
			checkEvents(t, s.events)
			if n <= at {
				complete = n
				if outcome != (EndTurn{}) {
					t.Errorf("outcome %+v without cancellation", outcome)
				}
				return
			}
			if outcome != (Cancelled{}) {
				t.Errorf("outcome %+v", outcome)
			}
			s.emit = nil
			s.play(`{"text":"fine"}`)
			expect(t, s, s.prompt(t.Context(), "next"), EndTurn{}, "text fine")
		})
	}
	if complete != 14 {
		t.Errorf("the whole turn has %d events, want 14", complete)
	}
}

// The same with a host that is gone: the turn fails, nothing more is emitted, the history stays valid.
func TestEmitFailsAtEachEvent(t *testing.T) {
	gone := errors.New("broken pipe")
	for at := range 14 {
		s := newSession(t,
			`{"think":"t","text":"u","usage":{"input":1},"tools":[{"name":"todo_write","args":{"todos":[{"content":"c","status":"pending"}]}},{"name":"read_file","args":{"path":"x"}},{"name":"write_file","args":{"path":"x","content":"x"}}]}`,
			`{"text":"end"}`)
		s.policy.SetPreset(permission.WorkspaceWrite)
		n := 0
		s.emit = func(Event) error {
			if n++; n > at {
				return gone
			}
			return nil
		}
		outcome := s.prompt(t.Context(), "go")
		if failed, ok := outcome.(Failed); !ok || failed.Err != gone || n != at+1 {
			t.Errorf("event %d: outcome %+v after %d events", at, outcome, n)
		}
	}
}

// A process that died in a turn leaves calls without results; the next turn settles them.
func TestHistoryOfADeadProcess(t *testing.T) {
	s := newSession(t, `{"text":"fine"}`)
	s.history = *NewHistory([]model.Message{
		{Role: model.User, Text: "old"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "f", Args: []byte("{}")}, {ID: "b", Name: "f", Args: []byte("{}")}}},
		{Role: model.Tool, CallID: "a", Name: "f", Text: "ok"},
	})
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "text fine")
	if result := s.history.Messages()[3]; result.CallID != "b" || result.Text != notRun {
		t.Errorf("%+v", result)
	}
}

type modelFunc func(context.Context, func(model.Delta) error) (model.Result, error)

func (f modelFunc) Stream(ctx context.Context, _ *model.Request, emit func(model.Delta) error) (model.Result, error) {
	return f(ctx, emit)
}
