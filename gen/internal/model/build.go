package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// Build turns what was read from folder into the model, imported folders first.
func Build(folder string, set *load.Set) (*Package, error) {
	b := &builder{set: set, pkg: &Package{Folder: folder, Topics: set.Topics, byName: map[string]*Type{}}, imports: map[string]*Package{}}
	for _, f := range slices.Sorted(maps.Keys(set.Imports)) {
		imp, err := Build(f, set.Imports[f])
		if err != nil {
			return nil, err
		}
		b.pkg.Imports = append(b.pkg.Imports, imp)
		b.imports[f] = imp
	}
	used := b.payloads()
	for _, d := range set.Defs {
		if used[d.Name] {
			t := &Type{Pkg: b.pkg, Name: d.Name, Topic: d.Topic, Doc: d.Description, Pos: d.Pos, Method: d.X["x-method"], Side: d.X["x-side"]}
			b.pkg.Types = append(b.pkg.Types, t)
			b.pkg.byName[d.Name] = t
		}
	}
	for _, d := range set.Defs {
		if t := b.pkg.byName[d.Name]; t != nil {
			b.fill(t, d.Schema)
		}
	}
	b.aliasCycles()
	b.errorType()
	if set.Extends != nil {
		b.extend(set.Extends)
	}
	if len(b.errs) == 0 {
		b.errs = append(b.errs, b.methods())
	}
	if f := set.ContractFile; f != nil {
		b.errs = append(b.errs, b.pkg.readContract(f))
	}
	return b.pkg, errors.Join(b.errs...)
}

type builder struct {
	set     *load.Set
	pkg     *Package
	imports map[string]*Package
	errs    []error
}

func (b *builder) fail(p load.Pos, mend, format string, a ...any) {
	b.errs = append(b.errs, &load.Error{Pos: p, Msg: fmt.Sprintf(format, a...), Mend: mend})
}

// payloads tells which definitions become types: not the envelopes
// (x-docs-ignore), which the JSON-RPC peer owns, nor what only envelopes use.
func (b *builder) payloads() map[string]bool {
	byEnvelope, byPayload := map[string]bool{}, map[string]bool{}
	for _, d := range b.set.Defs {
		refs := byPayload
		if d.Flag("x-docs-ignore") {
			refs = byEnvelope
		}
		d.Walk(func(s *load.Schema) {
			if s.Ref != "" {
				refs[s.Ref] = true
			}
		})
	}
	used := map[string]bool{}
	for _, d := range b.set.Defs {
		envelopeOnly := byEnvelope[d.Name] && !byPayload[d.Name] && d.X["x-method"] == "" && d.Type == ""
		used[d.Name] = !d.Flag("x-docs-ignore") && !envelopeOnly
	}
	for _, d := range b.set.Defs {
		// What an envelope names in `error` is a payload of its own.
		if e := errorRef(d); e != "" {
			used[e] = true
		}
	}
	return used
}

// errorRef finds the definition that an envelope names in its error member.
func errorRef(d *load.Def) string {
	if !d.Flag("x-docs-ignore") {
		return ""
	}
	name := ""
	d.Walk(func(s *load.Schema) {
		for _, p := range s.Props {
			if p.Name == "error" {
				name = single(p.Schema).Ref
			}
		}
	})
	return name
}

func (b *builder) errorType() {
	for _, d := range b.set.Defs {
		if e := errorRef(d); e != "" {
			b.pkg.ErrorType = b.pkg.byName[e]
		}
	}
}

// single looks through an allOf with one entry, which is how the published
// schema attaches annotations to a reference.
func single(s *load.Schema) *load.Schema {
	if s.Ref == "" && len(s.AllOf) == 1 && len(s.Props) == 0 && s.Type == "" {
		return s.AllOf[0]
	}
	return s
}

// notNull returns the other branch of `anyOf: [X, null]`.
func notNull(s *load.Schema) (*load.Schema, bool) {
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" && len(s.Props) == 0 {
		return single(s.AnyOf[0]), true
	}
	return s, false
}

func (b *builder) fill(t *Type, s *load.Schema) {
	alts := slices.Concat(s.OneOf, s.AnyOf)
	switch {
	case isEnum(alts):
		t.Kind, t.Enum, t.Scalar = Enum, b.enum(alts), b.base(alts[0])
	case s.Type == "object" && s.Values != nil:
		b.fail(s.Pos, "write the map where it is used, as a member", "definition %s is a map", t.Name)
	case s.Type == "object" && s.Free && len(s.Props) == 0 && len(alts) == 0:
		b.fail(s.Pos, "write it where it is used, as a member", "definition %s is an object of any members", t.Name)
	case (s.Type == "object" || len(s.Props) > 0) && (len(s.AllOf) > 0 || s.Ref != ""):
		b.fail(s.Pos, "write the members out", "definition %s has members of its own beside a reference", t.Name)
	case s.Type == "object" || len(s.Props) > 0:
		b.object(t, s)
		if len(alts) > 0 {
			t.Union = b.union(t, s, alts)
		}
	case len(alts) > 0:
		t.Kind, t.Union = Union, b.union(t, s, alts)
	case s.Type == "string", s.Type == "integer", s.Type == "number", s.Type == "boolean":
		t.Kind, t.Scalar = Scalar, b.base(s)
	case s.Type == "" && s.Ref == "" && len(s.AllOf) == 0:
		t.Kind = Raw
	case s.Type == "" && single(s).Ref != "":
		t.Kind, t.Target = Alias, b.named(single(s))
	default:
		b.fail(s.Pos, "write an object, a scalar, an enum of constants or a union", "definition %s has a shape that the generator does not know", t.Name)
	}
}

