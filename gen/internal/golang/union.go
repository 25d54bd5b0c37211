package golang

import (
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
	"github.com/acpkit/acpkit/gen/internal/overlay"
)

// unionGo is a union with its Go names decided.
type unionGo struct {
	name     string // the interface
	field    string // the member that holds it, when it is flattened
	fieldDoc string
	own      []string // wire names of the members beside a flattened union
	variants []variant
	*model.UnionOf
}

type variant struct {
	*model.Branch
	// name is the Go type without the pointer.
	name string
	// wraps: the definition serves several tags, so each has a type that
	// embeds it.
	wraps bool
	// object: the variant is used through a pointer and has members.
	object bool
	// object types made for a tag without members.
	made *model.Type
	// nested: the definition is a union itself, held in a member.
	nested bool
}

func (v variant) goType() string {
	if v.object {
		return "*" + v.name
	}
	return v.name
}

// union names the union of t; the result is kept.
func (g *emitter) union(t *model.Type) *unionGo {
	if u := g.unions[t]; u != nil {
		return u
	}
	u := &unionGo{name: g.goName(t), UnionOf: t.Union}
	if t.Kind == model.Object {
		word := t.Union.Tag
		if word == "" {
			word = commonSuffix(t.Union.Branches)
		}
		u.field = g.names.of(t.Name+"."+word, word)
		u.name = g.goName(t) + u.field
		u.fieldDoc = "One of the variants of " + u.name + "; its members stand beside the others on the wire."
		for _, f := range t.Fields {
			u.own = append(u.own, f.Name)
		}
	}
	if t.Kind == model.Object {
		g.scope.claim(u.name, t.Pos)
	} else {
		g.scope.claim("Decode"+u.name, t.Pos)
		g.scope.claim("Append"+u.name, t.Pos)
	}
	uses := map[*model.Type]int{}
	for _, b := range t.Union.Branches {
		if b.Type != nil {
			uses[b.Type]++
		}
	}
	for i := range t.Union.Branches {
		u.variants = append(u.variants, g.variant(t, u.name, &t.Union.Branches[i], uses))
	}
	g.unions[t] = u
	return u
}

func (g *emitter) variant(t *model.Type, union string, b *model.Branch, uses map[*model.Type]int) variant {
	v := variant{Branch: b, object: true}
	switch {
	case b.Type != nil && real(b.Type).Kind == model.Union:
		v.name, v.nested = union+g.names.word(b.Tag), true
	case b.Type != nil && uses[b.Type] == 1 && !g.foreign(b.Type):
		v.name = g.goName(b.Type)
	case b.Type != nil:
		v.name, v.wraps = union+g.names.word(b.Tag), true
	case b.Ref != nil:
		v.name, v.object = union+g.names.word(b.Title), false
	default: // null, or a tag without members
		v.name = union + g.names.word(b.Title)
		if b.Null {
			v.object = false
		} else {
			v.made = &model.Type{Name: v.name, Topic: t.Topic, Doc: b.Doc, Pos: t.Pos, Kind: model.Object}
		}
	}
	return v
}

// but lists what a flattened unknown variant must not repeat.
func (u *unionGo) but() string {
	if u.Tag == "" || len(u.own) == 0 {
		return ""
	}
	return ", " + quoted(u.own)
}

// commonSuffix is the last word that the branches' types share.
func commonSuffix(branches []model.Branch) string {
	word := ""
	for _, b := range branches {
		if b.Type == nil {
			return "variant"
		}
		parts := split(b.Type.Name)
		last := parts[len(parts)-1]
		if word != "" && last != word {
			return "variant"
		}
		word = last
	}
	return word
}

func (g *emitter) declareUnion(t *model.Type) string {
	u := g.union(t)
	var b strings.Builder
	if t.Kind == model.Union {
		b.WriteString(overlay.Comment("", t.Doc))
		b.WriteString("//\n")
	} else {
		b.WriteString(overlay.Comment("", fmt.Sprintf("%s is what tells one %s from another.", u.name, g.goName(t))) + "//\n")
	}
	b.WriteString("// Variants:\n")
	for _, v := range u.variants {
		fmt.Fprintf(&b, "//   - %s%s\n", v.goType(), tagNote(u, v))
	}
	if u.Tag != "" {
		b.WriteString("//   - *Unknown, any other tag\n")
	}
	fmt.Fprintf(&b, "type %s interface{ is%s() }\n\n", u.name, u.name)
	for _, v := range u.variants {
		b.WriteString(g.declareVariant(u, v))
	}
	if u.Tag != "" {
		fmt.Fprintf(&b, "func (*Unknown) is%s() {}\n", u.name)
	}
	return b.String()
}

func tagNote(u *unionGo, v variant) string {
	switch {
	case u.Tag == "":
		return ""
	case v.Implicit:
		return fmt.Sprintf(", when %s is absent or %q", u.Tag, v.Tag)
	default:
		return fmt.Sprintf(", %s %q", u.Tag, v.Tag)
	}
}

func (g *emitter) declareVariant(u *unionGo, v variant) string {
	var b strings.Builder
	doc := overlay.Comment("", v.Doc)
	switch {
	case v.wraps && g.foreign(v.Type):
		g.fail(u.Pos, "define it in this folder", "%s is a variant of %s, but belongs to another package", v.Type.Name, u.name)
	case v.wraps:
		g.scope.claim(v.name, u.Pos)
		fmt.Fprintf(&b, "%stype %s struct{ %s }\n\n", doc, v.name, g.goName(v.Type))
	case v.nested:
		g.scope.claim(v.name, u.Pos)
		fmt.Fprintf(&b, "%stype %s struct{ %s %s }\n\n", doc, v.name, g.goName(v.Type), g.goName(v.Type))
	case v.made != nil:
		g.scope.claim(v.name, u.Pos)
		fmt.Fprintf(&b, "%stype %s struct{}\n\n", doc, v.name)
	case v.Null:
		g.scope.claim(v.name, u.Pos)
		fmt.Fprintf(&b, "%stype %s struct{}\n\n", doc, v.name)
	case v.Ref != nil:
		g.scope.claim(v.name, u.Pos)
		fmt.Fprintf(&b, "%stype %s %s\n\n", doc, v.name, g.typeOf(*v.Ref))
	}
	fmt.Fprintf(&b, "func (%s) is%s() {}\n\n", v.goType(), u.name)
	return b.String()
}
