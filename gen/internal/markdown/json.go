package markdown

import (
	"encoding/json"
	"strings"
)

// node is a JSON value with its members in order.
type node struct {
	text    string // a scalar, as JSON
	members []member
	items   []node
	kind    byte // '{', '[' or 0 for a scalar
}

type member struct {
	name  string
	value node
}

func scalar(v any) node {
	b, _ := json.Marshal(v)
	return node{text: string(b)}
}

func raw(text string) node { return node{text: text} }

func object(members ...member) node { return node{kind: '{', members: members} }

func array(items ...node) node { return node{kind: '[', items: items} }

// width is the length up to which a value stays on one line.
const width = 88

func (n node) String() string {
	var b strings.Builder
	n.write(&b, "", 0)
	return b.String()
}

// write breaks an object or an array into lines when it does not fit behind
// what already stands on the line.
func (n node) write(b *strings.Builder, indent string, before int) {
	line := n.line()
	if n.kind == 0 || len(indent)+before+len(line) <= width || len(n.members)+len(n.items) == 0 {
		b.WriteString(line)
		return
	}
	b.WriteByte(n.kind)
	inner := indent + "  "
	sep := "\n"
	for _, m := range n.members {
		key := quote(m.name) + ": "
		b.WriteString(sep + inner + key)
		m.value.write(b, inner, len(key))
		sep = ",\n"
	}
	for _, v := range n.items {
		b.WriteString(sep + inner)
		v.write(b, inner, 0)
		sep = ",\n"
	}
	b.WriteString("\n" + indent + string(n.kind+2)) // } and ] come two after { and [
}

func (n node) line() string {
	if n.kind == 0 {
		return n.text
	}
	var parts []string
	for _, m := range n.members {
		parts = append(parts, quote(m.name)+": "+m.value.line())
	}
	for _, v := range n.items {
		parts = append(parts, v.line())
	}
	return string(n.kind) + strings.Join(parts, ", ") + string(n.kind+2)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
