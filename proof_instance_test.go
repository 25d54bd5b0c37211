package acpkit_test

import (
	"fmt"
	"strconv"
	"strings"
)

// node is a JSON value made from the model, which remembers what the model says
// of each of its parts, so that a mutation knows what it breaks.
type node struct {
	text    string // a scalar, null or a value that is kept raw
	members []member
	items   []*node
	kind    byte   // 'o' object, 'a' array, 0 otherwise
	union   *mType // the union whose branch this is, or whose members are flat in here
	base    int    // of a scalar; -1 otherwise
}

type member struct {
	name  string
	field *mField // nil for a tag and for the key of a map
	tag   bool
	*node
}

// edits are changes to a tree for one rendering: a value is replaced, a member
// or item is left out (""), or a member is added to an object.
type edits struct {
	put   map[*node]string
	extra map[*node]string
}

func (n *node) String() string { return string(n.render(nil, edits{})) }

func (n *node) render(b []byte, e edits) []byte {
	if s, ok := e.put[n]; ok {
		return append(b, s...)
	}
	left := func(c *node) bool { s, ok := e.put[c]; return ok && s == "" }
	sep := func(open byte) {
		if len(b) > 0 && b[len(b)-1] != open {
			b = append(b, ',')
		}
	}
	switch n.kind {
	case 'o':
		b = append(b, '{')
		for _, m := range n.members {
			if !left(m.node) {
				sep('{')
				b = strconv.AppendQuote(b, m.name)
				b = m.render(append(b, ':'), e)
			}
		}
		if x := e.extra[n]; x != "" {
			sep('{')
			b = append(b, x...)
		}
		return append(b, '}')
	case 'a':
		b = append(b, '[')
		for _, item := range n.items {
			if !left(item) {
				sep('[')
				b = item.render(b, e)
			}
		}
		return append(b, ']')
	}
	return append(b, n.text...)
}

// instance is a valid value of a type.
type instance struct {
	name   string
	branch int // of the union of the type, -1 without one
	root   *node
}

// instances makes a minimal and a full value for every branch of the type's
// union; of a type without one, the full values take turns through the branches
// of the unions inside.
func instances(t *mType) []instance {
	t = t.real()
	var list []instance
	add := func(name string, full bool, turn, branch int) {
		b := &builder{full: full, turn: turn}
		list = append(list, instance{name, branch, b.typ(t, branch)})
	}
	if t.Union == nil {
		add("minimal", false, 0, -1)
		for turn := range turns(t) {
			add(fmt.Sprintf("full %d", turn), true, turn, -1)
		}
		return list
	}
	for i := range t.Union.Branches {
		for turn := range turns(t.Union.Branches[i].Type) {
			add(fmt.Sprintf("branch %d full %d", i, turn), true, turn, i)
		}
		add(fmt.Sprintf("branch %d minimal", i), false, 0, i)
	}
	if t.Union.Optional {
		add("no branch", false, 0, len(t.Union.Branches))
	}
	return list
}

// turns is the number of branches of the largest union right inside t.
func turns(t *mType) int {
	n := 1
	if t == nil {
		return n
	}
	for i := range t.Fields {
		r := &t.Fields[i].Type
		for r.Elem != nil {
			r = r.Elem
		}
		if r.Type != nil && r.Type.real().Union != nil {
			n = max(n, len(r.Type.real().Union.Branches))
		}
	}
	if t.Union != nil {
		n = max(n, len(t.Union.Branches))
	}
	return n
}

type builder struct {
	full  bool
	turn  int
	stack []*mType
	count int
}

// typ makes a value of t; branch -1 lets the turn decide.
func (b *builder) typ(t *mType, branch int) *node {
	t = t.real()
	switch t.Kind {
	case kEnum:
		v := t.Enum.Values[(b.turn+b.count)%len(t.Enum.Values)].Const
		b.count++
		return &node{text: string(v), base: t.Scalar}
	case kScalar:
		return b.scalar(t.Scalar, &mField{Name: t.Name})
	case kRaw:
		return rawNode(`{"any":[1,null,"é"]}`)
	}
	b.stack = append(b.stack, t)
	defer func() { b.stack = b.stack[:len(b.stack)-1] }()
	if t.Kind == kUnion && t.Union.Tag == "" {
		br := b.pick(t.Union, branch)
		n := b.untagged(br)
		n.union = t
		return n
	}
	n := &node{kind: 'o', base: -1}
	b.flat(n, t, branch)
	return n
}

