package markdown

import (
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// ours marks what an extension adds, in every place where it does.
const ours = "**ours**"

// extension is the line below an extended definition: what it extends, and why.
func (s *site) extension(page string, t *model.Type) string {
	// The model writes the reason behind the description of the original.
	why := strings.TrimPrefix(strings.TrimPrefix(t.Doc, t.Extends.Doc), "\n\nExtended: ")
	line := "Extends " + s.ref(page, t.Extends) + " of " + s.titleOf(t.Extends.Pkg) + ": " + s.changes(t) + "."
	if why = strings.Trim(why, ". \n"); why != "" {
		line += " Reason: " + prose(why) + "."
	}
	return line
}

// changes says in a few words what an extension changes.
func (s *site) changes(t *model.Type) string {
	byWord := map[string][]string{}
	for i := range t.Fields {
		for _, word := range fieldChanges(t, &t.Fields[i]) {
			byWord[word] = append(byWord[word], code(t.Fields[i].Name))
		}
	}
	var words []string
	for _, word := range []string{added, relaxed, lenient, asMap} {
		if names := byWord[word]; names != nil {
			words = append(words, list(names, "and")+" "+word)
		}
	}
	if u := t.Union; u != nil && (u.Aliases != nil || u.IgnoreCase) {
		words = append(words, "other spellings of "+code(u.Tag))
	}
	if s.messages[t].method.AlsoRequest {
		words = append(words, "it may also come as a request")
	}
	if words == nil { // it is a copy because it holds extended definitions
		return "what it holds"
	}
	return strings.Join(words, "; ")
}

// The words for what an extension does to a member.
const (
	added   = "added"
	relaxed = "may be left out"
	lenient = "is read leniently"
	asMap   = "may also be an object"
)

// fieldChanges compares a member with the same one of the original.
func fieldChanges(t *model.Type, f *model.Field) (words []string) {
	if t.Extends == nil {
		return nil
	}
	i := slices.IndexFunc(t.Extends.Fields, func(o model.Field) bool { return o.Name == f.Name })
	if i < 0 {
		return []string{added}
	}
	o := t.Extends.Fields[i]
	if o.Required && !f.Required {
		words = append(words, relaxed)
	}
	if !o.DefaultOnError && f.DefaultOnError {
		words = append(words, lenient)
	}
	if !o.FromMap && f.FromMap {
		words = append(words, asMap)
	}
	return words
}
