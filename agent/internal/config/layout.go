package config

import (
	"strconv"
	"strings"
)

// maxDepth bounds how deep a value stands in the document, by tables, dotted keys
// and brackets together. The TOML library recurses per nesting level and needs
// quadratic memory for long dotted keys: 40 kB of "a." takes all memory of the
// machine, and a project file is not trusted. So this scan runs first.
const maxDepth = 16

// statementKind tells the three things apart that stand on a line of TOML.
type statementKind int

const (
	pairStatement    statementKind = iota // key = value
	tableStatement                        // [key]
	elementStatement                      // [[key]]
)

// statement is one header or one key with its value, as it stands in the text.
// Offsets are bytes; end excludes a trailing comment and the newline.
type statement struct {
	kind       statementKind
	key        []string
	path       string // pathKey of where it stands in the document
	line       int
	start, end int
	value      int // where a pair's value starts
}

// layout is where things stand in a file: the TOML library tells values but not
// positions. It is only meaningful for text that the library accepts; for other
// text it is merely harmless.
type layout struct {
	statements []statement
	lines      map[string]int // pathKey → line of the first statement about it
}

// pathKey joins segments; elementSegment(i) is the i-th element of an array of tables.
func pathKey(segments ...string) string { return strings.Join(segments, "\x00") }

func elementSegment(i int) string { return "\x01" + strconv.Itoa(i) }

func isElement(segment string) bool { return strings.HasPrefix(segment, "\x01") }

// line finds the line of a path, or of the nearest thing around it that has one.
func (l *layout) line(path ...string) int {
	for n := len(path); n > 0; n-- {
		if line, ok := l.lines[pathKey(path[:n]...)]; ok {
			return line
		}
	}
	return 0
}

// scanLayout walks the text once. tooDeep is the line that exceeds maxDepth, else 0.
// It reads strings, comments and brackets as the TOML library does, and where
// the text is not TOML it goes on at the next line.
func scanLayout(text string) (l *layout, tooDeep int) {
	s := &scanner{src: text, line: 1, elements: map[string]int{}, out: layout{lines: map[string]int{}}}
	s.pos = len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	for s.pos < len(s.src) && s.tooDeep == 0 {
		switch s.src[s.pos] {
		case ' ', '\t', '\r':
			s.pos++
		case '\n':
			s.pos++
			s.line++
		case '#':
			s.skipLine()
		case '[':
			s.header()
		default:
			s.pair()
		}
	}
	return &s.out, s.tooDeep
}

type scanner struct {
	src      string
	pos      int
	line     int
	tooDeep  int
	table    []string       // path of the table the last header opened
	elements map[string]int // pathKey of an array of tables → its elements so far
	out      layout
}

func (s *scanner) add(st statement, path []string) {
	st.path = pathKey(path...)
	s.out.statements = append(s.out.statements, st)
	for n := len(path); n > 0; n-- { // a.b = 1 also begins a
		name := pathKey(path[:n]...)
		if _, ok := s.out.lines[name]; ok {
			break
		}
		s.out.lines[name] = st.line
	}
}

func (s *scanner) header() {
	st := statement{kind: tableStatement, line: s.line, start: s.pos}
	s.pos++
	if strings.HasPrefix(s.src[s.pos:], "[") {
		st.kind = elementStatement
		s.pos++
	}
	st.key = s.key()
	var path []string
	for i, segment := range st.key {
		path = append(path, segment)
		name := pathKey(path...)
		if st.kind == elementStatement && i == len(st.key)-1 {
			s.elements[name]++
		}
		if n := s.elements[name]; n > 0 {
			path = append(path, elementSegment(n-1))
		}
	}
	for s.pos < len(s.src) && s.src[s.pos] == ']' {
		s.pos++
	}
	st.end = s.pos
	s.table = path
	s.add(st, path)
	s.skipLine()
}

