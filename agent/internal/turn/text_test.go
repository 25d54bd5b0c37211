package turn

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// However bytes are cut into pieces, the pieces that come out are whole characters and make the same text.
func TestJoiner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var j joiner
		var out strings.Builder
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			piece := j.next(rest[:n])
			if !utf8.ValidString(piece) {
				t.Errorf("piece %q", piece)
			}
			out.WriteString(piece)
			rest = rest[n:]
		}
		out.WriteString(j.rest())
		if out.String() != text {
			t.Errorf("%q became %q", text, out.String())
		}
	})
}

// Any bytes at all come out as valid UTF-8, with the valid characters kept.
func TestJoinerWithAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j joiner
		var in, out strings.Builder
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 6)).Draw(t, "pieces") {
			in.Write(piece)
			whole := j.next(string(piece))
			if !utf8.ValidString(whole) {
				t.Errorf("piece %q", whole)
			}
			out.WriteString(whole)
		}
		out.WriteString(j.rest())
		without := func(s string) string { return strings.ReplaceAll(s, "\uFFFD", "") }
		if got, want := without(out.String()), without(strings.ToValidUTF8(in.String(), "")); got != want {
			t.Errorf("%q became %q", in.String(), out.String())
		}
	})
}

func TestSplitCharactersThroughATurn(t *testing.T) {
	const thought, text = "où? €", "né 日本 🙂"
	for _, each := range []bool{false, true} {
		var shown [2]strings.Builder
		history := &History{}
		outcome := Run(t.Context(), Turn{
			Model: modelFunc(func(_ context.Context, emit func(model.Delta) error) (model.Result, error) {
				for i := range len(thought) {
					emit(model.Delta{Thought: thought[i : i+1]})
				}
				for i := range len(text) {
					emit(model.Delta{Text: text[i : i+1]})
				}
				emit(model.Delta{Text: "\xf0\x9f"}) // the stream ends inside a character
				return model.Result{}, nil
			}),
			History:   history,
			EachDelta: each,
			Emit: func(e Event) error {
				piece, kind := "", kindText
				switch e := e.(type) {
				case Thought:
					piece, kind = e.Text, kindThought
				case Text:
					piece = e.Text
				case Answer:
					return nil
				}
				if piece == "" || !utf8.ValidString(piece) {
					t.Errorf("event %#v", e)
				}
				shown[kind].WriteString(piece)
				return nil
			},
		})
		want := []model.Message{{Role: model.User}, {Role: model.Assistant, Text: text + "\uFFFD", Thought: thought}}
		if d := cmp.Diff(want, history.Messages()); d != "" || outcome != (EndTurn{}) {
			t.Errorf("outcome %+v, history (-want +got):\n%s", outcome, d)
		}
		if shown[kindThought].String() != thought || shown[kindText].String() != text+"\uFFFD" {
			t.Errorf("shown %q, %q", shown[kindThought].String(), shown[kindText].String())
		}
	}
}

func TestThoughtThatEndsInsideACharacter(t *testing.T) {
	s := newSession(t)
	s.model = modelFunc(func(_ context.Context, emit func(model.Delta) error) (model.Result, error) {
		emit(model.Delta{Thought: "a\xe2\x82"})
		return model.Result{}, emit(model.Delta{Text: "\xacb"})
	})
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{}, "thought a\uFFFD", "text \uFFFDb")
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		s     string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc\n… (1 bytes dropped)"},
		{"ab€d", 3, "ab\n… (4 bytes dropped)"},
		{"ab€d", 4, "ab\n… (4 bytes dropped)"},
		{"ab€d", 5, "ab€\n… (1 bytes dropped)"},
		{"", 0, ""},
	} {
		if got := clip(test.s, test.limit); got != test.want {
			t.Errorf("clip(%q, %d) = %q, want %q", test.s, test.limit, got, test.want)
		}
	}
}
