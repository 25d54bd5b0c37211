package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Absent stands for a value that one side does not have.
const Absent = "absent"

// Difference is one place in which two transcripts differ.
type Difference struct {
	Scenario     string
	Key          string // of the line
	Pointer      string // where in the line; "" is the line itself. Elements of a list that have names go by them
	Ours, Theirs string // JSON with sorted members, or Absent
}

// String is the line of a list that explains this difference and no other.
func (d Difference) String() string {
	return strings.Join([]string{d.Scenario, d.Key, cmp.Or(d.Pointer, "-"), d.Ours, d.Theirs}, " | ")
}

// Compare lists the differences between two plays of one script, in their order, each once. It fails when the host did not
// do the same on both sides.
func Compare(scenario string, ours, theirs [][]Line) ([]Difference, error) {
	if len(ours) != len(theirs) {
		return nil, fmt.Errorf("%s: the host sent %d lines to ours, and %d to theirs", scenario, len(ours)-1, len(theirs)-1)
	}
	c := comparison{scenario: scenario}
	for i := range ours {
		c.section(ours[i], theirs[i])
	}
	return c.found, nil
}

type comparison struct {
	scenario string
	key      string
	found    []Difference
}

func (c *comparison) add(pointer, ours, theirs string) {
	d := Difference{c.scenario, c.key, pointer, ours, theirs}
	if !slices.Contains(c.found, d) {
		c.found = append(c.found, d)
	}
}

// section pairs the lines of two sections by their keys, in order, so that as many as possible have a partner.
func (c *comparison) section(ours, theirs []Line) {
	// longest[i][j] is how many pairs there are in ours[i:] and theirs[j:].
	longest := make([][]int, len(ours)+1)
	for i := range longest {
		longest[i] = make([]int, len(theirs)+1)
	}
	for i := len(ours) - 1; i >= 0; i-- {
		for j := len(theirs) - 1; j >= 0; j-- {
			if ours[i].Key == theirs[j].Key {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(ours) || j < len(theirs) {
		switch {
		case i < len(ours) && j < len(theirs) && ours[i].Key == theirs[j].Key:
			c.key = ours[i].Key
			c.line(ours[i].Value, theirs[j].Value)
			i, j = i+1, j+1
		case j == len(theirs) || i < len(ours) && longest[i+1][j] >= longest[i][j+1]:
			c.key = ours[i].Key
			c.add("", text(ours[i].Value), Absent)
			i++
		default:
			c.key = theirs[j].Key
			c.add("", Absent, text(theirs[j].Value))
			j++
		}
	}
}

// line compares two lines. Where one side succeeds and the other fails, the error is all there is to say.
func (c *comparison) line(ours, theirs any) {
	if a, b := at(ours, "error"), at(theirs, "error"); (a == nil) != (b == nil) {
		c.add("/error", orAbsent(a), orAbsent(b))
		return
	}
	c.value("", ours, theirs)
}

func orAbsent(v any) string {
	if v == nil {
		return Absent
	}
	return text(v)
}

func (c *comparison) value(pointer string, ours, theirs any) {
	switch a := ours.(type) {
	case map[string]any:
		if b, ok := theirs.(map[string]any); ok {
			c.members(pointer, a, b)
			return
		}
	case []any:
		if b, ok := theirs.([]any); ok && c.elements(pointer, a, b) {
			return
		}
	}
	if !reflect.DeepEqual(ours, theirs) {
		c.add(pointer, text(ours), text(theirs))
	}
}

func (c *comparison) members(pointer string, ours, theirs map[string]any) {
	names := slices.Sorted(maps.Keys(ours))
	for name := range theirs {
		if _, both := ours[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, isOurs := ours[name]
		b, isTheirs := theirs[name]
		below := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		switch {
		case !isOurs:
			c.add(below, Absent, text(b))
		case !isTheirs:
			c.add(below, text(a), Absent)
		default:
			c.value(below, a, b)
		}
	}
}

// elements compares two lists: by the names of their elements when all have one, else by place when there are as many. It
// is false when they must be compared as a whole.
func (c *comparison) elements(pointer string, ours, theirs []any) bool {
	a, b := byName(ours, theirs)
	if a != nil {
		common := func(list []any, other map[string]any) (names []string) {
			for _, e := range list {
				if name := nameOf(e); other[name] != nil {
					names = append(names, name)
				}
			}
			return names
		}
		if x, y := common(ours, b), common(theirs, a); !slices.Equal(x, y) {
			c.add(pointer, text(x), text(y))
		}
		c.members(pointer, a, b)
		return true
	}
	if len(ours) != len(theirs) {
		return false
	}
	for i := range ours {
		c.value(pointer+"/"+strconv.Itoa(i), ours[i], theirs[i])
	}
	return true
}

// nameOf is what tells an element of a list apart from the others, "" when nothing does.
func nameOf(element any) string {
	for _, member := range []string{"id", "optionId", "modelId", "value", "name", "sessionId"} {
		if name, ok := at(element, member).(string); ok {
			return name
		}
	}
	return ""
}

// byName gives two lists as maps, or nils when an element has no name or shares it.
func byName(ours, theirs []any) (a, b map[string]any) {
	maps := [2]map[string]any{{}, {}}
	for i, list := range [][]any{ours, theirs} {
		for _, e := range list {
			name := nameOf(e)
			if name == "" || maps[i][name] != nil {
				return nil, nil
			}
			maps[i][name] = e
		}
	}
	return maps[0], maps[1]
}

// text is compact JSON with sorted members, and without bars, which part the columns of a list.
func text(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // decoded JSON can be encoded
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "|", `\u007c`)
}
