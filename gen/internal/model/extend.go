package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// extend copies the extended definitions of the other folder into this package,
// with everything that holds them, and applies the extensions to the copies.
// The originals stay exact.
func (b *builder) extend(ext *load.Extends) {
	of := b.imports[ext.Of]
	entries := map[*Type]load.Extension{}
	for _, e := range ext.Entries {
		t := of.byName[e.Definition]
		switch {
		case t == nil:
			b.fail(e.Pos, "correct the name, or remove the entry", "there is no definition %q in %s to extend", e.Definition, ext.Of)
			continue
		case entries[t].Definition != "":
			b.fail(e.Pos, "merge the two entries", "%s is extended twice", e.Definition)
		}
		entries[t] = e
	}
	copies := b.copies(of, entries)
	for _, t := range of.Types {
		c := copies[t]
		if c == nil {
			continue
		}
		b.retarget(c, copies)
		if e, ok := entries[t]; ok {
			b.apply(c, e)
		}
	}
	for _, m := range of.Methods {
		m.Params, m.Result = swap(m.Params, copies), swap(m.Result, copies)
		m.AlsoRequest = entries[original(m.Params)].AlsoRequest
		b.pkg.Methods = append(b.pkg.Methods, m)
	}
	b.pkg.ErrorType = of.ErrorType
}

func original(t *Type) *Type {
	if t.Extends != nil {
		return t.Extends
	}
	return t
}

func swap(t *Type, copies map[*Type]*Type) *Type {
	if c := copies[t]; c != nil {
		return c
	}
	return t
}

// copies makes a copy of each extended type, of each that holds one, and of the
// variants of each union among them, which must belong to its package.
func (b *builder) copies(of *Package, entries map[*Type]load.Extension) map[*Type]*Type {
	in := map[*Type]bool{}
	for t := range entries {
		in[t] = true
	}
	for grew := true; grew; {
		grew = false
		for _, t := range of.Types {
			holds := slices.ContainsFunc(t.uses(), func(u *Type) bool { return in[u] })
			if holds && !in[t] {
				in[t], grew = true, true
			}
			if in[t] && t.Union != nil {
				for _, br := range t.Union.Branches {
					if br.Type != nil && !in[br.Type] {
						in[br.Type], grew = true, true
					}
				}
			}
		}
	}
	copies := map[*Type]*Type{}
	for _, t := range of.Types {
		if !in[t] {
			continue
		}
		c := *t
		c.Pkg, c.Extends, c.Fields = b.pkg, t, slices.Clone(t.Fields)
		if b.pkg.byName[c.Name] != nil {
			b.fail(b.pkg.byName[c.Name].Pos, "rename it", "%s is also the name of an extended definition", c.Name)
		}
		copies[t] = &c
		b.pkg.Types = append(b.pkg.Types, &c)
		b.pkg.byName[c.Name] = &c
		if !slices.ContainsFunc(b.pkg.Topics, func(o load.Topic) bool { return o.Name == c.Topic }) {
			i := slices.IndexFunc(of.Topics, func(o load.Topic) bool { return o.Name == c.Topic })
			b.pkg.Topics = append(b.pkg.Topics, of.Topics[i])
		}
	}
	return copies
}

// uses lists the types that a type refers to.
func (t *Type) uses() (list []*Type) {
	add := func(r *Ref) {
		for ; r != nil; r = r.Elem {
			if r.Kind == ToType {
				list = append(list, r.Type)
			}
		}
	}
	for i := range t.Fields {
		add(&t.Fields[i].Type)
	}
	if t.Union != nil {
		for _, br := range t.Union.Branches {
			if br.Type != nil {
				list = append(list, br.Type)
			}
			add(br.Ref)
		}
	}
	if t.Target != nil {
		list = append(list, t.Target)
	}
	return list
}

// retarget makes a copy refer to copies.
func (b *builder) retarget(c *Type, copies map[*Type]*Type) {
	var ref func(r Ref) Ref
	ref = func(r Ref) Ref {
		if r.Type != nil {
			r.Type = swap(r.Type, copies)
		}
		if r.Elem != nil {
			e := ref(*r.Elem)
			r.Elem = &e
		}
		return r
	}
	for i := range c.Fields {
		c.Fields[i].Type = ref(c.Fields[i].Type)
	}
	if c.Target != nil {
		c.Target = swap(c.Target, copies)
	}
	if c.Union == nil {
		return
	}
	u := *c.Union
	u.Branches = slices.Clone(u.Branches)
	for i := range u.Branches {
		br := &u.Branches[i]
		br.Type = swap(br.Type, copies)
		if br.Ref != nil {
			r := ref(*br.Ref)
			br.Ref = &r
		}
	}
	c.Union = &u
}

func (b *builder) apply(c *Type, e load.Extension) {
	member := func(name string, change func(*Field)) {
		for i := range c.Fields {
			if c.Fields[i].Name == name {
				change(&c.Fields[i])
				return
			}
		}
		b.fail(e.Pos, "correct the name", "%s has no member %q", e.Definition, name)
	}
	if len(e.Members) > 0 && c.Kind != Object {
		b.fail(e.Pos, "extend the objects that are its variants", "%s is no object and takes no members", e.Definition)
	}
	for _, m := range e.Members {
		if slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Name == m.Name }) {
			b.fail(m.Pos, "remove it from the extension", "%s has a member %q already", e.Definition, m.Name)
		}
		c.Fields = append(c.Fields, b.field(m, false))
	}
	for _, name := range e.Optional {
		member(name, func(f *Field) { f.Required = false })
	}
	for _, name := range e.Lenient {
		member(name, func(f *Field) { f.DefaultOnError = true })
	}
	for _, name := range e.FromMap {
		member(name, func(f *Field) {
			f.FromMap = true
			if f.Type.Kind != ToArray || !pair(f.Type.Elem) {
				b.fail(e.Pos, "only such arrays can also come as an object", "%s.%s is no array of name and value", e.Definition, name)
			}
		})
	}
	if e.TagAliases != nil || e.TagIgnoreCase {
		if c.Union == nil || c.Union.Tag == "" {
			b.fail(e.Pos, "", "%s is no union with a tag", e.Definition)
			return
		}
		for _, alias := range slices.Sorted(maps.Keys(e.TagAliases)) {
			tag := e.TagAliases[alias]
			if slices.ContainsFunc(c.Union.Branches, func(br Branch) bool { return br.Tag == alias }) {
				b.fail(e.Pos, "remove the alias", "%q is a tag already", alias)
			}
			if !slices.ContainsFunc(c.Union.Branches, func(br Branch) bool { return br.Tag == tag }) {
				b.fail(e.Pos, "correct the tag", "%q is to mean %q, which is no tag of %s", alias, tag, e.Definition)
			}
		}
		c.Union.Aliases, c.Union.IgnoreCase = e.TagAliases, e.TagIgnoreCase
	}
	c.Doc += "\n\nExtended: " + strings.TrimSuffix(e.Why, ".") + "."
}

// pair reports whether r is an object of the two strings name and value.
func pair(r *Ref) bool {
	if r.Kind != ToType || r.Type.Kind != Object {
		return false
	}
	found := 0
	for _, f := range r.Type.Fields {
		if (f.Name == "name" || f.Name == "value") && f.Type.Kind == ToBase && f.Type.Base == String {
			found++
		}
	}
	return found == 2
}