func isEnum(alts []*load.Schema) bool {
	consts := 0
	for _, a := range alts {
		if a.Type != "string" && a.Type != "integer" {
			return false
		}
		if a.Const != nil {
			consts++
		}
	}
	return consts > 0 && consts >= len(alts)-1
}

func (b *builder) enum(alts []*load.Schema) *EnumOf {
	e := &EnumOf{}
	for _, a := range alts {
		if a.Const == nil {
			e.Open = true
			continue
		}
		e.Values = append(e.Values, EnumValue{Const: a.Const, Title: a.Title, Doc: a.Description})
	}
	return e
}

// widths maps a JSON type and a format to the exact base.
var widths = map[[2]string]Base{
	// Texts keep their spelling: a time or a pattern is passed on as it came.
	{"string", ""}: String, {"string", "uri"}: String, {"string", "date-time"}: String, {"string", "regex"}: String, {"boolean", ""}: Bool, {"number", ""}: Float64, {"number", "double"}: Float64,
	{"integer", ""}: Int64, {"integer", "int32"}: Int32, {"integer", "int64"}: Int64,
	{"integer", "uint16"}: Uint16, {"integer", "uint32"}: Uint32, {"integer", "uint64"}: Uint64,
}

func (b *builder) base(s *load.Schema) Base {
	w, ok := widths[[2]string{s.Type, s.Format}]
	if !ok {
		b.fail(s.Pos, "use one of the known formats, or teach the model this one", "type %q with format %q is not known", s.Type, s.Format)
	}
	return w
}

func (b *builder) object(t *Type, s *load.Schema) {
	t.Kind = Object
	for _, p := range s.Props {
		if p.Name == "" || p.Name == "-" {
			b.fail(p.Pos, "rename it", "a member cannot be called %q in Go", p.Name)
			continue
		}
		t.Fields = append(t.Fields, b.field(p, slices.Contains(s.Required, p.Name)))
	}
	for _, r := range s.Required {
		if !slices.ContainsFunc(s.Props, func(p load.Prop) bool { return p.Name == r }) {
			b.fail(s.Pos, "add the property or remove it from required", "%s requires %q, which is not one of its properties", t.Name, r)
		}
	}
}

func (b *builder) field(p load.Prop, required bool) Field {
	f := Field{Name: p.Name, Doc: p.Description, Pos: p.Pos, Required: required, Default: p.Default,
		DefaultOnError: p.Flag("x-deserialize-default-on-error"), DefaultOnNull: p.Flag("x-deserialize-default-on-null"),
		SkipInvalid: p.Flag("x-deserialize-skip-invalid-items"), NullClears: p.X["x-acpkit-null"] == "clear"}
	s, nullable := notNull(p.Schema)
	f.Nullable = nullable || p.Nullable
	f.Type = b.ref(single(s))
	if p.MinLength != nil {
		f.MinLength = *p.MinLength
	}
	if p.MinItems != nil {
		f.MinItems = *p.MinItems
	}
	if f.Type.Kind == ToBase {
		f.Minimum, f.Maximum = limits(s, f.Type.Base)
	}
	if string(f.Default) == "null" {
		f.Default = nil
	}
	return f
}

// limits returns what minimum and maximum add to the range of the base.
func limits(s *load.Schema, w Base) (lo, hi string) {
	lo, hi = s.Minimum, s.Maximum
	if lo == "0" && (w == Uint16 || w == Uint32 || w == Uint64) {
		lo = ""
	}
	if hi == "65535" && w == Uint16 {
		hi = ""
	}
	return lo, hi
}

func (b *builder) ref(s *load.Schema) Ref {
	switch {
	case s.Ref != "":
		if t := b.named(s); t != nil {
			return Ref{Kind: ToType, Type: t}
		}
	case s.Type == "array":
		if s.Items == nil {
			return Ref{Kind: ToArray, Elem: &Ref{Kind: ToRaw}}
		}
		e := b.ref(single(s.Items))
		return Ref{Kind: ToArray, Elem: &e}
	case s.Type == "object" && s.Values != nil:
		e := b.ref(single(s.Values))
		return Ref{Kind: ToMap, Elem: &e}
	case s.Type == "object" && len(s.Props) == 0:
		return Ref{Kind: ToObject}
	case s.Type == "" && len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0:
		return Ref{Kind: ToRaw}
	case s.Type == "string" || s.Type == "integer" || s.Type == "number" || s.Type == "boolean":
		return Ref{Kind: ToBase, Base: b.base(s)}
	default:
		b.fail(s.Pos, "move it into $defs and refer to it", "a member cannot spell out an object or a union")
	}
	return Ref{Kind: ToRaw}
}

// aliasCycles refuses aliases that never come to a type.
func (b *builder) aliasCycles() {
	for _, t := range b.pkg.Types {
		seen := map[*Type]bool{}
		for a := t; a != nil && a.Kind == Alias; a = a.Target {
			if seen[a] {
				b.fail(t.Pos, "let one of them be a type", "%s is an alias of itself", t.Name)
				a.Kind = Raw // so that nobody follows it for ever
				break
			}
			seen[a] = true
		}
	}
}

// named is the type that a reference names, here or in an imported folder.
func (b *builder) named(s *load.Schema) *Type {
	in := b.pkg
	if s.RefFolder != "" {
		in = b.imports[s.RefFolder]
	}
	t := in.byName[s.Ref]
	if t == nil {
		b.fail(s.Pos, "refer to a payload", "%s is an envelope and cannot be referred to", s.Ref)
	}
	return t
}

// text returns the string behind a JSON string constant.
func text(c json.RawMessage) (string, bool) {
	var s string
	err := json.Unmarshal(c, &s)
	return s, err == nil && c != nil
}
