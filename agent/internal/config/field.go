package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// field is one key of a document with its value, undecoded.
type field struct {
	doc   *document
	path  []string // as layout knows it
	name  string   // as messages show it: dotted, without indices
	line  int      // of the key, or of what is around it; 0 unknown
	value any
}

// fields maps the keys a table may have to what reads them.
type fields map[string]func(field) error

// ignore reads a key that means nothing to us but is no mistake.
func ignore(field) error { return nil }

// child is the field of a key below f.
func (f field) child(key string, value any) field {
	name := toml.Key{key}.String()
	if f.name != "" {
		name = f.name + "." + name
	}
	return f.at(key, shorten(name), value)
}

// under is the field at a path below f, whose value nobody asks for.
func (f field) under(path []string) field {
	for _, segment := range path {
		if isElement(segment) {
			f = f.at(segment, f.name, nil)
		} else {
			f = f.child(segment, nil)
		}
	}
	return f
}

// at is a field one path segment below f.
func (f field) at(segment, name string, value any) field {
	path := append(slices.Clip(f.path), segment)
	return field{doc: f.doc, path: path, name: name, line: f.doc.layout.line(path...), value: value}
}

// each reads a table's keys in the order of their lines, so that the first
// mistake in the file is the one reported. Unknown keys go to unknown.
func (f field) each(known fields, unknown func(f field, known fields)) error {
	table, err := f.table()
	if err != nil {
		return err
	}
	below := make([]field, 0, len(table))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		below = append(below, f.child(key, table[key]))
	}
	slices.SortStableFunc(below, func(a, b field) int { return cmp.Compare(a.line, b.line) })
	for _, b := range below {
		read, ok := known[b.path[len(b.path)-1]]
		if !ok {
			unknown(b, known)
			continue
		}
		if err := read(b); err != nil {
			return err
		}
	}
	return nil
}

// fail is the error for this key's value. Neither text may repeat the value of
// a key that could be a secret.
func (f field) fail(message, mend string) error {
	return &FileError{File: f.doc.file, Line: f.line, Key: f.name, Message: message, Mend: mend}
}

func (f field) wrongType(want, example string) error {
	return f.fail(fmt.Sprintf("expected %s, found %s", want, typeName(f.value)), "write "+example)
}

func (f field) text() (string, error) {
	s, ok := f.value.(string)
	if !ok {
		return "", f.wrongType("a string", lastName(f.name)+` = "…"`)
	}
	return s, nil
}

func (f field) flag() (*bool, error) {
	b, ok := f.value.(bool)
	if !ok {
		return nil, f.wrongType("a boolean", fmt.Sprintf("%[1]s = true or %[1]s = false", lastName(f.name)))
	}
	return &b, nil
}

// count is a whole number of 0 or more.
func (f field) count() (*int, error) {
	n, ok := f.value.(int64)
	if !ok {
		return nil, f.wrongType("a whole number", lastName(f.name)+" = 0 for no limit")
	}
	if n < 0 || n > math.MaxInt32 {
		return nil, f.fail(fmt.Sprintf("%d is out of range", n), fmt.Sprintf("write a number from 0 (no limit) to %d", math.MaxInt32))
	}
	i := int(n)
	return &i, nil
}

// duration is a number of units, a fraction too, of 0 or more and at most a year.
func (f field) duration(unit time.Duration) (*time.Duration, error) {
	var n float64
	switch v := f.value.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	default:
		return nil, f.wrongType("a number", lastName(f.name)+" = 0 for none")
	}
	if max := float64(365 * 24 * time.Hour / unit); !(n >= 0 && n <= max) {
		return nil, f.fail(fmt.Sprintf("%v is out of range", n), fmt.Sprintf("write a number from 0 to %v", max))
	}
	d := time.Duration(n * float64(unit))
	return &d, nil
}

// count32 is count without the pointer, for what a table of its own holds.
func (f field) count32() (int, error) {
	n, err := f.count()
	if err != nil {
		return 0, err
	}
	return *n, nil
}

func (f field) texts() ([]string, error) {
	example := lastName(f.name) + ` = ["…", "…"]`
	list, ok := f.value.([]any)
	if !ok {
		return nil, f.wrongType("a list of strings", example)
	}
	out := make([]string, 0, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, f.fail(fmt.Sprintf("expected a list of strings, found %s as entry %d", typeName(v), i+1), "write "+example)
		}
		out = append(out, s)
	}
	return out, nil
}

func (f field) table() (map[string]any, error) {
	t, ok := f.value.(map[string]any)
	if !ok {
		return nil, f.wrongType("a table", "["+f.name+"] on a line of its own and the keys below it")
	}
	return t, nil
}

// elements are the tables of an array of tables, written as [[…]] or inline.
func (f field) elements() ([]field, error) {
	mend := "write [[" + f.name + "]] on a line of its own and the keys below it"
	var list []any
	switch v := f.value.(type) {
	case []map[string]any:
		for _, t := range v {
			list = append(list, t)
		}
	case []any:
		list = v
	default:
		return nil, f.fail("expected a list of tables, found "+typeName(v), mend)
	}
	out := make([]field, len(list))
	for i, v := range list {
		if _, ok := v.(map[string]any); !ok {
			return nil, f.fail(fmt.Sprintf("expected a list of tables, found %s as entry %d", typeName(v), i+1), mend)
		}
		out[i] = f.at(elementSegment(i), f.name, v)
	}
	return out, nil
}

// typeName says in TOML's words what a value is.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a fraction"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	default:
		return "a date or time"
	}
}

func lastName(dotted string) string { return dotted[strings.LastIndexByte(dotted, '.')+1:] }

// shorten keeps names from files, and references from clients, out of the way
// of the message around them.
func shorten(s string) string {
	const limit = 100
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
