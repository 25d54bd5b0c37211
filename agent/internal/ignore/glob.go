package ignore

import "strings"

// matchName matches one name against one glob: *, ?, [classes] and backslashes, byte by byte as Git does.
func matchName(glob, name string) bool {
	if !strings.ContainsAny(glob, `*?[\`) {
		return glob == name
	}
	backGlob, backName := -1, 0
	g, n := 0, 0
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			backGlob, backName = g, n
			g++
			continue
		}
		if width, ok := matchByte(glob[g:], name[n]); ok {
			g += width
			n++
			continue
		}
		if backGlob < 0 {
			return false
		}
		backName++
		g, n = backGlob+1, backName
	}
	return strings.Trim(glob[g:], "*") == ""
}

// matchByte matches one byte against the front of a glob and says how long that front is.
func matchByte(glob string, c byte) (width int, ok bool) {
	if glob == "" {
		return 0, false
	}
	switch glob[0] {
	case '?':
		return 1, true
	case '\\':
		return 2, len(glob) > 1 && glob[1] == c
	case '[':
		return matchClass(glob, c)
	}
	return 1, glob[0] == c
}

// matchClass matches [abc], [a-z], [!a], [^a], [[:alpha:]]; one that does not end matches nothing.
func matchClass(glob string, c byte) (width int, ok bool) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		if i >= len(glob) {
			return 0, false
		}
		if glob[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if strings.HasPrefix(glob[i:], "[:") {
			name, _, closed := strings.Cut(glob[i+2:], ":]")
			if closed && !strings.Contains(name, "]") {
				in, known := inClass(name, c)
				if !known {
					return 0, false
				}
				ok = ok || in
				i += len(name) + 4
				continue
			}
		}
		low, next := classByte(glob, i)
		if next == 0 {
			return 0, false
		}
		high := low
		if next+1 < len(glob) && glob[next] == '-' && glob[next+1] != ']' {
			if high, next = classByte(glob, next+1); next == 0 {
				return 0, false
			}
		}
		ok = ok || low <= c && c <= high
		i = next
	}
}

// classByte is the byte that stands at i in a class, and where the next one begins; 0 when the glob ends.
func classByte(glob string, i int) (c byte, next int) {
	if glob[i] == '\\' {
		i++
	}
	if i >= len(glob) {
		return 0, 0
	}
	return glob[i], i + 1
}

func inClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := ' ' < c && c < 0x7f
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
