package command

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFrontMatter(t *testing.T) {
	const body = "\n---\nText.\n"
	for _, tt := range []struct {
		name, text string
		want       string // name|description|argument-hint|model
	}{
		{"none", "Text.\n", "|Text.||"},
		{"plain", "---\nname: n\ndescription: Do: this # now\nargument-hint: [a] [b]\nmodel: p/m" + body, "n|Do: this # now|[a] [b]|p/m"},
		{"space around", "--- \nname :  n  \n\n# a comment\ndescription:d" + body, "n|d||"},
		{"case of keys", "---\nName: n\nDESCRIPTION: d" + body, "n|d||"},
		{"double quotes", `---` + "\n" + `description: "a \"b\" \\ c\td: \x" # why` + body, `|a "b" \ c d: \x||`},
		{"single quotes", "---\ndescription: 'it''s \\ so'" + body, `|it's \ so||`},
		{"empty quotes", "---\ndescription: ''\nname: \"\"" + body, "|Text.||"},
		{"quotes inside", "---\ndescription: say \"no\" and don't" + body, `|say "no" and don't||`},
		{"over lines", "---\ndescription: one\n  two\n\tthree\nname: n" + body, "n|one two three||"},
		{"quoted over lines", "---\ndescription: \"one\n  two\"\nname: n" + body, "n|one two||"},
		{"folded", "---\ndescription: >-\n  one\n\n  two: three\nname: n" + body, "n|one two: three||"},
		{"literal", "---\ndescription: |\n  one\n  two" + body, "|one two||"},
		{"unknown keys", "---\nallowed-tools:\n  - Read\n- Write\nx.y: \"open\nname: n" + body, "n|Text.||"},
		{"last of two", "---\nname: a\nname: b" + body, "b|Text.||"},
		{"windows", "\ufeff---\r\nname: n\r\n---\r\nText.\r\n", "n|Text.||"},
		{"a rule below", "---\nname: n\n---\n---\nText.", "n|---||"},
		{"no block", "Text.\n---\nname: n\n---\n", "|Text.||"},
		{"heading", "---\n---\n\n##  Deploy\tall \nMore.", "|Deploy all||"},
		{"only marks", "###\n", "|###||"},
	} {
		d := parseDocument(tt.text)
		if d.flaw != nil {
			t.Errorf("%s: %v", tt.name, d.flaw)
		}
		got := strings.Join([]string{
			oneLine(d.fields["name"], 99), d.description(), oneLine(d.fields["argument-hint"], 99), d.fields["model"],
		}, "|")
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestBrokenFrontMatterIsUsedWithout(t *testing.T) {
	for text, want := range map[string]struct{ flaw, body string }{
		"---\nname: n\nno colon\n---\nText.":          {"line 3: expected `key: value`", "Text."},
		"---\n  indented: first\n---\nText.":          {"line 2: expected", "Text."},
		"---\n\n# c\ndescription: \"open\n---\nText.": {"line 4: the quoted value of description", "Text."},
		"---\nname: 'a' b\n---\nText.":                {"line 2: the quoted value of name", "Text."},
		"---\nname: n\nText.":                         {"line 1: the block has no end", "---\nname: n\nText."},
		"---":                                         {"line 1: the block has no end", "---"},
	} {
		d := parseDocument(text)
		if d.flaw == nil || !strings.Contains(d.flaw.Error(), want.flaw) || d.body != want.body || d.fields != nil {
			t.Errorf("%q: flaw %v, body %q, fields %q", text, d.flaw, d.body, d.fields)
		}
	}
	h := build(t, map[string]string{
		"project/commands/x.md":     "---\nbroken\n---\nText.",
		"project/skills/s/SKILL.md": "---\nbroken\n---\nText.",
	})
	s := h.load()
	if diff := cmp.Diff([]string{"s [task] | Text.", "x  | Text."}, custom(s)); diff != "" {
		t.Error(diff)
	}
	h.warned("project/commands/x.md: line 2", "project/skills/s/SKILL.md: line 2")
	c, _ := s.Find("/x")
	if text, err := s.Expand(c); text != "Text." || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAdvertisedTextIsBounded(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	h := build(t, map[string]string{"home/commands/x.md": "---\ndescription: " + long + "\nargument-hint: " + long + "\n---\nText."})
	for _, e := range h.load().Entries() {
		if n := utf8.RuneCountInString(e.Description); n == 0 || n > maxDescription {
			t.Errorf("%s: description of %d characters", e.Name, n)
		}
		if n := utf8.RuneCountInString(e.Hint); n > maxHint {
			t.Errorf("%s: hint of %d characters", e.Name, n)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct {
		in, want string
	}{
		{"", ""},
		{" \n\x00\u0085 ", ""},
		{" a\n\n b\x1b[m ", "a b [m"},
		{"123456", "123456"},
		{"123456 \n", "123456"},
		{"1234567", "12345…"},
		{"1234 67", "1234…"},
		{"äöü äöü", "äöü ä…"},
		{"a\xffb", "a\ufffdb"},
	} {
		if got := oneLine(tt.in, 6); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestDocumentsOfAnyText(t *testing.T) {
	line := rapid.SampledFrom([]string{"---", "name: n", "description: \"d", "  more", "- item", "", "text", "key: >", "\r", "\ufeff---"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n")
		d := parseDocument(text)
		if d.body != strings.TrimSpace(d.body) || !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), d.body) {
			t.Fatalf("%q: the body %q is not of it", text, d.body)
		}
		if d.body != "" && d.description() == "" {
			t.Fatalf("%q: no description", text)
		}
		if strings.ContainsAny(d.description(), "\r\n") {
			t.Fatalf("%q: description %q", text, d.description())
		}
	})
}
