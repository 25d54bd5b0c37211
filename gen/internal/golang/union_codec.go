package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

func (g *emitter) unionCodec(t *model.Type) string {
	u := g.union(t)
	var b strings.Builder
	if t.Kind == model.Union {
		fmt.Fprintf(&b, "// Decode%[1]s reads one %[1]s. An error is a *DecodeError.\nfunc Decode%[1]s(data []byte) (%[1]s, error) {\n\tvar d jx.Decoder\n\td.ResetBytes(data)\n\tv, err := dec%[1]s(&d)\n\treturn v, end(&d, err)\n}\n\n", u.name)
	}
	if u.Tag != "" {
		b.WriteString(g.decTagged(u))
	} else {
		b.WriteString(g.decUntagged(u))
	}
	b.WriteString(g.encUnion(t, u))
	for _, v := range u.variants {
		switch {
		case v.wraps:
			b.WriteString(wrapperCodec(u, v))
		case v.nested:
			b.WriteString(g.nestedCodec(u, v))
		case v.made != nil:
			b.WriteString(g.objectCodec(v.made))
		}
	}
	return b.String()
}

// wrapperCodec gives a type that embeds a shared definition its own codec:
// the promoted methods would leave out the tag.
func wrapperCodec(u *unionGo, v variant) string {
	return public(v.name) + fmt.Sprintf(`func (v *%[1]s) encode(w *jx.Writer) {
	w.Buf = append(w.Buf, `+"`{%[2]q:%[3]q`"+`...)
	finish(w, v.fields(w, ','))
}

`, v.name, u.Tag, v.Tag)
}

// nestedCodec is that of a variant which is a union itself: its tag stands beside
// the outer one.
func (g *emitter) nestedCodec(u *unionGo, v variant) string {
	inner := g.goName(real(v.Type))
	return public(v.name) + fmt.Sprintf(`func (v *%[1]s) decode(d *jx.Decoder, tag string) (err error) {
	v.%[4]s, err = dec%[4]s(d)
	return err
}

func (v *%[1]s) encode(w *jx.Writer) {
	w.Buf = append(w.Buf, `+"`{%[2]q:%[3]q`"+`...)
	finish(w, v.fields(w, ','))
}

func (v *%[1]s) fields(w *jx.Writer, c byte) byte { return enc%[4]sFields(w, v.%[4]s, c, %[2]q) }

`, v.name, u.Tag, v.Tag, inner)
}

func (g *emitter) decTagged(u *unionGo) string {
	var b strings.Builder
	peek := "peekTag"
	if u.Optional {
		peek = "peekTagOrNull"
	}
	fmt.Fprintf(&b, "func dec%s(d *jx.Decoder) (%s, error) {\n\ttag, ok, err := %s(d, %q)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", u.name, u.name, peek, u.Tag)
	implicit := ""
	var cases strings.Builder
	for _, v := range u.variants {
		call := fmt.Sprintf("decVariant[%s](d, %q)", v.name, u.Tag)
		if v.Implicit {
			implicit = call
		}
		tags := quoted(append([]string{v.Tag}, u.aliases(v.Tag)...))
		fmt.Fprintf(&cases, "\tcase %s:\n\t\treturn %s\n", tags, call)
	}
	if implicit != "" {
		fmt.Fprintf(&b, "\tif !ok {\n\t\treturn %s\n\t}\n", implicit)
	} else if u.Optional {
		b.WriteString("\tif !ok {\n\t\treturn nil, nil\n\t}\n")
	} else {
		fmt.Fprintf(&b, "\tif !ok {\n\t\treturn nil, missing(%q)\n\t}\n", u.Tag)
	}
	if u.IgnoreCase {
		b.WriteString("\ttag = bytes.ToLower(tag)\n")
	}
	fmt.Fprintf(&b, "\tswitch string(tag) {\n%s\t}\n\treturn decUnknown(d, %q, tag)\n}\n\n", cases.String(), u.Tag)
	return b.String()
}

// aliases are the other spellings of a tag, sorted.
func (u *unionGo) aliases(tag string) []string {
	var list []string
	for alias, of := range u.Aliases {
		if of == tag {
			list = append(list, alias)
		}
	}
	slices.Sort(list)
	return list
}

