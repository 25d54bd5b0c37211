package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// builder makes example values from definitions. The same definition gives the
// same example.
type builder struct {
	// pick is the branch to take of one union, instead of the first; it is shown
	// with all its members.
	pick  *model.Branch
	stack []*model.Type // what is being built, so that a recursive type ends
}

// object makes an example of an object or of a union of objects. With depth 0
// it has the members it must have, with depth 1 all of them.
func (b *builder) object(t *model.Type, depth int) node {
	b.stack = append(b.stack, t)
	defer func() { b.stack = b.stack[:len(b.stack)-1] }()
	n := object(b.fields(t, depth)...)
	if t.Union != nil {
		n.members = append(n.members, b.union(t, depth)...)
	}
	return n
}

func (b *builder) fields(t *model.Type, depth int) (all []member) {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Required || depth > 0 {
			all = append(all, member{f.Name, b.member(t, f, depth)})
		}
	}
	return all
}

func (b *builder) member(t *model.Type, f *model.Field, depth int) node {
	s := sample{f.Name, f.Doc, f}
	if strings.Contains(f.Doc, "`[]` if") && f.MinItems == 0 && depth == 0 && f.Type.Kind == model.ToArray {
		return array() // usually there is nothing in it
	}
	if n, ok := b.open(s, f.Type, depth); ok {
		return n
	}
	return b.value(s, f.Type)
}

// open shows the members of a nested object that requires none: `{}` would say
// nothing. Free extension data is left out there.
func (b *builder) open(s sample, r model.Ref, depth int) (node, bool) {
	if depth == 0 || r.Kind != model.ToType {
		return node{}, false
	}
	t := real(r.Type)
	if t.Kind != model.Object || len(t.Fields) == 0 || t.Union != nil || slices.Contains(b.stack, t) || len(b.fields(t, 0)) > 0 {
		return node{}, false
	}
	n := b.object(t, 1)
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return strings.HasPrefix(m.name, "_") })
	return n, true
}

// value makes an example of a reference; s says what it is for.
func (b *builder) value(s sample, r model.Ref) node {
	switch r.Kind {
	case model.ToBase:
		return s.scalar(r.Base)
	case model.ToArray:
		if e := r.Elem; e.Kind == model.ToType && slices.Contains(b.stack, real(e.Type)) {
			return array()
		}
		return array(b.value(s.item(), *r.Elem))
	case model.ToMap:
		return object(member{mapKey, b.value(sample{name: mapKey}, *r.Elem)})
	case model.ToRaw:
		return s.any()
	case model.ToObject:
		return s.object()
	}
	return b.typed(s, real(r.Type))
}

func (b *builder) typed(s sample, t *model.Type) node {
	switch t.Kind {
	case model.Scalar:
		return s.named(t.Name).scalar(t.Scalar)
	case model.Enum:
		return raw(string(t.Enum.Values[0].Const))
	case model.Raw:
		return s.any()
	case model.Union:
		if br := b.branch(t.Union); br.Ref != nil {
			return b.value(s, *br.Ref)
		}
	}
	return b.object(t, 0)
}

// branch is the one to show: the picked one, else the first that is neither
// null nor recursive.
func (b *builder) branch(u *model.UnionOf) *model.Branch {
	for i := range u.Branches {
		if b.pick == &u.Branches[i] {
			return b.pick
		}
	}
	for i := range u.Branches {
		br := &u.Branches[i]
		if !br.Null && !slices.Contains(b.stack, br.Type) {
			return br
		}
	}
	return &u.Branches[0]
}

// union makes the members that the chosen branch adds, its tag first.
func (b *builder) union(t *model.Type, depth int) (members []member) {
	br := b.branch(t.Union)
	if b.pick == br {
		depth = 1
	}
	if t.Union.Tag != "" && !br.Implicit {
		members = append(members, member{t.Union.Tag, scalar(br.Tag)})
	}
	if br.Type != nil {
		members = append(members, b.object(real(br.Type), depth).members...)
	}
	return members
}

// real looks through aliases.
func real(t *model.Type) *model.Type {
	for t.Kind == model.Alias {
		t = t.Target
	}
	return t
}

// request is the frame of a request or a notification.
func request(m model.Method, params node) node {
	n := object(member{"jsonrpc", scalar("2.0")})
	if m.Kind == "request" {
		n.members = append(n.members, member{"id", scalar(1)})
	}
	n.members = append(n.members, member{"method", scalar(m.Name)}, member{"params", params})
	return n
}

// response is the frame of the answer.
func response(result node) node {
	return object(member{"jsonrpc", scalar("2.0")}, member{"id", scalar(1)}, member{"result", result})
}

// frame puts an example into the frame of its message.
func (u use) frame(n node) node {
	if u.result {
		return response(n)
	}
	return request(u.method, n)
}

// examples writes those of a definition: a message gets one with all members,
// and one for each variant that it must carry. A definition that nothing else
// leads to gets one with what it must have: all members at once are rarely a
// sensible value of it.
func (s *site) examples(w *writer, t *model.Type) {
	u, message := s.messages[t]
	show := func(lead string, n node) {
		w.p("%s:", lead)
		if message {
			n = u.frame(n)
		}
		w.fence(n.String())
	}
	switch {
	case message && len(t.Fields) == 0 && t.Union == nil: // the method index shows all there is
	case message:
		union := carried(t)
		if union == nil || t.Union == nil && optional(t) {
			show("Example with all members", (&builder{}).object(t, 1))
		}
		for i := range branches(union) {
			show(fmt.Sprintf("Example with %s %s", code(union.Tag), code(union.Branches[i].Tag)), variant(t, &union.Branches[i]))
		}
	case s.isolated(t) && t.Kind == model.Object:
		if n := (&builder{}).object(t, 0); len(n.members) > 0 {
			show("Example with the required members", n)
		}
	}
}

// carried is the union that a message is, or must carry: what tells its kinds
// apart.
func carried(t *model.Type) *model.UnionOf {
	if t.Union != nil {
		return t.Union
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required && f.Type.Kind == model.ToType {
			if ft := real(f.Type.Type); ft.Kind == model.Union && ft.Union.Tag != "" {
				return ft.Union
			}
		}
	}
	return nil
}

func branches(u *model.UnionOf) []model.Branch {
	if u == nil {
		return nil
	}
	return u.Branches
}

// optional: t has members that may be left out, free extension data aside.
func optional(t *model.Type) bool {
	return slices.ContainsFunc(t.Fields, func(f model.Field) bool { return !f.Required && !strings.HasPrefix(f.Name, "_") })
}

// variant shows all members of one branch, with what the message needs beside it.
func variant(t *model.Type, br *model.Branch) node {
	depth := 0
	if t.Union != nil { // the branch's members stand among its own
		depth = 1
	}
	return (&builder{pick: br}).object(t, depth)
}
