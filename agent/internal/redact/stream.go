package redact

import (
	"strings"
	"unicode/utf8"
)

// How much of a text that does not end a line a Stream holds back at most, and how much of it when it has to give some out.
const (
	maxHeld  = 64 << 10
	keepHeld = 16 << 10
)

// Stream redacts a text that comes in pieces. It gives out whole lines, so that nothing is missed at the border of two pieces;
// what comes out together is what Text makes of the whole, as long as lines and private keys are shorter than 48 KiB. A longer
// secret is hidden all the same, as is every literal one; of a longer line other secrets can be missed where it is parted.
// It is for one goroutine.
type Stream struct {
	r       *Redactor
	held    string
	swallow bool // a secret without end is going on: nothing is given out before white space
}

// NewStream begins a text.
func (r *Redactor) NewStream() *Stream { return &Stream{r: r} }

// Write adds a piece and returns what can be given out, perhaps nothing.
func (s *Stream) Write(piece string) string {
	s.held += piece
	if s.swallow && !s.endSwallow() {
		return ""
	}
	end := strings.LastIndexByte(s.held, '\n') + 1
	if end == 0 && len(s.held) <= maxHeld {
		return ""
	}
	spans := s.r.find(s.held)
	end = s.safe(end, spans)
	if len(s.held)-end > maxHeld {
		end = s.force(max(end, len(s.held)-keepHeld), spans)
	}
	return s.give(end)
}

// Flush returns what is left. The Stream can be used for another text.
func (s *Stream) Flush() string {
	if s.swallow {
		s.endSwallow()
	}
	out := s.r.Text(s.held)
	s.held, s.swallow = "", false
	return out
}

// give gives out the first n bytes of what is held.
func (s *Stream) give(n int) string {
	out := s.r.Text(s.held[:n])
	s.held = strings.Clone(s.held[n:])
	return out
}

// safe moves the end of a line back until no secret goes across it: none of those found, no private key that has only begun,
// no literal with several lines.
func (s *Stream) safe(end int, spans []span) int {
	for end > 0 {
		before := end
		for _, hit := range spans {
			if hit.from < end && (hit.to > end || hit.to == end && hit.to == len(s.held)) {
				end = hit.from
			}
		}
		if i := strings.LastIndex(s.held[:end], pemBegin); i >= 0 && !strings.Contains(s.held[i:end], "-----END ") && pemOpen(s.held[i:end]) {
			end = i
		}
		for _, literal := range s.r.literals {
			end -= heldBack(s.held[:end], literal)
		}
		if end == before {
			break
		}
		end = strings.LastIndexByte(s.held[:end], '\n') + 1
	}
	return end
}

// pemOpen reports whether more text could make this beginning a private key.
func pemOpen(s string) bool {
	title := strings.Index(s[len(pemBegin):min(len(s), len(pemBegin)+80)], "-----")
	return title < 0 || strings.Contains(s[:len(pemBegin)+title], "PRIVATE KEY")
}

// heldBack counts the bytes at the end of s that may begin the literal.
func heldBack(s, literal string) int {
	for n := min(len(literal)-1, len(s)); n > 0; n-- {
		if s[len(s)-n] == literal[0] && strings.HasSuffix(s, literal[:n]) {
			return n
		}
	}
	return 0
}

// force finds an end near the wanted one in a line that is too long: white space or at least the border of a character, not
// within a secret and not within the beginning of a literal one. A secret that goes on to the end of what there is is given out
// as a mark now, and the rest of it is dropped as it comes.
func (s *Stream) force(end int, spans []span) int {
	if i := strings.LastIndexAny(s.held[:end], " \t\r\n"); i > end/2 {
		end = i + 1
	}
	for end > 0 && !utf8.RuneStart(s.held[end]) {
		end--
	}
	for _, hit := range spans {
		if hit.from < end && hit.to > end {
			s.swallow = hit.to == len(s.held)
			return hit.to
		}
	}
	for _, literal := range s.r.literals {
		end -= heldBack(s.held[:end], literal)
	}
	return end
}

// endSwallow drops what belongs to the secret that goes on, and reports whether it has ended.
func (s *Stream) endSwallow() bool {
	i := strings.IndexAny(s.held, " \t\r\n\"'`")
	if i < 0 {
		s.held = ""
		return false
	}
	s.held, s.swallow = s.held[i:], false
	return true
}