func (s *scanner) pair() {
	st := statement{kind: pairStatement, line: s.line, start: s.pos}
	st.key = s.key()
	if s.pos >= len(s.src) || s.src[s.pos] != '=' {
		s.skipLine() // not TOML
		return
	}
	s.pos++
	for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t') {
		s.pos++
	}
	st.value = s.pos
	s.skipValue(len(s.table) + len(st.key))
	st.end = st.value + len(strings.TrimRight(s.src[st.value:s.pos], " \t\r"))
	path := append(append([]string{}, s.table...), st.key...)
	s.add(st, path)
}

// key reads dotted segments up to '=', ']' or whatever cannot be part of a key.
func (s *scanner) key() []string {
	var key []string
	for s.pos < len(s.src) {
		start := s.pos
		switch c := s.src[s.pos]; {
		case c == ' ' || c == '\t' || c == '.':
			s.pos++
		case c == '"' || c == '\'':
			s.skipString()
			key = append(key, unquoteKey(s.src[start:s.pos]))
		case strings.IndexByte("=]\n#[{},\r", c) >= 0:
			return key
		default:
			for s.pos < len(s.src) && strings.IndexByte(" \t.=]\n#[{},\r\"'", s.src[s.pos]) < 0 {
				s.pos++
			}
			key = append(key, s.src[start:s.pos])
		}
		if len(key) > maxDepth {
			s.tooDeep = s.line
			return key
		}
	}
	return key
}

// skipValue moves behind a value, which may span lines inside brackets or strings.
// depth is that of its key.
func (s *scanner) skipValue(depth int) {
	var open []int // depth before each open bracket
	outer := depth // depth of the innermost bracket; above it are dotted keys
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case '"', '\'':
			s.skipString()
			continue
		case '#':
			if len(open) == 0 {
				return
			}
			s.skipLine()
			continue
		case '\n':
			if len(open) == 0 {
				return
			}
			s.line++
		case '[', '{':
			open = append(open, outer)
			depth++
			outer = depth
		case ']', '}':
			if n := len(open); n > 0 {
				outer, open = open[n-1], open[:n-1]
			}
			depth = outer
		case ',':
			depth = outer
		case '.': // a dotted key of an inline table; a fraction does no harm
			depth++
		}
		if depth > maxDepth {
			s.tooDeep = s.line
			return
		}
		s.pos++
	}
}

// skipString moves behind a string of any of the four kinds. One that is never
// closed ends at the line's end, or at the file's for a multi-line string.
func (s *scanner) skipString() {
	quote := s.src[s.pos]
	triple := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(s.src[s.pos:], triple) {
		s.pos += 3
		for s.pos < len(s.src) && !strings.HasPrefix(s.src[s.pos:], triple) {
			s.skipRune(quote)
		}
		s.pos = min(s.pos+3, len(s.src))
		// Up to two quotes may stand right before the closing three.
		for n := 0; n < 2 && s.pos < len(s.src) && s.src[s.pos] == quote; n++ {
			s.pos++
		}
		return
	}
	s.pos++
	for s.pos < len(s.src) && s.src[s.pos] != quote {
		if s.src[s.pos] == '\n' {
			return
		}
		s.skipRune(quote)
	}
	s.pos = min(s.pos+1, len(s.src))
}

// skipRune moves one character on inside a string, an escape counting as one.
func (s *scanner) skipRune(quote byte) {
	if s.src[s.pos] == '\\' && quote == '"' && s.pos+1 < len(s.src) {
		s.pos++
	}
	if s.src[s.pos] == '\n' {
		s.line++
	}
	s.pos++
}

func (s *scanner) skipLine() {
	if n := strings.IndexByte(s.src[s.pos:], '\n'); n >= 0 {
		s.pos += n
		return
	}
	s.pos = len(s.src)
}

// unquoteKey yields the name a quoted key stands for. A key with an escape that
// Go does not share is left as it is: it then has no line, nothing worse.
func unquoteKey(quoted string) string {
	if len(quoted) >= 2 && quoted[0] == '\'' {
		return strings.Trim(quoted, "'")
	}
	if name, err := strconv.Unquote(quoted); err == nil {
		return name
	}
	return quoted
}
