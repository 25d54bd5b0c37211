package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const list = `# a comment

because seed 61: what is deleted
  is gone
  delete | response 10 session/load | /error | {"code":-32602… | absent
because DESIGN 7: titles
  *          | update tool_call      | /update/{title,name} | … | …
  load, read | status usage          | /status/*/used       | 1 | 2
  load       | update plan           | -                    | … | absent
`

func difference(line string) Difference {
	c := strings.SplitN(line, " | ", 5)
	return Difference{c[0], c[1], strings.TrimPrefix(c[2], "-"), c[3], c[4]}
}

func TestList(t *testing.T) {
	for line, listed := range map[string]bool{
		`delete | response 10 session/load | /error | {"code":-32602,"message":"x"} | absent`: true,
		`delete | response 11 session/load | /error | {"code":-32602,"message":"x"} | absent`: false,
		`delete | response 10 session/load | /error | {"code":-32603,"message":"x"} | absent`: false,
		`delete | response 10 session/load | /error | absent | {"code":-32602,"message":"x"}`: false,
		`close | response 10 session/load | /error | {"code":-32602,"message":"x"} | absent`:  false,
		`any | update tool_call | /update/title | "a" | "b"`:                                  true,
		`any | update tool_call | /update/name | "a" | "b"`:                                   true,
		`any | update tool_call | /update/name | "a" | absent`:                                false,
		`any | update tool_call | /update/kind | "a" | "b"`:                                   false,
		`any | update tool_call | /update/title/x | "a" | "b"`:                                false,
		`any | update tool_call | - | "a" | "b"`:                                              false,
		`any | update tool_call_update completed | /update/title | "a" | "b"`:                 false,
		`read | status usage working | /status/turn/used | 1 | 2`:                             true,
		`read | status phase working | /status/turn/used | 1 | 2`:                             false,
		`read | status usage working | /status/turn/used | 1 | 22`:                            false,
		`load | update plan | - | {} | absent`:                                                true,
		`load | update plan | - | absent | {}`:                                                false,
		`load | update plan | /entries | {} | absent`:                                         false,
	} {
		l, err := ParseList([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Unlisted([]Difference{difference(line)}); (len(got) == 0) != listed {
			t.Errorf("%s: listed %v", line, !listed)
		}
	}
}

// TestOwnLine: a difference as it is printed is an entry that explains it.
func TestOwnLine(t *testing.T) {
	for _, d := range []Difference{
		{"s", "update plan", "", text("a | b"), Absent},
		{"s", `response "p" session/prompt`, "/result/x", "1", text(map[string]any{"b": " | "})},
	} {
		l, err := ParseList([]byte("because defect\n" + d.String()))
		if err != nil || l.Unlisted([]Difference{d}) != nil || l.Stale() != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}

// TestStale: an entry that explains nothing, or a part of one, is told.
func TestStale(t *testing.T) {
	l, err := ParseList([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	all := []Difference{
		difference(`delete | response 10 session/load | /error | {"code":-32602} | absent`),
		difference(`any | update tool_call | /update/title | "a" | "b"`),
		difference(`any | update tool_call | /update/name | "a" | "b"`),
		difference(`load | status usage x | /status/turn/used | 1 | 2`),
		difference(`read | status usage x | /status/turn/used | 1 | 2`),
		difference(`load | update plan | - | {} | absent`),
	}
	if got := l.Unlisted(all); got != nil {
		t.Fatal(got)
	}
	if got := l.Stale(); got != nil {
		t.Errorf("nothing is stale, but: %q", got)
	}
	for i, want := range []string{
		"[line 5: no difference anywhere any more: seed 61: what is deleted is gone]",
		"[line 7: no difference title any more: DESIGN 7: titles]",
		"[line 7: no difference name any more: DESIGN 7: titles]",
		"[line 8: no difference in load any more: DESIGN 7: titles]",
		"[line 8: no difference in read any more: DESIGN 7: titles]",
		"[line 9: no difference anywhere any more: DESIGN 7: titles]",
	} {
		l, err := ParseList([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		l.Unlisted(append(append([]Difference(nil), all[:i]...), all[i+1:]...))
		if d := cmp.Diff(want, fmt.Sprint(l.Stale())); d != "" {
			t.Errorf("without %s (-want +got):\n%s", all[i], d)
		}
	}
}

// TestFirst: the first entry takes a difference, so that one which says the same again is stale.
func TestFirst(t *testing.T) {
	l, err := ParseList([]byte("because defect\na | update plan | /x | … | …\n* | update plan | /x | 1 | 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	l.Unlisted([]Difference{{"a", "update plan", "/x", "1", "2"}})
	if got := fmt.Sprint(l.Stale()); got != "[line 3: no difference anywhere any more: defect]" {
		t.Error(got)
	}
}

func TestParseListErrors(t *testing.T) {
	for src, want := range map[string]string{
		"a | update plan | /x | 1 | 2":                            "line 1: the reason",
		"because it is nicer\na | update plan | /x | 1 | 2":       "line 2: the reason",
		"because defect\na | update plan | /x | 1":                "4 columns",
		"because defect\na | update | /x | 1 | 2":                 "does not say what message",
		"because defect\na | * | /x | 1 | 2":                      "does not say what message",
		"because defect\na | update plan | x | 1 | 2":             "does not begin with a slash",
		"because defect\na | update plan | /* | 1 | 2\nand so on": "line 3: neither",
		"what is this": "line 1: neither",
	} {
		if _, err := ParseList([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}