// flat adds the members of an object or of a union to n.
func (b *builder) flat(n *node, t *mType, branch int) {
	t = t.real()
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Required || b.full && !b.inside(f.Type) {
			n.members = append(n.members, member{f.Name, f, false, b.field(f)})
		}
	}
	if t.Union == nil {
		return
	}
	if n.union == nil {
		n.union = t
	}
	if t.Union.Optional && (branch == len(t.Union.Branches) || branch < 0 && !b.full) {
		return
	}
	br := b.pick(t.Union, branch)
	if t.Union.Tag != "" && !br.Implicit {
		n.members = append(n.members, member{t.Union.Tag, nil, true, &node{text: strconv.Quote(br.Tag), base: bString, union: t}})
	}
	if br.Type != nil {
		b.flat(n, br.Type, -1)
	}
}

func (b *builder) pick(u *mUnion, branch int) *mBranch {
	if branch < 0 {
		branch = b.turn % len(u.Branches)
	}
	return &u.Branches[branch]
}

func (b *builder) untagged(br *mBranch) *node {
	switch {
	case br.Null:
		return &node{text: "null", base: -1}
	case br.Type != nil:
		return b.typ(br.Type, -1)
	default:
		return b.ref(*br.Ref, &mField{Name: "value"})
	}
}

// inside reports whether a value of r would stand inside another of its type.
func (b *builder) inside(r mRef) bool {
	for r.Elem != nil {
		r = *r.Elem
	}
	for _, t := range b.stack {
		if r.Type != nil && r.Type.real() == t {
			return true
		}
	}
	return false
}

func (b *builder) field(f *mField) *node { return b.ref(f.Type, f) }

func (b *builder) ref(r mRef, f *mField) *node {
	switch r.Kind {
	case toType:
		if t := r.Type.real(); t.Kind == kScalar {
			return b.scalar(t.Scalar, f)
		}
		return b.typ(r.Type, -1)
	case toBase:
		return b.scalar(r.Base, f)
	case toArray:
		n := &node{kind: 'a', base: -1}
		count := int(f.MinItems)
		if b.full {
			count = max(count, 2)
		}
		for range count {
			n.items = append(n.items, b.ref(*r.Elem, f))
			b.turn++ // the items differ in their branches
		}
		b.turn -= count
		return n
	case toMap:
		n := &node{kind: 'o', base: -1}
		if b.full {
			n.members = append(n.members, member{"z", nil, false, b.ref(*r.Elem, f)}, member{"a/~", nil, false, b.ref(*r.Elem, f)})
		}
		return n
	case toObject:
		return rawNode(`{"k":{"n":[1.50,{}]},"":null}`)
	}
	return rawNode(`{"any":[1,null,"é"]}`)
}

func rawNode(text string) *node { return &node{text: text, base: -1} }

func (b *builder) scalar(base int, f *mField) *node {
	n := &node{base: base}
	switch base {
	case bString:
		n.text = strconv.Quote(f.Name + strings.Repeat("x", int(f.MinLength)) + " é😀")
	case bBool:
		n.text = "true"
	case bFloat64:
		n.text = strconv.FormatFloat(clamp(0.25, f), 'g', -1, 64)
	default:
		n.text = strconv.FormatFloat(clamp(3, f), 'f', 0, 64)
	}
	return n
}

// clamp moves v into the limits of f.
func clamp(v float64, f *mField) float64 {
	if lo, err := strconv.ParseFloat(f.Minimum, 64); err == nil && v < lo {
		v = lo
	}
	if hi, err := strconv.ParseFloat(f.Maximum, 64); err == nil && v > hi {
		v = hi
	}
	return v
}
