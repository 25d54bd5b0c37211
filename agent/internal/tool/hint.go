package tool

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

const (
	hintLines = 20000 // lines of a file that are compared when looking for the nearest one
	hintLine  = 200   // bytes of a line that are compared and shown
)

// hint says why a piece was not found, as far as that can be seen, with what stands there instead. It is a clause that
// continues a sentence.
func hint(text, piece string) string {
	if numbered(piece) {
		return "; it seems to contain the line numbers that read_file puts in front"
	}
	lines := strings.Split(toLF(text), "\n")
	wanted := strings.Split(strings.Trim(toLF(piece), "\n"), "\n")
	if n := likeButSpace(lines, wanted); n >= 0 {
		return fmt.Sprintf("; line %d differs from it only in white space: %q", n+1, shorten(lines[n], hintLine))
	}
	want := longest(wanted)
	if strings.TrimSpace(want) == "" {
		return ""
	}
	best, at := 0.5, -1
	pairs := bigrams(want)
	for i, line := range lines[:min(len(lines), hintLines)] {
		if s := similarity(pairs, bigrams(line)); s > best {
			best, at = s, i
		}
	}
	switch {
	case at < 0:
		return ""
	case strings.TrimSpace(lines[at]) == strings.TrimSpace(want) && len(wanted) > 1:
		return fmt.Sprintf("; its line %q stands at line %d, but the lines around it differ", shorten(strings.TrimSpace(want), hintLine), at+1)
	}
	return fmt.Sprintf("; the nearest is line %d: %q", at+1, shorten(lines[at], hintLine))
}

// numbered reports whether each line starts as those of read_file do.
func numbered(piece string) bool {
	number := regexp.MustCompile(`^ *[0-9]+\t`)
	for line := range strings.Lines(piece) {
		if !number.MatchString(line) {
			return false
		}
	}
	return piece != ""
}

// likeButSpace finds the lines in the text, white space aside, and returns the first one's index, or -1.
func likeButSpace(lines, wanted []string) int {
	squeezed := make([]string, len(wanted))
	blank := true
	for i, line := range wanted {
		squeezed[i] = squeeze(line)
		blank = blank && squeezed[i] == ""
	}
	if blank {
		return -1
	}
search:
	for i := 0; i+len(wanted) <= len(lines); i++ {
		for j, want := range squeezed {
			if squeeze(lines[i+j]) != want {
				continue search
			}
		}
		return i
	}
	return -1
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// longest is the line that says most.
func longest(lines []string) (found string) {
	for _, line := range lines {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(found)) {
			found = line
		}
	}
	return found
}

func bigrams(line string) map[[2]byte]int {
	line = strings.TrimSpace(line)
	line = line[:min(len(line), hintLine)]
	pairs := make(map[[2]byte]int, len(line))
	for i := 0; i+1 < len(line); i++ {
		pairs[[2]byte{line[i], line[i+1]}]++
	}
	return pairs
}

// similarity is the share of neighbouring characters that two lines have in common, from 0 to 1.
func similarity(a, b map[[2]byte]int) float64 {
	all, both := 0, 0
	for pair, n := range a {
		all += n
		both += min(n, b[pair])
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}
