package transcript

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	uuidRE = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	timeRE = regexp.MustCompile(`\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)`) // RFC 3339
	nameRE = regexp.MustCompile(`\$(WORK|(?:session|message|id)[0-9]+)\b`)
)

// minInText is how long a session id must be before it is also replaced inside longer strings: "s1" would be found in
// any prose. Whole values of a member named sessionId are replaced whatever their length.
const minInText = 8

// names knows which values are volatile and what they are called. One goroutine uses it.
type names struct {
	paths   []string        // every spelling of the work directory, longest first
	literal map[string]bool // what the script spells out itself, and so is not volatile
	masks   map[string]bool // member names whose values are not shown

	sessions, messages, ids map[string]string // value → name without its dollar sign
	values                  map[string]string // name without its dollar sign → value

	given []given // values that the caller has named, longest first

	long   []string // what longSessions returned last,
	longOf int      // when there were so many sessions
}

// given is a value that has its name from the start.
type given struct {
	value, name string
	re          *regexp.Regexp // finds the name with its dollar sign
}

// call calls value by a name of the caller's own.
func (n *names) call(name, value string) {
	n.given = append(n.given, given{value, name, regexp.MustCompile(`\$` + regexp.QuoteMeta(name) + `\b`)})
	slices.SortFunc(n.given, func(a, b given) int { return cmp.Or(len(b.value)-len(a.value), strings.Compare(a.name, b.name)) })
}

// newNames reads literals and masks off the script. Work is an absolute path.
func newNames(s *Script, work string) *names {
	n := &names{literal: s.literals(), masks: map[string]bool{}, sessions: map[string]string{}, messages: map[string]string{},
		ids: map[string]string{}, values: map[string]string{"WORK": work}}
	for _, m := range s.Masks {
		n.masks[m] = true
	}
	if work == filepath.Dir(work) {
		return n // the root stands in every path
	}
	n.paths = []string{work}
	// An agent that resolves symlinks (macOS: /var → /private/var) says the other spelling.
	if resolved, err := filepath.EvalSymlinks(work); err == nil && resolved != work {
		n.paths = append(n.paths, resolved)
	}
	slices.SortFunc(n.paths, func(a, b string) int { return len(b) - len(a) })
	return n
}

// capture gives names to what appears for the first time in a message of the agent. With early set, the text of a chunk
// and ids in a sessionId member outside a result are left for later: the first because it may be cut differently next
// time, the second because the result that makes it a session may be still to come.
func (n *names) capture(root *value, isChunk, early bool) {
	n.captureMembers(root.get("result"), true)
	n.captureMembers(root, false)
	root.walk("", "", func(parent, name string, v *value) bool {
		if n.masks[name] {
			return false
		}
		for _, k := range v.kids {
			n.captureUUIDs(unquote(k.name))
		}
		s, ok := v.text()
		switch {
		case !ok || early && isChunk && parent == "content" && name == "text":
		case isID(name, "sessionId"):
			if !early && uuidRE.FindString(s) == s {
				n.give(n.sessions, "session", s)
			}
		default:
			n.captureUUIDs(s)
		}
		return true
	})
}

// captureMembers names session ids (sessions set) or message ids, which are known by their member.
func (n *names) captureMembers(root *value, sessions bool) {
	if root == nil {
		return
	}
	root.walk("", "", func(_, name string, v *value) bool {
		if n.masks[name] {
			return false
		}
		s, ok := v.text()
		switch {
		case !ok:
		case sessions && name == "sessionId":
			n.give(n.sessions, "session", s)
		case !sessions && isID(name, "messageId"):
			n.give(n.messages, "message", s)
		}
		return true
	})
}

func (n *names) captureUUIDs(s string) {
	for _, at := range uuids(s) {
		if id := s[at[0]:at[1]]; bounded(s, at[0], at[1]) && n.sessions[id] == "" && n.messages[id] == "" {
			n.give(n.ids, "id", id)
		}
	}
}

// give calls value by the next name of a kind, unless it has one, is empty, or stands in the script.
func (n *names) give(kind map[string]string, prefix, value string) {
	if value == "" || kind[value] != "" || n.literal[value] {
		return
	}
	name := fmt.Sprintf("%s%d", prefix, len(kind)+1)
	kind[value] = name
	n.values[name] = value
}

