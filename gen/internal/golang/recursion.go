package golang

import (
	"slices"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// recursion refuses objects that hold themselves by value: Go has no such type,
// and JSON no such finite value.
func (g *emitter) recursion() {
	done := map[*model.Type]bool{}
	var stack []*model.Type
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		t = real(t)
		if slices.Contains(stack, t) {
			g.fail(t.Pos, "make one of the members in the circle optional, or an array", "%s holds itself through members that are always there", t.Name)
			return
		}
		if done[t] || t.Kind != model.Object {
			return
		}
		stack = append(stack, t)
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Type.Kind == model.ToType && g.form(f) == plain {
				visit(f.Type.Type)
			}
		}
		stack = stack[:len(stack)-1]
		done[t] = true
	}
	for _, t := range g.types {
		visit(t)
	}
}
