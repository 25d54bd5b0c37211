package redact

import "strings"

// scan finds what looks like a secret. It goes through s once; each rule looks ahead to the end of what it hides, or a bounded
// number of bytes.
func scan(s string) (spans []span) {
	hide := func(from, to int) int {
		spans = append(spans, span{from, to})
		return to
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isWord(c):
			end := wordEnd(s, i)
			from, to := word(s, wordStart(s, i, end), end)
			if to == 0 {
				i = end
				continue
			}
			i = max(hide(from, to), end)
		case c == '-' && strings.HasPrefix(s[i:], pemBegin):
			if to := pemEnd(s, i); to > 0 {
				i = hide(i, to)
			} else {
				i += len(pemBegin)
			}
		case c == '*':
			end := i
			for end < len(s) && s[end] == '*' {
				end++
			}
			if from, to := masked(s, i, end); to > 0 {
				i = hide(from, to)
			} else {
				i = end
			}
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			i += len("://")
			if to := userInfo(s, i); to > 0 {
				i = hide(i, to)
			}
		case c == '-': // a run of them, which is no word
			for i++; i < len(s) && s[i] == '-' && !strings.HasPrefix(s[i:], pemBegin); {
				i++
			}
		default:
			i++
		}
	}
	return spans
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isWord: the bytes of a word. A hyphen is one behind the first.
func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

func wordEnd(s string, i int) int {
	for i < len(s) && (isWord(s[i]) || s[i] == '-') {
		if s[i] == '-' && strings.HasPrefix(s[i:], pemBegin) {
			break
		}
		i++
	}
	return i
}

// wordStart passes over what is stuck to the front of a word without being part of it: the letter of an escape such as \n, the
// digits of \u0022 and %3D, the end of a colour sequence of a terminal.
func wordStart(s string, i, end int) int {
	if i == 0 {
		return i
	}
	n := 0
	switch c := s[i]; s[i-1] {
	case '\\':
		switch {
		case c == 'u' || c == 'U':
			n = 5
		case c == 'x':
			n = 3
		case strings.IndexByte("abefnrtv", c) >= 0:
			n = 1
		case c >= '0' && c <= '7':
			n = 3
		}
	case '%':
		n = 2
	case '[', ';':
		for n < end-i && isDigit(s[i+n]) {
			n++
		}
		if n < end-i && s[i+n] == 'm' {
			n++
		} else {
			n = 0
		}
	}
	if n > end-i {
		return i
	}
	return i + n
}

const pemBegin = "-----BEGIN "

// pemEnd is the end of the private key that begins at i, 0 when there is none: other blocks, and texts that only speak of one.
// A key without its last line goes to the end of the text.
func pemEnd(s string, i int) int {
	line := s[i+len(pemBegin):]
	line = line[:min(len(line), 80)]
	title := strings.Index(line, "-----")
	if title < 0 || !strings.HasSuffix(line[:title], "PRIVATE KEY") && !strings.HasSuffix(line[:title], "PRIVATE KEY BLOCK") {
		return 0
	}
	body := i + len(pemBegin) + title + len("-----")
	at := body
	for at < len(s) && at < body+64 { // white space, also escaped
		switch {
		case strings.IndexByte(" \t\r\n\"'+,", s[at]) >= 0:
			at++
		case s[at] == '\\':
			at += 2
		default:
			goto content
		}
	}
content:
	at = min(at, len(s))
	n := 0
	for at+n < len(s) && n < 16 && (isWord(s[at+n]) || strings.IndexByte("+/=-:.", s[at+n]) >= 0) {
		n++
	}
	if n < 8 && at < len(s) {
		return 0
	}
	rest := strings.Index(s[body:], "-----END ")
	if rest < 0 {
		return len(s)
	}
	end := body + rest + len("-----END ")
	if n := strings.Index(s[end:min(len(s), end+80)], "-----"); n >= 0 {
		return end + n + len("-----")
	}
	return end
}

// masked is what is left of a key in messages of providers: stars and the end of the key, perhaps its beginning too.
func masked(s string, from, end int) (int, int) {
	tail := end
	for tail < len(s) && tail < end+64 && (isLetter(s[tail]) || isDigit(s[tail])) {
		tail++
	}
	n := tail - end
	if end-from < 4 || n < 2 || n > 12 || tail < len(s) && (s[tail] == '*' || s[tail] == '_') {
		return 0, 0
	}
	if from > 0 && s[from-1] == '/' { // a comment in code
		return 0, 0
	}
	first := from
	for first > 0 && first > from-64 && (isWord(s[first-1]) || s[first-1] == '-') {
		first--
	}
	return wordStart(s, first, from), tail
}

// userInfo is the end of what stands before the @ of a URL, whose host begins at i; 0 when nothing has to be hidden. A name
// without password, as in ssh://git@host, is no secret.
func userInfo(s string, i int) int {
	at, end := -1, i
	for ; end < len(s) && strings.IndexByte("/?# \t\r\n\"'<>`\\|,", s[end]) < 0; end++ {
		if s[end] == '@' {
			at = end
		}
	}
	if at < 0 || s[i:at] == Mark {
		return 0
	}
	info := s[i:at]
	if strings.IndexByte(info, ':') < 0 && !opaque(info) {
		return 0
	}
	if strings.HasPrefix(info, "$") || strings.HasPrefix(info, "{") { // a template
		return 0
	}
	return at
}
