package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// members writes the presence table of an object.
func (s *site) members(w *writer, page string, t *model.Type) {
	if len(t.Fields) == 0 {
		if t.Union == nil {
			w.p("An object without members of its own: `{}`.")
		}
		return
	}
	var rows [][]string
	for i := range t.Fields {
		f := &t.Fields[i]
		words := fieldChanges(t, f)
		name := code(f.Name)
		if slices.Contains(words, added) {
			name += " " + ours
		}
		rows = append(rows, []string{name, s.fieldType(page, f), required(f, words), nullText(f), absentText(f), leniency(f, words), prose(f.Doc)})
	}
	w.table([]string{"Member", "Type", "Required", "Null", "When absent", "Lenient", "Description"}, rows)
}

func required(f *model.Field, words []string) string {
	switch {
	case f.Required:
		return "yes"
	case slices.Contains(words, relaxed):
		return "no, " + ours
	}
	return "no"
}

func nullText(f *model.Field) string {
	switch {
	case f.NullClears:
		return "clears it"
	case f.Nullable && f.Required:
		return "allowed"
	case f.Nullable:
		return "as absent"
	case f.Type.Kind == model.ToRaw:
		return "a value"
	}
	return "no"
}

func absentText(f *model.Field) string {
	switch {
	case f.Required:
		return "error"
	case f.Default != nil:
		return code(string(f.Default))
	case f.NullClears:
		return "unchanged"
	}
	return "absent"
}

// leniency says what a reader does instead of refusing the message.
func leniency(f *model.Field, words []string) string {
	var notes []string
	instead := "absent"
	switch {
	case f.Default != nil:
		instead = code(string(f.Default))
	case f.Type.Kind == model.ToArray && (f.Required || !f.Nullable):
		instead = "`[]`"
	case f.Type.Kind == model.ToMap && (f.Required || !f.Nullable):
		instead = "`{}`"
	case f.Required:
		instead = "empty"
	}
	if f.DefaultOnError && f.Type.Kind != model.ToRaw {
		note := "bad value counts as " + instead
		if slices.Contains(words, lenient) {
			note += " " + ours
		}
		notes = append(notes, note)
	} else if f.DefaultOnNull {
		notes = append(notes, "null counts as "+instead)
	}
	if f.SkipInvalid {
		notes = append(notes, "bad items are dropped")
	}
	if f.FromMap {
		notes = append(notes, "also an object of name and value "+ours)
	}
	if notes == nil {
		return none
	}
	return strings.Join(notes, "; ")
}

// fieldType is the type of a member with its limits.
func (s *site) fieldType(page string, f *model.Field) string {
	text := s.typeText(page, f.Type)
	if f.MinLength > 0 {
		text += fmt.Sprintf(", %s or more", plural(int(f.MinLength), "character", "characters"))
	}
	if f.MinItems > 0 {
		text += fmt.Sprintf(", %s or more", plural(int(f.MinItems), "item", "items"))
	}
	switch {
	case f.Minimum != "" && f.Maximum != "":
		text += ", " + f.Minimum + " to " + f.Maximum
	case f.Minimum != "":
		text += ", " + f.Minimum + " or more"
	case f.Maximum != "":
		text += ", at most " + f.Maximum
	}
	return text
}

func (s *site) typeText(page string, r model.Ref) string {
	switch r.Kind {
	case model.ToType:
		return s.ref(page, r.Type)
	case model.ToBase:
		return baseText(r.Base)
	case model.ToArray:
		return "array of " + s.typeText(page, *r.Elem)
	case model.ToMap:
		return "object, each value " + s.typeText(page, *r.Elem)
	case model.ToObject:
		return "object"
	}
	return "any JSON"
}

func baseText(b model.Base) string {
	return [...]string{model.String: "string", model.Bool: "boolean", model.Int32: "integer (int32)", model.Int64: "integer (int64)",
		model.Uint16: "integer (uint16)", model.Uint32: "integer (uint32)", model.Uint64: "integer (uint64)", model.Float64: "number"}[b]
}

// enumTable lists every value.
func enumTable(w *writer, e *model.EnumOf) {
	var rows [][]string
	for _, v := range e.Values {
		doc := prose(v.Doc)
		if v.Title != "" {
			doc = prose(v.Title) + ": " + doc
		}
		rows = append(rows, []string{code(strings.Trim(string(v.Const), `"`)), doc})
	}
	w.table([]string{"Value", "Meaning"}, rows)
	if e.Open {
		w.p("Any other value of this type is allowed too; a reader keeps it as it is.")
	} else {
		w.p("No other value is allowed; any other is a bad value.")
	}
}
