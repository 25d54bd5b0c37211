package model

import (
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// methodsFromEnvelopes makes the method table of a schema that comes without a
// methods.json: a definition with an x-method is the params of a request or of
// a notification, or a result, as the envelope says that lists it.
func (p *Package) methodsFromEnvelopes(set *load.Set) error {
	kinds := map[string]string{} // definition → request, notification or response
	for _, d := range set.Defs {
		if !d.Flag("x-docs-ignore") {
			continue
		}
		has := func(name string) bool {
			return slices.ContainsFunc(d.Props, func(p load.Prop) bool { return p.Name == name })
		}
		kind := "response"
		if has("method") {
			if kind = "notification"; has("id") {
				kind = "request"
			}
		}
		d.Walk(func(s *load.Schema) {
			if s.Ref != "" {
				kinds[s.Ref] = kind
			}
		})
	}
	for _, b := range set.Root { // the peer's own messages have no envelope definition
		b.Walk(func(s *load.Schema) {
			if s.Ref != "" && kinds[s.Ref] == "" {
				kinds[s.Ref] = "notification"
			}
		})
	}
	for _, t := range p.Types {
		if t.Method == "" || t.Extends != nil || kinds[t.Name] == "response" {
			continue
		}
		if kinds[t.Name] == "" {
			return load.Errorf(t.Pos, "%s says x-method %q, but no envelope lists it", t.Name, t.Method)
		}
		m := Method{Pkg: p, Key: key(t.Method), Name: t.Method, Side: t.Side, Kind: kinds[t.Name], Params: t, Summary: sentence(t.Doc)}
		for _, r := range p.Types {
			if m.Kind == "request" && r.Method == t.Method && kinds[r.Name] == "response" {
				m.Result = r
			}
		}
		p.Methods = append(p.Methods, m)
	}
	for i := range p.Methods { // the same method in both kinds
		for j := range p.Methods {
			if i != j && p.Methods[i].Name == p.Methods[j].Name && p.Methods[i].Kind == "notification" {
				p.Methods[i].Key = key(p.Methods[i].Name) + "_notification"
			}
		}
	}
	return nil
}

// key is the method as a file name: session/new is session_new.
func key(method string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r == '$' || r == '.' || r == '-' {
			return '_'
		}
		return r
	}, method), "_")
}

// sentence is the first sentence of a text, on one line.
func sentence(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}