// decUntagged tells variants apart by their JSON type, then by the members or
// the items that they require.
func (g *emitter) decUntagged(u *unionGo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func dec%s(d *jx.Decoder) (%s, error) {\n\tswitch d.Next() {\n", u.name, u.name)
	byType := map[string][]variant{}
	var order []string
	for _, v := range u.variants {
		k := g.jsonType(v)
		if byType[k] == nil {
			order = append(order, k)
		}
		byType[k] = append(byType[k], v)
	}
	other := fmt.Sprintf("\treturn nil, noVariant(d, %q)\n", u.name)
	for _, k := range order {
		vs := byType[k]
		if k == "" { // anything else
			other = g.decBranch(vs[0])
			continue
		}
		fmt.Fprintf(&b, "\tcase jx.%s:\n", k)
		for i, v := range vs {
			cond := g.guard(k, v)
			ret := g.decBranch(v)
			if i == len(vs)-1 && (k != "Object" || len(vs) == 1) {
				b.WriteString(ret)
				continue
			}
			if cond == "" {
				g.fail(u.Pos, "give the earlier one a required member", "two variants of %s cannot be told apart", u.name)
			}
			fmt.Fprintf(&b, "\t\tif %s {\n%s\t\t}\n", cond, ret)
		}
	}
	fmt.Fprintf(&b, "\t}\n%s}\n\n", other)
	return b.String()
}

// jsonType is the jx type that a variant begins with, "" for any.
func (g *emitter) jsonType(v variant) string {
	switch {
	case v.Null:
		return "Null"
	case v.Ref == nil || v.Ref.Kind == model.ToMap || v.Ref.Kind == model.ToObject:
		return "Object"
	case v.Ref.Kind == model.ToArray:
		return "Array"
	case v.Ref.Kind == model.ToRaw:
		return ""
	}
	base := v.Ref.Base
	if v.Ref.Kind == model.ToType {
		base = real(v.Ref.Type).Scalar
	}
	switch base {
	case model.String:
		return "String"
	case model.Bool:
		return "Bool"
	default:
		return "Number"
	}
}

func (g *emitter) guard(jsonType string, v variant) string {
	switch jsonType {
	case "Object":
		if req := required(v.Type); req != "" {
			return "has(d, " + req + ")"
		}
	case "Array":
		if e := v.Ref.Elem; e.Kind == model.ToType {
			if req := required(real(e.Type)); req != "" {
				return "firstHas(d, " + req + ")"
			}
		}
	case "Number":
		if v.Ref.Base != model.Float64 {
			return "isInteger(d)"
		}
	}
	return ""
}

func required(t *model.Type) string {
	var req []string
	if t != nil {
		for _, f := range t.Fields {
			if f.Required {
				req = append(req, fmt.Sprintf("%q", f.Name))
			}
		}
	}
	return strings.Join(req, ", ")
}

func (g *emitter) decBranch(v variant) string {
	switch {
	case v.Null:
		return fmt.Sprintf("\t\treturn %s{}, d.Null()\n", v.name)
	case v.Ref != nil:
		return fmt.Sprintf("\t\tv, err := %s(d)\n\t\treturn %s(v), err\n", g.dec(*v.Ref, false), v.name)
	default:
		return fmt.Sprintf("\t\treturn decVariant[%s](d, \"\")\n", v.name)
	}
}

func (g *emitter) encUnion(t *model.Type, u *unionGo) string {
	var b strings.Builder
	objects := g.onlyObjects(u)
	flat := t.Kind == model.Object
	if !flat {
		fmt.Fprintf(&b, "// Append%[1]s appends v as one line of JSON, with the tag that its type alone does not show.\nfunc Append%[1]s(b []byte, v %[1]s) []byte {\n\treturn appendValue(b, encodeFunc(func(w *jx.Writer) { enc%[1]s(w, v) }))\n}\n\n", u.name)
		b.WriteString(g.encWhole(u, objects))
	}
	if objects {
		b.WriteString(g.encFlat(u))
	}
	return b.String()
}

func (g *emitter) onlyObjects(u *unionGo) bool {
	for _, v := range u.variants {
		if !v.object {
			return false
		}
	}
	return true
}

// encWhole writes the union as a value of its own.
func (g *emitter) encWhole(u *unionGo, objects bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func enc%s(w *jx.Writer, v %s) {\n\tswitch v := v.(type) {\n", u.name, u.name)
	if u.Tag != "" {
		b.WriteString("\tcase *Unknown:\n\t\tv.encode(w)\n")
	}
	for _, v := range u.variants {
		if !v.object {
			fmt.Fprintf(&b, "\tcase %s:\n\t\t%s\n", v.goType(), g.encBranch(v))
		}
	}
	if objects {
		fmt.Fprintf(&b, "\tcase nil:\n\t\tw.Null()\n\tdefault:\n\t\tfinish(w, enc%sFields(w, v, '{'))\n\t}\n}\n\n", u.name)
		return b.String()
	}
	for _, v := range u.variants {
		if v.object {
			fmt.Fprintf(&b, "\tcase %s:\n\t\tv.encode(w)\n", v.goType())
		}
	}
	b.WriteString("\tdefault:\n\t\tw.Null()\n\t}\n}\n\n")
	return b.String()
}

func (g *emitter) encBranch(v variant) string {
	if v.Null {
		return "w.Null()"
	}
	switch r := *v.Ref; r.Kind {
	case model.ToBase:
		return encScalar(r.Base, "v", true)
	case model.ToRaw, model.ToObject:
		return "encRaw(w, json.RawMessage(v))"
	default:
		return g.enc(r, "v", "&v")
	}
}

// encFlat writes the tag and the members after c, and returns what the next
// member is written after. but lists the members that stand beside the union
// already, for a variant that is kept raw.
func (g *emitter) encFlat(u *unionGo) string {
	var b strings.Builder
	but := ""
	if u.Tag != "" {
		but = ", but ...string"
	}
	fmt.Fprintf(&b, "func enc%s(w *jx.Writer, v %s, c byte%s) byte {\n\tswitch v := v.(type) {\n", u.name+"Fields", u.name, but)
	for _, v := range u.variants {
		fmt.Fprintf(&b, "\tcase %s:\n", v.goType())
		if u.Tag == "" || v.Implicit {
			b.WriteString("\t\treturn v.fields(w, c)\n")
			continue
		}
		fmt.Fprintf(&b, "\t\tw.Buf = append(append(w.Buf, c), `%q:%q`...)\n\t\treturn v.fields(w, ',')\n", u.Tag, v.Tag)
	}
	if u.Tag != "" {
		b.WriteString("\tcase *Unknown:\n\t\treturn encMembers(w, v.Raw, c, but...)\n")
	}
	b.WriteString("\t}\n\treturn c\n}\n\n")
	return b.String()
}

func quoted(list []string) string {
	var q []string
	for _, s := range list {
		q = append(q, fmt.Sprintf("%q", s))
	}
	return strings.Join(q, ", ")
}
