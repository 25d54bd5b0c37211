package command

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestExpandCommand(t *testing.T) {
	for _, tt := range []struct {
		body, args, want string
	}{
		{"Review.", "", "Review."},
		{"Review.", "main.go now", "Review.\n\nmain.go now"},
		{"Do $ARGUMENTS!", "a  'b c'", "Do a  'b c'!"},
		{"Do $ARGUMENTS!", "", "Do !"},
		{"$1, $2; $1", "a 'b c' d", "a, b c; a"},
		{"$1, $2.", "a", "a, ."},
		{"$9 $10", "1 2 3 4 5 6 7 8 nine", "nine 10"},
		{"$ARGUMENTS_DIR and $ARGUMENTSX", "a", "$ARGUMENTS_DIR and $ARGUMENTSX\n\na"},
		{"$ARGUMENTS-$ARGUMENTS", "a", "a-a"},
		{"Costs $$5, $0, $HOME, $", "", "Costs $5, $0, $HOME, $"},
		{"Costs $$5", "a", "Costs $5\n\na"},
		{"$$1", "a", "$1\n\na"},
		{"$$$1", "a", "$a"},
		{"$1", "$2 $ARGUMENTS", "$2"}, // what arguments contain stays
		{"---\nargument-hint: x\n---\n\n  $1  \n", "a", "a"},
	} {
		s := build(t, map[string]string{"project/commands/c.md": tt.body}).load()
		c, ok := s.Find("/C " + tt.args)
		got, err := s.Expand(c)
		if !ok || err != nil || got != tt.want {
			t.Errorf("%q with %q:\n got %q, %v, %v\nwant %q", tt.body, tt.args, got, ok, err, tt.want)
		}
	}
}

