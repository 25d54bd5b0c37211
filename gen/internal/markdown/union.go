package markdown

import (
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// union writes the variants of a union, and what happens to a tag or a shape
// that is none of them.
func (s *site) union(w *writer, page string, t *model.Type) {
	u := t.Union
	lead := "One of these shapes"
	if t.Kind == model.Object {
		lead = "The members of one of these stand beside its own"
		if len(t.Fields) == 0 {
			lead = "It has the members of one of these"
		}
	}
	if u.Tag == "" {
		w.p("%s, told apart by JSON type or by the members that each requires:", lead)
	} else {
		w.p("%s, told apart by the tag `%s`:", lead, u.Tag)
	}
	head := "Variant"
	if u.Tag != "" {
		head = code(u.Tag)
	}
	var rows [][]string
	for i := range u.Branches {
		br := &u.Branches[i]
		tag := code(br.Tag)
		switch {
		case u.Tag == "":
			tag = prose(br.Title)
		case br.Implicit:
			tag = "absent, or " + tag
		}
		rows = append(rows, []string{tag, s.branchType(page, u, br), prose(br.Doc)})
	}
	w.table([]string{head, "Shape", "Description"}, rows)
	w.p("%s", strings.Join(otherTags(u), " "))
}

func (s *site) branchType(page string, u *model.UnionOf, br *model.Branch) string {
	switch {
	case br.Null:
		return "null"
	case br.Type != nil:
		return s.ref(page, br.Type)
	case br.Ref != nil:
		return s.typeText(page, *br.Ref)
	}
	return "no further members"
}

// otherTags says what a reader does with everything that is not in the table.
func otherTags(u *model.UnionOf) (lines []string) {
	tag := code(u.Tag)
	implicit := slices.ContainsFunc(u.Branches, func(br model.Branch) bool { return br.Implicit })
	switch {
	case u.Tag == "":
		return []string{"Anything that fits none of them is an error."}
	case u.Open:
		lines = append(lines, "Any other "+tag+" is allowed; a reader keeps it as it is, with all its members.")
	case implicit:
		lines = append(lines, "A reader keeps any other "+tag+" as it is, with all its members.")
	default:
		lines = append(lines, "There is no other "+tag+". A reader keeps one that it does not know as it is, with all its members, because the peer may be newer.")
	}
	switch {
	case u.Optional:
		lines = append(lines, "Without "+tag+" there is no variant.")
	case !implicit:
		lines = append(lines, "Without "+tag+" the value is an error.")
	}
	if u.IgnoreCase {
		lines = append(lines, "Upper and lower case of "+tag+" do not matter ("+ours+").")
	}
	for _, alias := range slices.Sorted(maps.Keys(u.Aliases)) {
		lines = append(lines, code(alias)+" is read as "+code(u.Aliases[alias])+" ("+ours+").")
	}
	return lines
}
