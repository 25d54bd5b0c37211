package markdown

import "github.com/acpkit/acpkit/gen/internal/model"

// Instances returns values of an object or a union of objects as compact JSON:
// one with the members it must have, one with all, and for a union one per
// branch.
func Instances(t *model.Type) []string {
	t = real(t)
	picks := []*model.Branch{nil}
	if t.Union != nil {
		for i := range t.Union.Branches {
			picks = append(picks, &t.Union.Branches[i])
		}
	}
	var list []string
	for _, pick := range picks {
		for depth := range 2 {
			b := builder{pick: pick}
			list = append(list, b.typed(sample{name: t.Name}, t).line())
			if t.Kind == model.Object && depth == 1 {
				list[len(list)-1] = b.object(t, 1).line()
			}
		}
	}
	return list
}
