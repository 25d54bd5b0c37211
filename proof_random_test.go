package acpkit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// draw makes a random value of a type, within what the model allows there.
func draw(t *rapid.T, typ reflect.Type, f *mField, depth int) reflect.Value {
	v := reflect.New(typ).Elem()
	switch {
	case strings.HasPrefix(typ.Name(), "Nullable["):
		switch rapid.IntRange(0, 2).Draw(t, "state") {
		case 1:
			v.Field(0).SetBool(true)
		case 2:
			v.Field(0).SetBool(true)
			v.Field(1).Set(pointTo(draw(t, typ.Field(1).Type.Elem(), f, depth)))
		}
		return v
	case typ == reflect.TypeFor[json.RawMessage]():
		v.SetBytes(drawRaw(t, f, depth))
		return v
	case strings.HasPrefix(typ.Name(), "Entry["):
		v.Field(0).SetString(drawText(t, 0))
		v.Field(1).Set(draw(t, typ.Field(1).Type, nil, depth))
		return v
	}
	switch typ.Kind() {
	case reflect.Pointer:
		if depth < 4 && rapid.Bool().Draw(t, "set") {
			v.Set(pointTo(draw(t, typ.Elem(), f, depth)))
		}
	case reflect.Interface:
		drawVariant(t, v, f, depth)
	case reflect.Struct:
		drawStruct(t, v, depth+1)
	case reflect.Slice, reflect.Map:
		drawList(t, v, f, depth)
	default:
		drawScalar(t, v, f)
	}
	return v
}

func pointTo(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

func drawStruct(t *rapid.T, v reflect.Value, depth int) {
	def := types().model[v.Type()]
	flat, isFlat := flatUnion(v.Type())
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		v.Field(i).Set(draw(t, sf.Type, fieldOf(def, sf), depth))
	}
	if isFlat {
		u := v.FieldByIndex(flat.Index)
		for u.IsNil() && !def.Union.Optional {
			drawVariant(t, u, nil, depth)
		}
	}
}

// fieldOf is the model of a struct field, nil where the model has none: an
// embedded struct, a flat union.
func fieldOf(def *mType, sf reflect.StructField) *mField {
	wire, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if def != nil && wire != "" && wire != "-" {
		for i := range def.Fields {
			if def.Fields[i].Name == wire {
				return &def.Fields[i]
			}
		}
		panic(def.Name + " has no member " + wire)
	}
	return nil
}

func drawVariant(t *rapid.T, v reflect.Value, f *mField, depth int) {
	if f != nil && (!f.Required || f.Nullable) && (depth >= 4 || rapid.Bool().Draw(t, "absent")) {
		return
	}
	variants := types().variants[v.Type()]
	known := slices.DeleteFunc(slices.Clone(variants), isUnknown)
	n := len(known)
	u := unknownOf(v.Type())
	if u != nil {
		n++
	}
	i := rapid.IntRange(0, n-1).Draw(t, "variant")
	if i == len(known) {
		v.Set(drawUnknown(t, u, taggedBy(v.Type())))
		return
	}
	if typ := known[i]; typ.Kind() == reflect.Pointer {
		v.Set(pointTo(draw(t, typ.Elem(), nil, depth)))
	} else {
		v.Set(draw(t, typ, nil, depth))
	}
}

func isUnknown(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Name() == "Unknown"
}

// unknownOf is the *Unknown of a union, nil when it has none.
func unknownOf(union reflect.Type) reflect.Type {
	for _, v := range unknowns {
		if t := reflect.TypeOf(v); t.Elem().PkgPath() == union.PkgPath() && t.Implements(union) {
			return t
		}
	}
	return nil
}

// taggedBy is the model of a union, or of the object that a flat one stands in.
func taggedBy(union reflect.Type) *mType {
	if def := types().model[union]; def != nil {
		return def
	}
	for t, def := range types().model {
		if f, ok := flatUnion(t); ok && f.Type == union {
			return def
		}
	}
	return nil
}

