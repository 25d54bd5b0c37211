package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// keys decodes all of b as read sees it when nothing more comes.
func keys(b []byte) (list []Key) {
	for len(b) > 0 {
		k, n := decode(b, true)
		if n == 0 {
			return append(list, Key{Text: "waits"})
		}
		list = append(list, k)
		b = b[n:]
	}
	return list
}

func TestDecode(t *testing.T) {
	r := func(s string) Key { return Key{Rune, s} }
	for in, want := range map[string][]Key{
		"aé世":                             {r("a"), r("é"), r("世")},
		"\r\n\t\x7f\x03\x04":              {{Name: Enter}, {Name: Enter}, {Name: Tab}, {Name: Backspace}, {Name: Interrupt}, {Name: EndOfInput}},
		"\x1b[A\x1bOB\x1b[C\x1b[D":        {{Name: Up}, {Name: Down}, {Name: Right}, {Name: Left}},
		"\x1b[1;5C\x1b[1;3D\x1bb\x1bf":    {{Name: WordRight}, {Name: WordLeft}, {Name: WordLeft}, {Name: WordRight}},
		"\x1b[H\x1b[F\x1b[1~\x1b[4~":      {{Name: Home}, {Name: End}, {Name: Home}, {Name: End}},
		"\x1b[3~\x1b[3;5~\x1b[15~":        {{Name: Delete}, {Name: Delete}, {}},
		"\x1b":                            {{Name: Escape}},
		"\x1bx":                           {{Name: Escape}, r("x")},
		"\x1b\rz":                         {{Name: Newline}, r("z")},
		"\x1b[":                           {{}},
		"\x1b[" + strings.Repeat("1", 99): append([]Key{{}}, keys([]byte(strings.Repeat("1", 99-maxEscape+2)))...),
		"\xff\u202e\u009bx":               {{}, {}, {}, r("x")},
		"\x1b[200~a\r\nb\tc\x1b[31md\u202e\re\x1b[201~f": {{Paste, "a\nb\tc[31md\ne"}, r("f")},
		"\x1b[200~never ends":                            {{Text: "waits"}},
	} {
		if got := keys([]byte(in)); !cmp.Equal(got, want) {
			t.Errorf("%q gives %+v", in, got)
		}
	}
}

// TestDecodeInPieces: how the bytes of a terminal are cut makes no difference,
// and every byte is used up once.
func TestDecodeInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "世", "\x1b[A", "\x1b[1;5C", "\x1b\r", "\r", "\x03", "\x1b[200~x\ry\x1b[201~", "\xff"})).Draw(t, "keys"), ""))
		var got []Key
		rest := []byte{}
		for _, c := range b {
			rest = append(rest, c)
			for {
				k, n := decode(rest, false)
				if n == 0 {
					break
				}
				got = append(got, k)
				rest = rest[n:]
			}
		}
		if got = append(got, keys(rest)...); !cmp.Equal(got, keys(b)) {
			t.Errorf("in pieces %+v, at once %+v", got, keys(b))
		}
	})
}

// typed gives the keys to an editor and returns its text with the cursor as |.
func typed(e *Editor, input string) (string, Result) {
	r := Edited
	for _, k := range keys([]byte(input)) {
		r = e.Key(k)
	}
	return string(e.text[:e.pos]) + "|" + string(e.text[e.pos:]), r
}

