package diff

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// List is the differences that are known, each with its reason. Its text:
//
//	# a comment
//	because seed 61: what is deleted is gone
//	  as nobody wants it back            (a reason goes on in lines without bars)
//	  delete | response 10 session/load | /error | {"code":-32602…  | absent
//	  *      | update tool_call         | /update/title | … | …
//
// A reason names what it rests on: "seed N" is a line of the seed's feature list, "TC-08" a rule of the protocol, "wire N" a
// section on Reasonix's own wire, "defect" is one of the real agent, and "not yet" what ours will do. Below it stand
// the differences it explains, five columns each:
//
//   - scenarios: names with commas, or * for any
//   - the key of the line; without the id of a response it is any response to that method, and words at the end may be left
//     out: "status usage" is any phase. But an update needs its kind
//   - the pointer, or - for the line itself; {a,b} is one of some names and * any name, as a whole segment
//   - what ours says, and what theirs: JSON as a difference shows it, or absent; an ellipsis at the end is any rest, and
//     alone any value but absent
//
// The first entry that fits a difference explains it. An entry is stale when for one of its scenarios, or for one of the
// names in braces, nothing is left to explain.
type List struct{ entries []*entry }

type entry struct {
	line         int
	reason       string
	scenarios    []string // empty: any
	key          string
	pointer      []segment
	ours, theirs string
	used         map[string]bool // scenarios, and names in braces with their place
}

type segment []string // alternatives; nil is any

// grounds are the words that a reason must have one of.
var grounds = regexp.MustCompile(`\b(seed [0-9]+|[A-Z]+-[0-9]+|wire [0-9]+|C[0-9]+|DESIGN [0-9]+|defect|not yet)\b`)

// ParseList reads the text of a list.
func ParseList(src []byte) (*List, error) {
	l := &List{}
	reason, open := "", false // open: the reason may go on
	lines := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		text, begins := strings.CutPrefix(line, "because ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case begins:
			reason, open = text, true
		case strings.Contains(line, " | "):
			e, err := parseEntry(line, reason)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			e.line, open = n, false
			l.entries = append(l.entries, e)
		case open:
			reason += " " + line
		default:
			return nil, fmt.Errorf("line %d: neither a reason nor five columns", n)
		}
	}
	return l, lines.Err()
}

func parseEntry(line, reason string) (*entry, error) {
	if !grounds.MatchString(reason) {
		return nil, fmt.Errorf("the reason %q names no seed, wire, DESIGN, rule, defect or what is not yet", reason)
	}
	columns := strings.SplitN(line, " | ", 5)
	if len(columns) != 5 {
		return nil, fmt.Errorf("%d columns, not 5", len(columns))
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	e := &entry{reason: reason, key: columns[1], ours: columns[3], theirs: columns[4], used: map[string]bool{}}
	if columns[0] != "*" {
		for name := range strings.SplitSeq(columns[0], ",") {
			e.scenarios = append(e.scenarios, strings.TrimSpace(name))
		}
	}
	if word, rest, _ := strings.Cut(e.key, " "); word != "exit" && word != "status" && rest == "" || strings.Contains(e.key, "*") {
		return nil, fmt.Errorf("the key %q does not say what message it is", e.key)
	}
	if columns[2] == "-" {
		columns[2] = ""
	} else if !strings.HasPrefix(columns[2], "/") {
		return nil, fmt.Errorf("the pointer %q does not begin with a slash", columns[2])
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(columns[2], "/"), "/") {
		names, braces := strings.CutPrefix(part, "{")
		switch {
		case part == "*":
			e.pointer = append(e.pointer, nil)
		case braces:
			e.pointer = append(e.pointer, strings.Split(strings.TrimSuffix(names, "}"), ","))
		default:
			e.pointer = append(e.pointer, segment{part})
		}
	}
	return e, nil
}

// Unlisted returns the differences that no entry explains, and remembers what each entry was good for.
func (l *List) Unlisted(all []Difference) (unlisted []Difference) {
	for _, d := range all {
		if !slices.ContainsFunc(l.entries, func(e *entry) bool { return e.explains(d) }) {
			unlisted = append(unlisted, d)
		}
	}
	return unlisted
}

// Stale says which entries, or which parts of them, have explained nothing so far.
func (l *List) Stale() (stale []string) {
	for _, e := range l.entries {
		var parts []string
		for _, s := range e.scenarios {
			if !e.used[s] {
				parts = append(parts, "in "+s)
			}
		}
		for i, alternatives := range e.pointer {
			for _, name := range alternatives {
				if !e.used[place(i, name)] {
					parts = append(parts, name)
				}
			}
		}
		if len(e.used) == 0 {
			parts = []string{"anywhere"}
		}
		if parts != nil {
			stale = append(stale, fmt.Sprintf("line %d: no difference %s any more: %s", e.line, strings.Join(parts, ", "), e.reason))
		}
	}
	return stale
}

func place(i int, name string) string { return fmt.Sprintf("%d/%s", i, name) }

// idOfResponse stands in the key of a response.
var idOfResponse = regexp.MustCompile(`^response \S+ `)

func (e *entry) explains(d Difference) bool {
	if e.scenarios != nil && !slices.Contains(e.scenarios, d.Scenario) ||
		!e.keyFits(d.Key) && !e.keyFits(idOfResponse.ReplaceAllString(d.Key, "response ")) || !fits(e.ours, d.Ours) || !fits(e.theirs, d.Theirs) {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(d.Pointer, "/"), "/")
	if len(parts) != len(e.pointer) {
		return false
	}
	for i, alternatives := range e.pointer {
		if alternatives != nil && !slices.Contains(alternatives, parts[i]) {
			return false
		}
	}
	e.used[d.Scenario] = true
	for i, name := range parts {
		e.used[place(i, name)] = true
	}
	return true
}

func (e *entry) keyFits(key string) bool { return key == e.key || strings.HasPrefix(key, e.key+" ") }

func fits(pattern, value string) bool {
	if prefix, open := strings.CutSuffix(pattern, wording); open {
		return value != Absent && strings.HasPrefix(value, prefix)
	}
	return pattern == value
}