func drawUnknown(t *rapid.T, typ reflect.Type, def *mType) reflect.Value {
	tags := def.Union.tags()
	tag := rapid.Custom(func(t *rapid.T) string { return drawText(t, 0) }).Filter(func(s string) bool {
		return !tags[s] && !(def.Union.IgnoreCase && tags[strings.ToLower(s)])
	}).Draw(t, "tag")
	raw := []byte(`{`)
	own := map[string]bool{def.Union.Tag: true}
	for _, f := range def.Fields {
		own[f.Name] = true
	}
	for range rapid.IntRange(0, 2).Draw(t, "members") {
		if key := drawText(t, 0); !own[key] {
			raw = append(append(raw, mustJSON(key)...), ':')
			raw = append(append(raw, drawRaw(t, nil, 3)...), ',')
			own[key] = true
		}
	}
	raw = append(append(append(raw, mustJSON(def.Union.Tag)...), ':'), mustJSON(tag)...)
	v := reflect.New(typ.Elem())
	if def.Union.IgnoreCase {
		tag = strings.ToLower(tag)
	}
	v.Elem().FieldByName("Tag").SetString(tag)
	v.Elem().FieldByName("Raw").SetBytes(append(raw, '}'))
	return v
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// drawRaw is any JSON, or any JSON object, sometimes laid out on several lines;
// nil where the member may be absent.
func drawRaw(t *rapid.T, f *mField, depth int) json.RawMessage {
	if f != nil && !f.Required && (depth >= 4 || rapid.Bool().Draw(t, "absent")) {
		return nil
	}
	var build func(depth int, object bool) string
	build = func(depth int, object bool) string {
		kind := 6
		if !object {
			kind = rapid.IntRange(0, 6).Draw(t, "json")
		}
		if depth > 2 && kind > 4 && !object {
			kind = 4
		}
		n := rapid.IntRange(0, 2)
		switch kind {
		case 0:
			return "null"
		case 1:
			return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		case 2:
			return rapid.SampledFrom([]string{"0", "-0", "1.50", "1e400", "123456789012345678901234567890", "-7E-3"}).Draw(t, "number")
		case 3:
			return rapid.SampledFrom([]string{`"\ud800"`, `"\u0000\/"`, `""`, "\"\u2028\"", `"</script>"`}).Draw(t, "odd")
		case 4:
			return string(mustJSON(drawText(t, 0)))
		case 5:
			var items []string
			for range n.Draw(t, "items") {
				items = append(items, build(depth+1, false))
			}
			return "[" + strings.Join(items, ", ") + "]"
		}
		var members []string
		for range n.Draw(t, "members") {
			members = append(members, string(mustJSON(drawText(t, 0)))+":"+build(depth+1, false))
		}
		return "{" + strings.Join(members, rapid.SampledFrom([]string{",", ",\n\t", " ,\r\n"}).Draw(t, "layout")) + "}"
	}
	return json.RawMessage(build(0, f != nil && f.Type.Kind == toObject))
}

func drawList(t *rapid.T, v reflect.Value, f *mField, depth int) {
	least := 0
	if f != nil {
		least = int(f.MinItems)
	}
	n := least - 1
	if depth < 4 {
		n = rapid.IntRange(least-1, least+2).Draw(t, "length")
	}
	if n < 0 {
		return // nil
	}
	if v.Kind() == reflect.Map {
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			v.SetMapIndex(reflect.ValueOf(drawText(t, 0)), draw(t, v.Type().Elem(), nil, depth))
		}
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	entries := map[string]bool{}
	for i := range n {
		e := draw(t, v.Type().Elem(), nil, depth)
		if strings.HasPrefix(e.Type().Name(), "Entry[") {
			for entries[e.Field(0).String()] { // names are distinct
				e.Field(0).SetString(e.Field(0).String() + "+")
			}
			entries[e.Field(0).String()] = true
		}
		v.Index(i).Set(e)
	}
}

// drawText is any text, of at least n characters.
func drawText(t *rapid.T, n int) string {
	s := rapid.OneOf(
		rapid.SampledFrom([]string{"", "é😀", "a/b~c", "\x00\x1f\x7f", "\u2028\u2029", "\"\\\b\f\n\r\t", "\uFFFD", "<&>", "\U0010FFFF", "type", "_meta"}),
		rapid.StringN(0, 6, -1)).Draw(t, "text")
	s = strings.ToValidUTF8(s, "?")
	return s + strings.Repeat("x", max(0, n-utf8.RuneCountInString(s)))
}

func drawScalar(t *rapid.T, v reflect.Value, f *mField) {
	if v.Kind() == reflect.String && textDefault(f) != "" && rapid.Bool().Draw(t, "default") {
		return
	}
	if known, closed := constants(v.Type()); known != nil && (closed || rapid.Bool().Draw(t, "known")) {
		c := reflect.ValueOf(rapid.SampledFrom(known).Draw(t, "constant"))
		v.Set(c.Convert(v.Type()))
		return
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	least := 0
	if f != nil {
		least = int(f.MinLength)
		if x, err := strconv.ParseFloat(f.Minimum, 64); err == nil {
			lo = x
		}
		if x, err := strconv.ParseFloat(f.Maximum, 64); err == nil {
			hi = x
		}
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(drawText(t, least))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		var odd []float64
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -2, 0.1, 1 << 53, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64} {
			if lo <= x && x <= hi {
				odd = append(odd, x)
			}
		}
		v.SetFloat(rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64Range(max(lo, -math.MaxFloat64), min(hi, math.MaxFloat64))).Draw(t, "float"))
	case reflect.Int32, reflect.Int64:
		bits := v.Type().Bits()
		from, to := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
		if lo > float64(from) {
			from = int64(lo)
		}
		if hi < float64(to) {
			to = int64(hi)
		}
		v.SetInt(rapid.Int64Range(from, to).Draw(t, "int"))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		from, to := uint64(0), uint64(math.MaxUint64)>>(64-v.Type().Bits())
		if lo > 0 {
			from = uint64(lo)
		}
		if hi < float64(to) {
			to = uint64(hi)
		}
		v.SetUint(rapid.Uint64Range(from, to).Draw(t, "uint"))
	default:
		panic("no value for " + v.Type().String())
	}
}