func TestExpandSkill(t *testing.T) {
	h := build(t, map[string]string{"home/skills/pdf/SKILL.md": "---\nname: read-pdf\n---\nRun awk '{print $1}' and $ARGUMENTS.\n"})
	s := h.load()
	for args, want := range map[string]string{
		"":          "",
		"page 3\nb": "\n\npage 3\nb",
	} {
		c, ok := s.Find("/read-pdf " + args)
		got, err := s.Expand(c)
		want = "Run awk '{print $1}' and $ARGUMENTS.\n\nThe files of this skill are in " + h.path("home/skills/pdf") + want
		if !ok || err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

// TestExpandReadsAgain: an edit counts at once, and a file that cannot be used
// any more is an error that names it.
func TestExpandReadsAgain(t *testing.T) {
	const file = "project/commands/c.md"
	h := build(t, map[string]string{file: "old"})
	s := h.load()
	c, _ := s.Find("/c")
	h.write(file, "new")
	if got, err := s.Expand(c); got != "new" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for text, reason := range map[string]string{"": "has no text", "\xff": "is not UTF-8"} {
		h.write(file, text)
		if got, err := s.Expand(c); got != "" || err == nil || !strings.Contains(err.Error(), h.path(file)+": "+reason) {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, gone := range []string{file, "project/commands", "project"} {
		if err := os.Remove(h.path(gone)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Expand(c); got != "" || err == nil || !strings.HasPrefix(err.Error(), "/c cannot be used: "+h.path(file)) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestExpandRefuses(t *testing.T) {
	h := build(t, map[string]string{
		"project/commands/many.md":  strings.Repeat("$ARGUMENTS", 10_000),
		"project/commands/one.md":   "$1",
		"project/commands/none.md":  "text",
		"project/skills/s/SKILL.md": "text",
	})
	s := h.load()
	huge := strings.Repeat("x", 16<<20)
	for _, tt := range []struct{ name, args, reason string }{
		{"many", strings.Repeat("x", 10_000), "longer than 16 MiB"},
		{"one", huge + "x", "longer than 16 MiB"},
		{"none", huge, "longer than 16 MiB"},
		{"s", huge, "longer than 16 MiB"},
		{"one", "", "empty without arguments"},
		{"status", "", "neither a custom command nor a skill"},
		{"nobody", "", "neither a custom command nor a skill"},
	} {
		got, err := s.Expand(Call{Name: tt.name, Args: tt.args})
		if got != "" || err == nil || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("/%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
	if got, err := s.Expand(Call{Name: "one", Args: huge}); err != nil || got != huge {
		t.Errorf("16 MiB are refused: %v", err)
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"", nil},
		{" \n", nil},
		{"a  b\tc\nd", []string{"a", "b", "c", "d"}},
		{`'a b' "c d"`, []string{"a b", "c d"}},
		{`'' ""`, []string{"", ""}},
		{`x='a b'c`, []string{"x=a bc"}},
		{`"a \"b\" \\ \n" c`, []string{`a "b" \ \n`, "c"}},
		{`'a \' b`, []string{`a \`, "b"}},
		{`a\ b \"c \'d C:\dir\x \`, []string{"a b", `"c`, "'d", `C:\dir\x`, `\`}},
		{`fix "this now`, []string{"fix", `"this`, "now"}},
		{`don't and can't`, []string{"don't", "and", "can't"}},
		{`'open`, []string{"'open"}},
		{`"a" 'b`, []string{"a", "'b"}},
		{"ä\u00a0ö", []string{"ä", "ö"}},
	} {
		if diff := cmp.Diff(tt.want, split(tt.args)); diff != "" {
			t.Errorf("%q: %s", tt.args, diff)
		}
	}
}

// TestSplitGivesBackWords: quoted words come back as they were, between any spaces.
func TestSplitGivesBackWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune(`ab"'\ ä$`+"\n")))).Draw(t, "words")
		var args strings.Builder
		for _, w := range words {
			args.WriteString(rapid.SampledFrom([]string{" ", "\n", " \t "}).Draw(t, "gap"))
			if !strings.Contains(w, "'") && rapid.Bool().Draw(t, "single") {
				args.WriteString("'" + w + "'")
				continue
			}
			args.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`)
		}
		got := split(args.String())
		if len(words) == 0 {
			words = nil
		}
		if diff := cmp.Diff(words, got); diff != "" {
			t.Fatalf("%q: %s", args.String(), diff)
		}
	})
}

// TestSplitLosesNoCharacter: without quotes and backslashes it is a split at white space.
func TestSplitLosesNoCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.String().Draw(t, "args")
		got := split(args)
		if !strings.ContainsAny(args, `"'\`) {
			want := strings.Fields(args)
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Fatalf("%q: %q, want %q", args, got, want)
			}
		}
	})
}

func TestFindOfAnyText(t *testing.T) {
	s := build(t, map[string]string{"project/commands/a/b.md": "x"}).load()
	names := rapid.SampledFrom([]string{"status", "a:b", "HELP", "none", "usr/bin/x", "stätus", ""})
	rapid.Check(t, func(t *rapid.T) {
		name, rest := names.Draw(t, "name"), rapid.String().Draw(t, "rest")
		text := "/" + name + rest
		c, ok := s.Find(text)
		word := text[1:]
		if i := strings.IndexFunc(word, isSpace); i >= 0 {
			word = word[:i]
		}
		known := false
		for _, e := range s.Entries() {
			known = known || strings.EqualFold(e.Name, word) && len(e.Name) == len(word)
		}
		if ok != known {
			t.Fatalf("%q: found %v", text, ok)
		}
		if ok && (c.Input != text || c.Name != strings.ToLower(word) || c.Args != strings.TrimSpace(text[1+len(word):]) || c.Local != isLocal(c.Name)) {
			t.Fatalf("%q: %+v", text, c)
		}
	})
}

func TestFillOfAnyText(t *testing.T) {
	part := rapid.SampledFrom([]string{"$", "$1", "$2", "$ARGUMENTS", "$$", "text", " ", "_", "1"})
	rapid.Check(t, func(t *rapid.T) {
		body := "x" + strings.Join(rapid.SliceOf(part).Draw(t, "body"), "")
		// Where nothing is put in, only $$ changes; each other character stays.
		got, err := fill(body, "")
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := 0; i < len(body); i++ {
			switch rest := body[i:]; {
			case strings.HasPrefix(rest, "$$"):
				want.WriteByte('$')
				i++
			case strings.HasPrefix(rest, "$1"), strings.HasPrefix(rest, "$2"):
				i++
			case strings.HasPrefix(rest, "$ARGUMENTS") && (len(rest) == 10 || !isWord(rest[10])):
				i += 9
			default:
				want.WriteByte(body[i])
			}
		}
		if got != want.String() {
			t.Fatalf("%q: %q, want %q", body, got, want.String())
		}
		if !namesArguments(body) {
			if with, _ := fill(body, "arg"); with != got+"\n\narg" {
				t.Fatalf("%q: %q", body, with)
			}
		}
	})
}
