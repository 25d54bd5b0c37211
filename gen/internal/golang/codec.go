package golang

import (
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
)

// codec writes the codec of one type.
func (g *emitter) codec(t *model.Type) string {
	switch t.Kind {
	case model.Object:
		return g.objectCodec(t)
	case model.Union:
		return g.unionCodec(t)
	}
	return ""
}

// public writes the exported half of a codec; every type with members has it.
func public(name string) string {
	return fmt.Sprintf(`// AppendJSON appends the value as one line of JSON.
func (v *%[1]s) AppendJSON(b []byte) []byte { return appendValue(b, v) }

// MarshalJSON implements json.Marshaler.
func (v *%[1]s) MarshalJSON() ([]byte, error) { return marshal(v) }

// UnmarshalJSON implements json.Unmarshaler. An error is a *DecodeError.
func (v *%[1]s) UnmarshalJSON(data []byte) error { return unmarshal(data, v) }

`, name)
}

func (g *emitter) objectCodec(t *model.Type) string {
	var b strings.Builder
	name := g.goName(t)
	b.WriteString(public(name))
	b.WriteString(g.decodeObject(t, name))
	fmt.Fprintf(&b, "func (v *%s) encode(w *jx.Writer) { finish(w, v.fields(w, '{')) }\n\n", name)
	b.WriteString(g.encodeFields(t, name))
	if t.Union != nil {
		b.WriteString(g.unionCodec(t))
	}
	return b.String()
}

