package golang

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
	"github.com/acpkit/acpkit/gen/internal/overlay"
)

// form is how a member is held in its struct.
type form int

const (
	plain    form = iota // the value; its zero value is not absent
	pointer              // nil is absent
	nilable              // slice, map, raw value or interface: nil is absent
	tristate             // Nullable[T]
)

func (g *emitter) form(f *model.Field) form {
	switch {
	case f.NullClears:
		return tristate
	case g.hasNil(f.Type):
		return nilable
	case f.Required && !f.Nullable, f.Default != nil && !f.Nullable:
		return plain
	default:
		return pointer
	}
}

func (g *emitter) hasNil(r model.Ref) bool {
	if r.Kind == model.ToType {
		kind := real(r.Type).Kind
		return kind == model.Union || kind == model.Raw
	}
	return r.Kind != model.ToBase
}

var baseNames = map[model.Base]string{
	model.String: "string", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64",
	model.Uint16: "uint16", model.Uint32: "uint32", model.Uint64: "uint64", model.Float64: "float64",
}

// ordered reports whether the members of a map keep their order: they do when
// the values are more than scalars, as in the properties of a form.
func ordered(r model.Ref) bool {
	if r.Elem.Kind != model.ToType {
		return false
	}
	kind := real(r.Elem.Type).Kind
	return kind == model.Object || kind == model.Union
}

func (g *emitter) typeOf(r model.Ref) string {
	switch r.Kind {
	case model.ToType:
		return g.goName(r.Type)
	case model.ToBase:
		return baseNames[r.Base]
	case model.ToArray:
		return "[]" + g.typeOf(*r.Elem)
	case model.ToMap:
		if ordered(r) {
			return "[]Entry[" + g.typeOf(*r.Elem) + "]"
		}
		return "map[string]" + g.typeOf(*r.Elem)
	default:
		return "json.RawMessage"
	}
}

func (g *emitter) fieldType(f *model.Field) string {
	switch t := g.typeOf(f.Type); g.form(f) {
	case pointer:
		return "*" + t
	case tristate:
		return "Nullable[" + t + "]"
	default:
		return t
	}
}

// declare writes the types of one topic.
func (g *emitter) declare(t *model.Type) string {
	var b strings.Builder
	name := g.goName(t)
	doc := overlay.Comment("", t.Doc)
	switch t.Kind {
	case model.Object:
		b.WriteString(g.structs[name])
		if t.Union != nil {
			b.WriteString("\n" + g.declareUnion(t))
		}
	case model.Enum:
		b.WriteString(doc + g.declareEnum(t))
	case model.Union:
		b.WriteString(g.declareUnion(t))
	case model.Scalar:
		fmt.Fprintf(&b, "%stype %s %s\n", doc, name, baseNames[t.Scalar])
	case model.Raw:
		fmt.Fprintf(&b, "%stype %s = json.RawMessage\n", doc, name)
	case model.Alias:
		fmt.Fprintf(&b, "%stype %s = %s\n", doc, name, g.goName(t.Target))
	}
	return b.String()
}

func (g *emitter) declareEnum(t *model.Type) string {
	var b strings.Builder
	name := g.goName(t)
	fmt.Fprintf(&b, "type %s %s\n\n// The values of %s.\nconst (\n", name, baseNames[t.Scalar], name)
	for _, v := range t.Enum.Values {
		word := v.Title
		if word == "" {
			word = strings.Trim(string(v.Const), `"`)
		}
		b.WriteString(overlay.Comment("\t", v.Doc))
		fmt.Fprintf(&b, "\t%s %s = %s\n", g.scope.claim(name+g.names.word(word), t.Pos), name, v.Const)
	}
	b.WriteString(")\n\n")
	fmt.Fprintf(&b, "// Known reports whether v is one of the values that the schema names.\nfunc (v %s) Known() bool {\n\tswitch v {\n\tcase ", name)
	for i, v := range t.Enum.Values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(v.Const)
	}
	b.WriteString(":\n\t\treturn true\n\t}\n\treturn false\n}\n")
	return b.String()
}

// overlayStructs collects the object types for the struct library.
func (g *emitter) overlayStructs() []overlay.Struct {
	var list []overlay.Struct
	for _, t := range g.types {
		if t.Kind != model.Object {
			continue
		}
		s := overlay.Struct{Name: g.goName(t), Doc: t.Doc}
		names := scope{map[string]load.Pos{}, true, &g.errs}
		for i := range t.Fields {
			f := &t.Fields[i]
			s.Fields = append(s.Fields, overlay.Field{Name: names.claim(g.fieldName(t, f), f.Pos), Type: g.fieldType(f), Wire: f.Name,
				Doc: g.fieldDoc(f), Omit: !f.Required})
		}
		if t.Union != nil {
			u := g.union(t)
			s.Fields = append(s.Fields, overlay.Field{Name: names.claim(u.field, t.Pos), Type: u.name, Wire: "-",
				Doc: u.fieldDoc})
		}
		list = append(list, s)
	}
	return list
}

func (g *emitter) fieldDoc(f *model.Field) string {
	doc := f.Doc
	if f.Default != nil && !isZero(f.Default) {
		doc += " Default: " + string(f.Default) + "."
	}
	return doc
}

// isZero reports whether a default is what the zero value means anyway.
func isZero(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	return zeroValue(v)
}

func zeroValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, e := range v {
			if !zeroValue(e) {
				return false
			}
		}
		return true
	}
	return false
}
