package turn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// joiner makes whole characters of text that comes in pieces: the start of a character at the end of one piece waits for
// the next piece. Bytes that are no UTF-8 become U+FFFD.
type joiner struct {
	open string // the start of a character, at most 3 bytes
}

func (j *joiner) next(piece string) string {
	s := j.open + piece
	whole := len(s) - openBytes(s)
	j.open = s[whole:]
	return strings.ToValidUTF8(s[:whole], "\uFFFD")
}

// rest is what is left when nothing more comes.
func (j *joiner) rest() string {
	s := j.open
	j.open = ""
	return strings.ToValidUTF8(s, "\uFFFD")
}

// openBytes counts the bytes at the end of s that begin a character without ending it.
func openBytes(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// clip keeps at most limit bytes of s, whole characters, and says how many it dropped.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s\n… (%d bytes dropped)", s[:end], len(s)-end)
}