// constants are the values of an enum, nil for any other type.
func constants(t reflect.Type) (known []any, closed bool) {
	if _, ok := t.MethodByName("Known"); !ok {
		return nil, false
	}
	def := definition(t)
	for _, c := range def.Enum.Values {
		v := reflect.New(t)
		if err := json.Unmarshal(c.Const, v.Interface()); err != nil {
			panic(err)
		}
		known = append(known, v.Elem().Interface())
	}
	return known, !def.Enum.Open
}

// checks is how often each type is tried; -rapid.checks overrides it.
const checks = 150

// TestRandomRoundTrip: a random value of each type is written as one line of
// valid UTF-8 JSON; what is read back is the value, but for the normal forms;
// and that is written as the same bytes again.
func TestRandomRoundTrip(t *testing.T) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	set := func(name, value string) {
		before := flag.Lookup(name).Value.String()
		_ = flag.Set(name, value)
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
	set("rapid.nofailfile", "true") // the message names the seed
	if !given {
		set("rapid.checks", strconv.Itoa(checks))
	}
	forms := map[string]int{}
	values := 0
	try := func(name string, typ reflect.Type, required bool) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				values++
				b := boxOf(typ)
				v := draw(t, typ, &mField{Required: required}, 0)
				if b.u != nil {
					b.v = v.Interface()
				} else {
					b.v = pointTo(v).Interface()
				}
				roundTrip(t, b, typ, forms)
			})
		})
	}
	for name, typ := range types().structs {
		if typ.Name() != "Unknown" { // not read on its own
			try(name, typ, false)
		}
	}
	for _, u := range unions {
		try(goName(u.typ), u.typ, true)
	}
	for _, f := range normalForms {
		if forms[f.name] == 0 {
			t.Errorf("the normal form %q never occurs; remove it", f.name)
		}
	}
	t.Logf("%d values, normal forms %v", values, forms)
}

func roundTrip(t *rapid.T, b *box, typ reflect.Type, forms map[string]int) {
	line := b.AppendJSON(nil)
	if !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n") {
		t.Fatalf("not one line of JSON in UTF-8: %q", line)
	}
	back := boxOf(typ)
	if err := back.UnmarshalJSON(line); err != nil {
		t.Fatalf("%s\ndoes not decode: %v", line, err)
	}
	n := &normalizer{forms: forms}
	want := n.of(b, typ)
	if diff := cmp.Diff(want, back.v); diff != "" {
		t.Fatalf("%s\nis read as another value (-want +got)\n%s", line, diff)
	}
	if again := back.AppendJSON(nil); !bytes.Equal(line, again) && !n.changed {
		t.Fatalf("written twice:\n%s\n%s", line, again)
	}
	if b.u == nil { // the variants alone do not show their tag
		std, err := json.Marshal(b.v)
		var out bytes.Buffer
		json.HTMLEscape(&out, line)
		var compact bytes.Buffer
		if err != nil || json.Compact(&compact, out.Bytes()) != nil || !bytes.Equal(std, compact.Bytes()) {
			t.Fatalf("json.Marshal gives %s, %v\nAppendJSON %s", std, err, line)
		}
	}
}
