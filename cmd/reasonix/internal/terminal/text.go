package terminal

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// replacement stands for a character that is not shown.
const replacement = '\uFFFD'

// Clean makes text of others harmless: what steers a terminal, or changes the
// order in which text is shown, becomes visible. Tabs and line ends stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && harmful(r) {
			return replacement
		}
		return r
	}, text)
}

// CleanLine is Clean for what has to stay on one line.
func CleanLine(text string) string {
	return strings.Map(func(r rune) rune {
		if harmful(r) {
			return replacement
		}
		return r
	}, text)
}

// columns is how many cells of a terminal a character takes.
func columns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Shorten cuts a line that takes more than the given columns, and shows that.
func Shorten(line string, max int) string {
	used, cut := 0, 0
	for i, r := range line {
		w := columns(r)
		if used+w > max {
			return line[:cut] + "…"
		}
		if used += w; used < max {
			cut = i + len(string(r))
		}
	}
	return line
}
