package model

import (
	"fmt"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// union reads the alternatives of t. The tag is the discriminator, or else the
// one property for which some alternative has a string constant.
func (b *builder) union(t *Type, s *load.Schema, alts []*load.Schema) *UnionOf {
	u := &UnionOf{Tag: s.Tag, Pos: s.Pos}
	for _, a := range alts {
		for _, p := range a.Props {
			if _, ok := text(p.Const); ok {
				if u.Tag == "" {
					u.Tag = p.Name
				}
				if u.Tag != p.Name {
					b.fail(p.Pos, "use one tag for all alternatives", "%s is told apart by %q and by %q", t.Name, u.Tag, p.Name)
				}
			}
		}
	}
	for i, a := range alts {
		if b.isOther(u.Tag, a) {
			u.Open = true
			continue
		}
		u.Branches = append(u.Branches, b.branch(t, u.Tag, i, a))
	}
	// A tag that is also an optional member: without it there is no variant.
	for i, f := range t.Fields {
		if u.Tag != "" && f.Name == u.Tag {
			u.Optional = !f.Required
			t.Fields = append(t.Fields[:i:i], t.Fields[i+1:]...)
			break
		}
	}
	seen := map[string]bool{}
	for _, br := range u.Branches {
		if br.Tag != "" && seen[br.Tag] {
			b.fail(s.Pos, "give each alternative its own tag", "%s has two alternatives with the tag %q", t.Name, br.Tag)
		}
		seen[br.Tag] = true
	}
	return u
}

// isOther finds the alternative that stands for every unknown tag: its tag is
// any string, guarded by `not`.
func (b *builder) isOther(tag string, a *load.Schema) bool {
	if tag == "" || a.Not == nil {
		return false
	}
	for _, p := range a.Props {
		if p.Name == tag && p.Const == nil && p.Type == "string" {
			return true
		}
	}
	return false
}

func (b *builder) branch(t *Type, tag string, i int, a *load.Schema) Branch {
	br := Branch{Title: a.Title, Doc: a.Description}
	var own []load.Prop // members spelled out in the branch beside the tag
	for _, p := range a.Props {
		if p.Name == tag {
			br.Tag, _ = text(p.Const)
			continue
		}
		own = append(own, p)
	}
	if tag != "" && br.Tag == "" {
		br.Implicit, br.Tag = true, a.Title
	}
	base := single(a)
	if len(a.AllOf) == 1 && base == a { // object with a tag and an allOf
		base = a.AllOf[0]
	}
	switch {
	case len(own) > 0 && base == a:
		br.Type, br.Inline = b.inline(t, br, i, a, own), true
	case len(own) > 0:
		b.fail(a.Pos, "move the members into the definition", "an alternative of %s has members beside a reference", t.Name)
	case base.Ref != "":
		br.Type = b.named(base)
	case a.Type == "null":
		br.Null = true
	case a.Type == "object" || tag != "":
		// a tag without members
	default:
		r := b.ref(a)
		br.Ref = &r
	}
	if br.Title == "" {
		br.Title = br.Tag
	}
	return br
}

// inline makes a type of the members that a branch spells out.
func (b *builder) inline(t *Type, br Branch, i int, a *load.Schema, own []load.Prop) *Type {
	title := br.Tag
	if title == "" {
		title = fmt.Sprintf("variant%d", i+1)
	}
	nt := &Type{Pkg: b.pkg, Name: t.Name + "_" + title, Topic: t.Topic, Doc: a.Description, Pos: a.Pos}
	var required []string
	for _, r := range a.Required {
		for _, p := range own {
			if p.Name == r {
				required = append(required, r)
			}
		}
	}
	b.object(nt, &load.Schema{Pos: a.Pos, Props: own, Required: required})
	b.pkg.Types = append(b.pkg.Types, nt)
	return nt
}