// normalise replaces what is volatile in a string, which is the value of the member name inside the member parent.
func (n *names) normalise(parent, name, s string) string {
	switch {
	case isID(name, "sessionId") && n.sessions[s] != "":
		return "$" + n.sessions[s]
	case isID(name, "messageId") && n.messages[s] != "":
		return "$" + n.messages[s]
	case name == "version" && parent == "agentInfo":
		return "$version"
	}
	for _, g := range n.given {
		if strings.Contains(s, g.value) {
			s = replaceAll(s, spans(s, g.value), func(string) string { return "$" + g.name })
		}
	}
	for _, p := range n.paths {
		s = replacePath(s, p)
	}
	for _, id := range n.longSessions() {
		s = replaceAll(s, spans(s, id), func(string) string { return "$" + n.sessions[id] })
	}
	s = replaceAll(s, uuids(s), func(id string) string {
		for _, kind := range []map[string]string{n.messages, n.ids} {
			if called := kind[id]; called != "" {
				return "$" + called
			}
		}
		return id
	})
	return replaceAll(s, times(s), func(t string) string {
		if n.literal[t] {
			return t
		}
		return "$time"
	})
}

// longSessions are the session ids that are looked for inside strings, the longest first, since one id may begin with
// another.
func (n *names) longSessions() []string {
	if n.longOf != len(n.sessions) {
		n.long, n.longOf = nil, len(n.sessions)
		for id := range n.sessions {
			if len(id) >= minInText {
				n.long = append(n.long, id)
			}
		}
		slices.SortFunc(n.long, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return n.long
}

// mask returns what stands in place of the value of a masked member.
func (n *names) mask(name string) (token string, ok bool) {
	return quote("$" + name), n.masks[name]
}

// expand puts values for the names in a line of the script. A name that looks like one of ours and has no value yet is an
// error: the script would otherwise send it as it stands and fail somewhere else.
func (n *names) expand(s string, spell func(string) string) (string, error) {
	for _, g := range n.given {
		s = g.re.ReplaceAllStringFunc(s, func(string) string { return spell(g.value) })
	}
	var missing []string
	out := nameRE.ReplaceAllStringFunc(s, func(name string) string {
		v, ok := n.values[name[1:]]
		if !ok {
			missing = append(missing, name)
			return name
		}
		return spell(v)
	})
	if missing == nil {
		return out, nil
	}
	known := make([]string, 0, len(n.values))
	for name := range n.values {
		known = append(known, "$"+name)
	}
	slices.Sort(known)
	return "", fmt.Errorf("%s: nothing has that name yet (names so far: %s)", strings.Join(missing, ", "), strings.Join(known, ", "))
}

// isID reports whether a member is named id, or ends in it: parentSessionId is a sessionId.
func isID(name, id string) bool {
	return name == id || strings.HasSuffix(name, strings.ToUpper(id[:1])+id[1:])
}

// replacePath puts $WORK for path, unless a longer name just begins like it.
func replacePath(s, path string) string {
	if !strings.Contains(s, path) {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, path)
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case after != "" && (alnum(after[0]) || after[0] == '_' || after[0] == '-'):
			b.WriteString(path)
		default:
			b.WriteString("$WORK")
		}
		s = after
	}
}

// uuids and times return where such values stand in s. Most text has none, and a regexp over megabytes is slow.
func uuids(s string) [][]int {
	if strings.Count(s, "-") < 4 {
		return nil
	}
	return uuidRE.FindAllStringIndex(s, -1)
}

func times(s string) [][]int {
	if strings.Count(s, ":") < 2 {
		return nil
	}
	return timeRE.FindAllStringIndex(s, -1)
}

// spans returns where old stands in s.
func spans(s, old string) (at [][]int) {
	for start := 0; ; {
		i := strings.Index(s[start:], old)
		if i < 0 {
			return at
		}
		at = append(at, []int{start + i, start + i + len(old)})
		start += i + len(old)
	}
}

// replaceAll puts with(span) for the spans of s that do not touch a letter or digit.
func replaceAll(s string, at [][]int, with func(string) string) string {
	var b strings.Builder
	last := 0
	for _, at := range at {
		if bounded(s, at[0], at[1]) {
			b.WriteString(s[last:at[0]] + with(s[at[0]:at[1]]))
			last = at[1]
		}
	}
	if last == 0 {
		return s
	}
	return b.String() + s[last:]
}

func bounded(s string, start, end int) bool {
	return (start == 0 || !alnum(s[start-1])) && (end == len(s) || !alnum(s[end]))
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