func (g *emitter) decodeObject(t *model.Type, name string) string {
	if len(t.Fields) > 60 {
		g.fail(t.Pos, "split it", "%s has more members than the decoder's bit set holds", t.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func (v *%s) decode(d *jx.Decoder, tag string) error {\n\tif d.Next() != jx.Object {\n\t\treturn expected(\"an object\", d)\n\t}\n", name)
	if t.Union != nil {
		b.WriteString("\tstart := *d\n")
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Default != nil && !isZero(f.Default) {
			fmt.Fprintf(&b, "\tv.%s = %s\n", g.fieldName(t, f), f.Default)
		}
	}
	b.WriteString("\tvar seen, none members\n\tit, err := d.ObjIter()\n\tif err != nil {\n\t\treturn err\n\t}\n\tfor it.Next() {\n\t\tvar err error\n\t\tswitch key := it.Key(); string(key) {\n")
	for i := range t.Fields {
		f := &t.Fields[i]
		fmt.Fprintf(&b, "\t\tcase %q:\n\t\t\tif err = seen.once(1<<%d, %q); err == nil {\n\t\t\t\t%s\n\t\t\t}\n", f.Name, i, f.Name, g.decodeField(t, f))
	}
	b.WriteString("\t\tcase tag:\n\t\t\tif err = none.once(1, tag); err == nil {\n\t\t\t\terr = d.Skip()\n\t\t\t}\n\t\tdefault:\n\t\t\terr = d.Skip()\n\t\t}\n\t\tif err != nil {\n\t\t\treturn at(string(it.Key()), err)\n\t\t}\n\t}\n\tif err := it.Err(); err != nil {\n\t\treturn err\n\t}\n")
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required {
			fmt.Fprintf(&b, "\tif seen&(1<<%d) == 0 {\n\t\treturn missing(%q)\n\t}\n", i, f.Name)
		}
	}
	if t.Union != nil {
		u := g.union(t)
		fmt.Fprintf(&b, "\tv.%s, err = dec%s(&start)\n\treturn err\n}\n\n", u.field, u.name)
	} else {
		b.WriteString("\treturn nil\n}\n\n")
	}
	out := b.String()
	if strings.Count(out, "seen") == 1 { // an object without members
		out = strings.Replace(out, "var seen, none members", "var none members", 1)
	}
	return out
}

// decodeField is the statement that reads a member into its field.
func (g *emitter) decodeField(t *model.Type, f *model.Field) string {
	to, base := "v."+g.fieldName(t, f), g.dec(f.Type, f.SkipInvalid)
	if f.FromMap {
		base = g.decFromMap(f, base)
	}
	base = g.limited(f, base)
	call, plainCall := "", false
	switch fm := g.form(f); {
	case fm == tristate:
		call = fmt.Sprintf("decNullable(d, %s)", base)
	case fm == pointer && f.Nullable:
		call = fmt.Sprintf("decOpt(d, %s)", base)
	case fm == pointer:
		call = fmt.Sprintf("decPtr(d, %s)", base)
	case fm == nilable && f.Nullable:
		call = fmt.Sprintf("decNil(d, %s)", base)
	default:
		call, plainCall = base+"(d)", true
	}
	fn := base
	if !plainCall {
		fn = fmt.Sprintf("func(d *jx.Decoder) (%s, error) { return %s }", g.fieldType(f), call)
	}
	switch {
	case f.DefaultOnError && f.Type.Kind != model.ToRaw:
		return fmt.Sprintf("err = lenient(d, &%s, %s)", to, fn)
	case f.DefaultOnNull:
		return fmt.Sprintf("err = orNull(d, &%s, %s)", to, fn)
	default:
		return fmt.Sprintf("%s, err = %s", to, call)
	}
}

// decFromMap reads an array of name and value that may also come as an object.
func (g *emitter) decFromMap(f *model.Field, array string) string {
	elem := g.typeOf(*f.Type.Elem)
	return fmt.Sprintf("func(d *jx.Decoder) ([]%s, error) {\nif d.Next() != jx.Object {\nreturn (%s)(d)\n}\nreturn decPairs(d, func(name, value string) %s { return %s{Name: name, Value: value} })\n}", elem, array, elem, elem)
}

// limited wraps a decoder with the limits that a type's width does not keep.
func (g *emitter) limited(f *model.Field, base string) string {
	var cases []string
	add := func(cond, msg string) {
		cases = append(cases, fmt.Sprintf("case %s:\nerr = &DecodeError{Msg: %q}\n", cond, msg))
	}
	if f.MinLength > 0 {
		add(fmt.Sprintf("utf8.RuneCountInString(string(v)) < %d", f.MinLength), fmt.Sprintf("shorter than %d characters", f.MinLength))
	}
	if f.MinItems > 0 {
		add(fmt.Sprintf("len(v) < %d", f.MinItems), fmt.Sprintf("fewer than %d items", f.MinItems))
	}
	if f.Minimum != "" {
		add("v < "+f.Minimum, "less than "+f.Minimum)
	}
	if f.Maximum != "" {
		add("v > "+f.Maximum, "more than "+f.Maximum)
	}
	if cases == nil {
		return base
	}
	return fmt.Sprintf("func(d *jx.Decoder) (%s, error) {\nv, err := (%s)(d)\nswitch {\ncase err != nil:\n%s}\nreturn v, err\n}", g.typeOf(f.Type), base, strings.Join(cases, ""))
}

func scalarDec(b model.Base, name string) string {
	switch b {
	case model.String:
		return "decStr[" + name + "]"
	case model.Bool:
		return "decBool[" + name + "]"
	case model.Float64:
		return "decFloat[" + name + "]"
	case model.Int32, model.Int64:
		return "decInt[" + name + "]"
	default:
		return "decUint[" + name + "]"
	}
}

// dec is an expression of type func(*jx.Decoder) (T, error).
func (g *emitter) dec(r model.Ref, skip bool) string {
	switch r.Kind {
	case model.ToBase:
		return scalarDec(r.Base, baseNames[r.Base])
	case model.ToArray:
		return fmt.Sprintf("func(d *jx.Decoder) (%s, error) { return decArr(d, %v, %s) }", g.typeOf(r), skip, g.dec(*r.Elem, false))
	case model.ToMap:
		fn := "decMap"
		if ordered(r) {
			fn = "decEntries"
		}
		return fmt.Sprintf("func(d *jx.Decoder) (%s, error) { return %s(d, %s) }", g.typeOf(r), fn, g.dec(*r.Elem, false))
	case model.ToRaw:
		return "decRaw"
	case model.ToObject:
		return "decObject"
	}
	t := real(r.Type)
	name := g.goName(t)
	switch {
	case t.Kind == model.Object && g.foreign(t):
		return "decForeign[" + name + "]"
	case t.Kind == model.Object:
		return g.readStruct(name)
	case t.Kind == model.Union && g.foreign(t):
		return fmt.Sprintf("func(d *jx.Decoder) (%s, error) { return decWith(d, %s) }", name, g.qualified(t, "Decode"))
	case t.Kind == model.Union:
		return "dec" + name
	case t.Kind == model.Raw:
		return "decRaw"
	case t.Kind == model.Enum && !t.Enum.Open:
		return fmt.Sprintf("func(d *jx.Decoder) (%s, error) { return decKnown(d, %s) }", name, g.namedDec(t, name))
	default:
		return g.namedDec(t, name)
	}
}

// qualified is a function of the type's package that is named after it.
func (g *emitter) qualified(t *model.Type, prefix string) string {
	name := prefix + g.names.of(t.Name, t.Name)
	if g.foreign(t) {
		return g.imports[t.Pkg.Folder].Name + "." + name
	}
	return name
}

func (g *emitter) encodeFields(t *model.Type, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func (v *%s) fields(w *jx.Writer, c byte) byte {\n", name)
	comma := false // a member has certainly been written
	for i := range t.Fields {
		f := &t.Fields[i]
		x := "v." + g.fieldName(t, f)
		key := fmt.Sprintf("w.Buf = append(append(w.Buf, c), `%q:`...)\n", f.Name)
		if comma {
			key = fmt.Sprintf("w.Buf = append(w.Buf, `,%q:`...)\n", f.Name)
		}
		cond, value := g.encodeField(f, x)
		if cond != "" {
			fmt.Fprintf(&b, "\tif %s {\n\t\t%s\t\t%s", cond, key, value)
			if !comma {
				b.WriteString("\t\tc = ','\n")
			}
			b.WriteString("\t}\n")
			continue
		}
		b.WriteString("\t" + key + "\t" + value)
		comma = true
	}
	last := "c"
	if comma {
		last = "','"
	}
	if t.Union != nil {
		u := g.union(t)
		last = fmt.Sprintf("enc%sFields(w, v.%s, %s%s)", u.name, u.field, last, u.but())
	}
	fmt.Fprintf(&b, "\treturn %s\n}\n\n", last)
	return b.String()
}

// encodeField returns the condition under which a member is written ("" for
// always) and the statement that writes its value.
func (g *emitter) encodeField(f *model.Field, x string) (cond, value string) {
	always := f.Required || f.Default != nil && !f.Nullable
	switch g.form(f) {
	case tristate:
		return x + ".Set", fmt.Sprintf("if %[1]s.Value == nil {\n\t\t\tw.Null()\n\t\t} else {\n\t\t\t%[2]s\n\t\t}\n", x, g.enc(f.Type, "*"+x+".Value", "("+x+".Value)"))
	case pointer:
		value = g.enc(f.Type, "*"+x, x) + "\n"
		if f.Required { // nullable
			return "", fmt.Sprintf("if %s == nil {\n\t\t\tw.Null()\n\t\t} else {\n\t\t\t%s\t\t}\n", x, value)
		}
		return x + " != nil", value
	case nilable:
		value = g.enc(f.Type, x, "&"+x) + "\n"
		if always {
			return "", value
		}
		return x + " != nil", value
	}
	if lit, ok := stringDefault(f); ok {
		return "", fmt.Sprintf("encStr(w, string(cmp.Or(%s, %s)))\n", x, lit)
	}
	return "", g.enc(f.Type, x, "&"+x) + "\n"
}

// stringDefault is the non-empty default of a string member: its empty value
// stands for it.
func stringDefault(f *model.Field) (string, bool) {
	if f.Default == nil || isZero(f.Default) || f.Default[0] != '"' {
		return "", false
	}
	return string(f.Default), true
}

// enc is a statement that writes value; addr is its address.
func (g *emitter) enc(r model.Ref, value, addr string) string {
	switch r.Kind {
	case model.ToBase:
		return encScalar(r.Base, value, false)
	case model.ToArray:
		return fmt.Sprintf("encArr(w, %s, %s)", value, g.encFunc(*r.Elem))
	case model.ToMap:
		if ordered(r) {
			return fmt.Sprintf("encEntries(w, %s, %s)", value, g.encFunc(*r.Elem))
		}
		return fmt.Sprintf("encMap(w, %s, %s)", value, g.encFunc(*r.Elem))
	case model.ToRaw, model.ToObject:
		return fmt.Sprintf("encRaw(w, %s)", value)
	}
	t := real(r.Type)
	switch {
	case t.Kind == model.Object && g.foreign(t):
		return "w.Buf = " + strings.TrimPrefix(addr, "&") + ".AppendJSON(w.Buf)"
	case t.Kind == model.Object:
		return strings.TrimPrefix(addr, "&") + ".encode(w)"
	case t.Kind == model.Union && g.foreign(t):
		return fmt.Sprintf("w.Buf = %s(w.Buf, %s)", g.qualified(t, "Append"), value)
	case t.Kind == model.Union:
		return fmt.Sprintf("enc%s(w, %s)", g.goName(t), value)
	case t.Kind == model.Raw:
		return fmt.Sprintf("encRaw(w, %s)", value)
	default:
		return encScalar(t.Scalar, value, true)
	}
}

// encFunc is an expression of type func(*jx.Writer, *T).
func (g *emitter) encFunc(r model.Ref) string {
	return fmt.Sprintf("func(w *jx.Writer, e *%s) { %s }", g.typeOf(r), g.enc(r, "*e", "e"))
}

func encScalar(b model.Base, value string, named bool) string {
	conv := func(to string) string {
		if named || b != model.Int64 && b != model.Uint64 && b != model.String && b != model.Bool {
			return to + "(" + value + ")"
		}
		return value
	}
	switch b {
	case model.String:
		return "encStr(w, " + conv("string") + ")"
	case model.Bool:
		return "w.Bool(" + conv("bool") + ")"
	case model.Float64:
		return "encFloat(w, " + value + ")"
	case model.Int32, model.Int64:
		return "w.Int64(" + conv("int64") + ")"
	default:
		return "w.UInt64(" + conv("uint64") + ")"
	}
}

func (g *emitter) fail(p load.Pos, mend, format string, a ...any) {
	g.errs = append(g.errs, &load.Error{Pos: p, Msg: fmt.Sprintf(format, a...), Mend: mend})
}