func TestEditor(t *testing.T) {
	const left, right, home, end, word = "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x1bb"
	for _, c := range []struct {
		keys, want string
		result     Result
	}{
		{"ab" + left + "x", "ax|b", Edited},
		{"ab" + home + "x" + end + "y", "xaby|", Edited},
		{"ab" + left + left + left + "\x7f\x1b[3~", "|b", Edited},
		{"one two" + word + "\x17", "|two", Edited},
		{"one two" + home + "\x1bf\x0b", "one|", Edited},
		{"one two\x15", "|", Edited},
		{"a\\\rb\r", "a\nb|", Submitted},
		{"a\\\r" + left + "\r", "a|\n", Submitted},
		{"a\x1b\rb\x1b[A", "a|\nb", Edited},
		{"abc\x1b\rd\x1b[A\x1b[F\x1b[Bx", "abc\ndx|", Edited},
		{"a\x03", "|", Discarded},
		{"\x03", "|", Interrupted},
		{"\x04", "|", Ended},
		{"ab" + left + "\x04", "a|", Edited},
		{"\x1b[A", "old 2|", Edited},
		{"new\x1b[A\x1b[A\x1b[A", "old 1|", Edited},
		{"new\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B", "new|", Edited},
		{"/s\t", "/st|", Edited},
		{"/st\t", "/st|", Ambiguous},
		{"/stat\t", "/status |", Edited},
		{"/x\t", "/x|", Edited},
	} {
		e := &Editor{Complete: func(before string) (list []string) {
			for _, name := range []string{"/status", "/steer"} {
				if strings.HasPrefix(name, before) {
					list = append(list, name)
				}
			}
			return list
		}}
		e.Remember("old 1")
		e.Remember("old 2")
		e.Remember("old 2")
		e.Remember("")
		e.Reset()
		if got, r := typed(e, c.keys); got != c.want || r != c.result {
			t.Errorf("%q gives %q, %v; want %q, %v", c.keys, got, r, c.want, c.result)
		}
	}
}

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		keys       string
		wide, high int
		want       picture
	}{
		{"", 20, 10, picture{[]string{"› "}, 0, 2}},
		{"ab\x1b[D", 20, 10, picture{[]string{"› ab"}, 0, 3}},
		{"世界x", 20, 10, picture{[]string{"› 世界x"}, 0, 7}},
		{"世界\x1b[D", 20, 10, picture{[]string{"› 世界"}, 0, 4}},
		{"e\u0301x", 20, 10, picture{[]string{"› e\u0301x"}, 0, 4}},
		{"abcdefg", 10, 10, picture{[]string{"› abcdefg", "  "}, 1, 2}},
		{"abcdef世", 10, 10, picture{[]string{"› abcdef", "  世"}, 1, 4}},
		{"a\x1b\r\x1b\rb", 20, 10, picture{[]string{"› a", "  ", "  b"}, 2, 3}},
		{"a\x1b\rb\x1b\rc\x1b\rd\x1b\re", 20, 4, picture{[]string{"  c", "  d", "  e"}, 2, 3}},
		{"a\x1b\rb\x1b\rc\x1b\rd\x1b\re\x1b[A\x1b[A\x1b[A\x1b[A", 20, 4, picture{[]string{"› a", "  b", "  c"}, 0, 3}},
		{"\x1b[200~\ta\x1b[201~", 20, 10, picture{[]string{"›     a"}, 0, 7}},
	} {
		e := &Editor{}
		typed(e, c.keys)
		if got := e.paint("› ", c.wide, c.high); !cmp.Equal(got, c.want, cmp.AllowUnexported(picture{})) {
			t.Errorf("%q gives %+v, want %+v", c.keys, got, c.want)
		}
	}
}

// TestPaintFits: no row reaches the last column, and no picture is higher than
// the terminal.
func TestPaintFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Editor{}
		e.insert(rapid.StringOf(rapid.SampledFrom([]rune("ab 世\n\té\u0301😀"))).Draw(t, "text"))
		e.pos = rapid.IntRange(0, len(e.text)).Draw(t, "pos")
		wide, high := rapid.IntRange(12, 40).Draw(t, "wide"), rapid.IntRange(2, 12).Draw(t, "high")
		p := e.paint("› ", wide, high)
		if len(p.rows) >= high || p.row >= len(p.rows) || p.col >= wide {
			t.Fatalf("%d rows, cursor %d %d", len(p.rows), p.row, p.col)
		}
		for _, row := range p.rows {
			used := 0
			for _, r := range row {
				used += columns(r)
			}
			if used >= wide {
				t.Fatalf("%q takes %d of %d columns", row, used, wide)
			}
		}
	})
}

func TestClean(t *testing.T) {
	if got := Clean("a\x1b[2J\u009b\tb\nc\r\u202ed"); got != "a\uFFFD[2J\uFFFD\tb\nc\uFFFD\uFFFDd" {
		t.Errorf("%q", got)
	}
	if got := CleanLine("a\tb\nc"); got != "a\uFFFDb\uFFFDc" {
		t.Errorf("%q", got)
	}
	for in, want := range map[string]string{"abcdef": "abcdef", "abcdefg": "abcde…", "世界世": "世界世", "世界世界": "世界…", "": ""} {
		if got := Shorten(in, 6); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
