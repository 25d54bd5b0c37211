package acpkit_test

import (
	"strconv"
	"strings"
)

// step leads from a value to one of its parts: a member, or an item of an array.
type step struct {
	parent *node
	field  *mField // of the member; of the member that holds the array, for an item
	name   string
	item   bool
	tag    bool
	node   *node
}

// mutation is one change to an instance.
type mutation struct {
	root *node
	path []step // none for the root
	put  string // what stands there now; "" when it was dropped
	add  string // a member that was added to the object
}

func (m *mutation) last() step {
	if len(m.path) == 0 {
		return step{node: m.root}
	}
	return m.path[len(m.path)-1]
}

func (m *mutation) node() *node { return m.last().node }

func (m *mutation) edits() edits {
	if m.add != "" {
		return edits{extra: map[*node]string{m.node(): m.add}}
	}
	return edits{put: map[*node]string{m.node(): m.put}}
}

func (m *mutation) text() []byte { return m.root.render(nil, m.edits()) }

func (m *mutation) pointer() string {
	var b strings.Builder
	for _, s := range m.path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s.name))
	}
	return b.String()
}

func (m *mutation) String() string {
	switch {
	case m.add != "":
		return "add " + m.add + " at " + m.pointer()
	case m.put == "":
		return "drop " + m.pointer()
	}
	return "put " + m.put + " at " + m.pointer()
}

// Values to put anywhere: one or two of each JSON type.
var anywhere = []string{`null`, `true`, `5`, `-1`, `1.5`, `"proof"`, `""`, `[]`, `[null]`, `{}`, `{"proof":1}`}

// Numbers to put where a number stands: the limits of every width from both
// sides, and other spellings.
var numbers = []string{`0`, `-0`, `1.0`, `1e2`, `65535`, `65536`, `2147483647`, `2147483648`, `-2147483648`, `-2147483649`,
	`4294967295`, `4294967296`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	`18446744073709551615`, `18446744073709551616`, `1e400`, `0.0000001`}

// mutations calls f with every change to the instance, deeper parts with fewer:
// a nested definition is changed in full where it is the root.
func mutations(root *node, f func(*mutation)) {
	var visit func(path []step, n *node)
	visit = func(path []step, n *node) {
		do := func(put, add string) {
			if put != n.text || put == "" {
				f(&mutation{root, path, put, add})
			}
		}
		values := anywhere
		if len(path) > 1 {
			values = []string{`null`, `5`, `"proof"`, `[]`, `{}`}
		}
		for _, v := range values {
			do(v, "")
		}
		if n.base > bBool && len(path) <= 1 {
			for _, v := range numbers {
				do(v, "")
			}
		}
		if n.base == bString && len(path) <= 2 && n.text != strings.ToUpper(n.text) {
			do(strings.ToUpper(n.text), "")
		}
		if len(path) > 0 {
			do("", "")
		}
		if n.kind == 'o' {
			do("", `"xProof":{"a":[1]}`)
		}
		if len(path) == 3 {
			return
		}
		down := func(s step) { visit(append(path[:len(path):len(path)], s), s.node) }
		for _, m := range n.members {
			down(step{n, m.field, m.name, false, m.tag, m.node})
		}
		var of *mField
		if len(path) > 0 && !path[len(path)-1].item {
			of = path[len(path)-1].field
		}
		for i, item := range n.items {
			if i == 0 || len(path) < 2 {
				down(step{n, of, strconv.Itoa(i), true, false, item})
			}
		}
	}
	visit(nil, root)
}

// forgiving is a place on the path of a mutation where the model lets a reader
// carry on: by which keyword, and what the reader must take the whole for, nil
// when that is not simply another text.
type forgiving struct {
	keyword string
	as      *edits
}

// forgiven finds the innermost such place.
func (m *mutation) forgiven() *forgiving {
	for i := len(m.path) - 1; i >= 0; i-- {
		s := m.path[i]
		last := i == len(m.path)-1 && m.add == ""
		if last && m.put == "" {
			continue // an absent member is no bad value
		}
		drop := &edits{put: map[*node]string{s.node: ""}}
		switch {
		case s.field == nil:
		case s.item && s.field.SkipInvalid && s.field.Type.Kind == toArray:
			return &forgiving{"x-deserialize-skip-invalid-items", drop}
		case last && m.put == "[null]" && s.field.SkipInvalid:
			return &forgiving{"x-deserialize-skip-invalid-items", &edits{put: map[*node]string{s.node: "[]"}}}
		case s.item:
		case s.field.DefaultOnError && s.field.Type.Kind != toRaw:
			return &forgiving{"x-deserialize-default-on-error", instead(s, drop)}
		case s.field.DefaultOnNull && last && m.put == "null":
			return &forgiving{"x-deserialize-default-on-null", instead(s, drop)}
		}
	}
	return nil
}

// instead is what stands for a bad member: nothing, or the empty list where the
// member is required.
func instead(s step, drop *edits) *edits {
	switch {
	case !s.field.Required:
		return drop
	case s.field.Type.Kind == toArray:
		return &edits{put: map[*node]string{s.node: "[]"}}
	case s.field.Type.Kind == toMap:
		return &edits{put: map[*node]string{s.node: "{}"}}
	}
	return nil
}
