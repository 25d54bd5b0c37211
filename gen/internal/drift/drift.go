// Package drift compares the structure of two schemas, ours and a published
// one, and says what differs in words that tell a user what changes for them.
// Prose and keywords of our own (x-acpkit-) are not structure. It works on
// plain JSON, apart from the loader: what the loader drops must not hide here.
package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Change is one difference between ours and theirs.
type Change struct {
	Definition string `json:"definition"` // "(messages)" for the root
	Pointer    string `json:"pointer"`    // below the definition; "" for the whole
	Kind       string `json:"kind"`       // added, removed or changed, seen from ours
	Ours       any    `json:"ours,omitempty"`
	Theirs     any    `json:"theirs,omitempty"`
	// Methods are the wire methods whose messages reach the definition.
	Methods []string `json:"methods,omitempty"`
}

func (c Change) String() string {
	where := c.Definition
	if c.Pointer != "" {
		where += " " + c.Pointer
	}
	s := fmt.Sprintf("%-8s %s", c.Kind, where)
	if c.Kind == "changed" {
		s += fmt.Sprintf(": ours %s, theirs %s", short(c.Ours), short(c.Theirs))
	}
	if len(c.Methods) > 0 {
		s += "  [" + strings.Join(c.Methods, ", ") + "]"
	}
	return s
}

func short(v any) string {
	b, _ := json.Marshal(v)
	if r := []rune(string(b)); len(r) > 80 {
		return string(r[:77]) + "…"
	}
	return string(b)
}

// Bundle reads a schema folder as one document with a root anyOf and $defs,
// references rewritten to #/$defs/.
func Bundle(fsys fs.FS, dir string) (map[string]any, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	defs, doc := map[string]any{}, map[string]any{}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" {
			continue
		}
		part, err := Read(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		d, ok := part["$defs"].(map[string]any)
		if !ok {
			continue // methods.json and the like
		}
		for name, def := range d {
			if _, twice := defs[name]; twice {
				return nil, fmt.Errorf("%s: definition %s stands in two files", path.Join(dir, e.Name()), name)
			}
			defs[name] = def
		}
		if root, ok := part["anyOf"]; ok {
			doc["anyOf"] = root
		}
	}
	doc["$defs"] = defs
	return doc, nil
}

