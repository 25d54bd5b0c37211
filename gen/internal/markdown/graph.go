package markdown

import (
	"slices"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// name is the identity of a definition: each package is loaded for itself, so
// that one definition has several pointers.
type name struct{ folder, def string }

func nameOf(t *model.Type) name { return name{t.Pkg.Folder, t.Name} }

// direction says which way a value crosses the wire.
type direction int

const (
	toAgent direction = 1 << iota
	toHost
)

func (d direction) String() string {
	return map[direction]string{toAgent: "host → agent", toHost: "agent → host", toAgent | toHost: "both ways"}[d]
}

// directions of the params and the result of a method.
func directions(m model.Method) (params, result direction) {
	switch m.Side {
	case "agent":
		return toAgent, toHost
	case "client":
		return toHost, toAgent
	}
	return toAgent | toHost, toAgent | toHost
}

// graph tells how definitions hang together.
type graph struct {
	travels map[name]direction
	holders map[name][]*model.Type // who has it as a part
	copies  map[name][]*model.Type // extended copies in other folders
	owner   map[name]*model.Type   // of what a union spells out inline
}

func newGraph(books []*book) graph {
	g := graph{map[name]direction{}, map[name][]*model.Type{}, map[name][]*model.Type{}, map[name]*model.Type{}}
	for _, b := range books {
		for _, t := range b.Types {
			g.addType(t)
		}
		for _, m := range b.Methods {
			in, out := directions(m)
			g.visit(m.Params, in)
			if m.Result != nil {
				g.visit(m.Result, out)
			}
		}
	}
	return g
}

func (g graph) addType(t *model.Type) {
	if t.Union != nil {
		for _, br := range t.Union.Branches {
			if br.Inline {
				g.owner[nameOf(br.Type)] = t
			}
		}
	}
	if t.Extends != nil {
		g.copies[nameOf(t.Extends)] = append(g.copies[nameOf(t.Extends)], t)
		return // its parts are those of the original
	}
	for _, p := range parts(t) {
		if n := nameOf(p); !slices.Contains(g.holders[n], t) {
			g.holders[n] = append(g.holders[n], t)
		}
	}
}

func (g graph) visit(t *model.Type, d direction) {
	n := nameOf(t)
	if g.travels[n]&d == d {
		return
	}
	g.travels[n] |= d
	for _, p := range parts(t) {
		g.visit(p, d)
	}
}

// parts lists the definitions that t refers to.
func parts(t *model.Type) (all []*model.Type) {
	add := func(r *model.Ref) {
		for ; r != nil; r = r.Elem {
			if r.Kind == model.ToType {
				all = append(all, r.Type)
			}
		}
	}
	for i := range t.Fields {
		add(&t.Fields[i].Type)
	}
	if t.Union != nil {
		for _, br := range t.Union.Branches {
			if br.Type != nil {
				all = append(all, br.Type)
			}
			add(br.Ref)
		}
	}
	if t.Target != nil {
		all = append(all, t.Target)
	}
	return all
}

// isolated: no other definition and no method leads to t, so nothing else shows
// how it looks.
func (s *site) isolated(t *model.Type) bool {
	_, message := s.messages[t]
	return !message && len(s.holders[nameOf(t)]) == 0 && t.Extends == nil
}