// Files reads every JSON file of a folder, the method table too, for their
// prose.
func Files(fsys fs.FS, dir string) ([]any, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var docs []any
	for _, e := range entries {
		if path.Ext(e.Name()) == ".json" {
			doc, err := Read(fsys, path.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// Read reads a schema file as plain JSON.
func Read(fsys fs.FS, name string) (map[string]any, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}

// Compare returns the differences, sorted by definition and pointer.
func Compare(ours, theirs map[string]any) ([]Change, error) {
	a, ok1 := ours["$defs"].(map[string]any)
	b, ok2 := theirs["$defs"].(map[string]any)
	if !ok1 || !ok2 {
		return nil, errors.New("not a schema file: no $defs member")
	}
	reach := methodsOf(a, b)
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
		c := comparer{def: name, methods: reach[name]}
		switch x, y := a[name], b[name]; {
		case x == nil:
			c.add("", "added", nil, nil)
		case y == nil:
			c.add("", "removed", nil, nil)
		default:
			c.compare("", schema(x), schema(y))
		}
		out = append(out, c.changes...)
	}
	root := comparer{def: "(messages)"}
	root.compare("/anyOf", schemas(ours["anyOf"]), schemas(theirs["anyOf"]))
	return append(out, root.changes...), nil
}

type comparer struct {
	def     string
	methods []string
	changes []Change
}

func (c *comparer) add(ptr, kind string, ours, theirs any) {
	c.changes = append(c.changes, Change{c.def, ptr, kind, ours, theirs, c.methods})
}

func (c *comparer) compare(ptr string, a, b any) {
	am, ok1 := a.(map[string]any)
	bm, ok2 := b.(map[string]any)
	al, ok3 := a.([]any)
	bl, ok4 := b.([]any)
	switch {
	case ok1 && ok2:
		for _, k := range slices.Sorted(maps.Keys(union(am, bm))) {
			x, inA := am[k]
			y, inB := bm[k]
			switch {
			case !inA:
				c.add(ptr+"/"+k, "added", nil, y)
			case !inB:
				c.add(ptr+"/"+k, "removed", x, nil)
			default:
				c.compare(ptr+"/"+k, x, y)
			}
		}
	case ok3 && ok4 && len(al) == len(bl):
		for i := range al {
			c.compare(fmt.Sprintf("%s/%d", ptr, i), al[i], bl[i])
		}
	case !reflect.DeepEqual(a, b):
		c.add(ptr, "changed", a, b)
	}
}

// schema strips prose and our own keywords at one schema position and below.
func schema(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, v := range m {
		switch {
		case k == "description", strings.HasPrefix(k, "x-acpkit-"):
		case k == "properties", k == "patternProperties", k == "$defs":
			props, _ := v.(map[string]any)
			stripped := map[string]any{}
			for name, p := range props {
				stripped[name] = schema(p)
			}
			out[k] = stripped
		case k == "anyOf", k == "oneOf", k == "allOf", k == "prefixItems":
			out[k] = schemas(v)
		case k == "items", k == "not", k == "additionalProperties", k == "unevaluatedProperties":
			out[k] = schema(v)
		case k == "$ref":
			out[k] = refName(v)
		case k == "required":
			out[k] = sorted(v)
		default:
			out[k] = v
		}
	}
	return out
}

func schemas(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = schema(e)
	}
	return out
}

func refName(v any) any {
	s, _ := v.(string)
	return "#" + s[strings.IndexByte(s, '#')+1:]
}

// sorted makes the order of required names no difference.
func sorted(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

func union(a, b map[string]any) map[string]any {
	u := maps.Clone(a)
	if u == nil {
		u = map[string]any{}
	}
	maps.Copy(u, b)
	return u
}

// methodsOf tells for each definition which methods' messages reach it.
func methodsOf(a, b map[string]any) map[string][]string {
	defs := union(a, b)
	reach := map[string]map[string]bool{}
	for name, d := range defs {
		m, _ := d.(map[string]any)
		if method, ok := m["x-method"].(string); ok {
			visit(name, method, []map[string]any{a, b}, reach)
		}
	}
	out := map[string][]string{}
	for name, set := range reach {
		out[name] = slices.Sorted(maps.Keys(set))
	}
	return out
}

func visit(name, method string, in []map[string]any, reach map[string]map[string]bool) {
	if reach[name][method] {
		return
	}
	if reach[name] == nil {
		reach[name] = map[string]bool{}
	}
	reach[name][method] = true
	for _, defs := range in {
		for _, ref := range refs(defs[name]) {
			visit(ref, method, in, reach)
		}
	}
}

func refs(v any) (names []string) {
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v["$ref"].(string); ok {
			names = append(names, s[strings.LastIndexByte(s, '/')+1:])
		}
		for _, e := range v {
			names = append(names, refs(e)...)
		}
	case []any:
		for _, e := range v {
			names = append(names, refs(e)...)
		}
	}
	return names
}

// SharedProse lists descriptions and summaries of ours that have a run of n words in common
// with any description of theirs.
func SharedProse(ours, theirs any, n int) []string {
	runs := map[string]bool{}
	descriptions(theirs, "", func(_, text string) {
		for _, r := range wordRuns(text, n) {
			runs[r] = true
		}
	})
	var shared []string
	descriptions(ours, "", func(ptr, text string) {
		for _, r := range wordRuns(text, n) {
			if runs[r] {
				shared = append(shared, ptr+": "+r)
				return
			}
		}
	})
	slices.Sort(shared)
	return shared
}

func descriptions(v any, ptr string, f func(ptr, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && (k == "description" || k == "summary") {
				f(ptr, s)
			}
			descriptions(e, ptr+"/"+k, f)
		}
	case []any:
		for i, e := range v {
			descriptions(e, fmt.Sprintf("%s/%d", ptr, i), f)
		}
	}
}

func wordRuns(text string, n int) (runs []string) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	for i := 0; i+n <= len(words); i++ {
		runs = append(runs, strings.Join(words[i:i+n], " "))
	}
	return runs
}
