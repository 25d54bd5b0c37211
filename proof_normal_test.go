package acpkit_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// normalForms are the ways in which a value may differ after it was written and
// read. Each has a reason, and one that never occurs is an error.
var normalForms = []struct{ name, reason string }{
	{"empty list", "a list or map that must be on the wire is empty there, so a nil one comes back empty"},
	{"default text", "the empty text stands for the member's default, which is what is written"},
	{"one line", "a raw value is written on one line"},
	{"null is absent", "a raw null in a member that may be null means that the member is absent, which is how it is written from then on"},
	{"whole number", "a number without a fraction is written without one, so it comes back as the integer variant, -0 as 0"},
	{"empty choice", "an empty list fits every list of a union, and the first is taken"},
	{"whole object", "an unknown variant beside other members keeps the whole object, these members included"},
}

type normalizer struct {
	forms   map[string]int
	changed bool // the normal form is written otherwise
}

func (n *normalizer) did(form string) { n.forms[form]++ }

// of is what the value in a box of this type comes back as.
func (n *normalizer) of(b *box, typ reflect.Type) any {
	in := reflect.New(reflect.TypeFor[any]()).Elem()
	if b.u != nil {
		in = reflect.New(typ).Elem()
	}
	if b.v != nil {
		in.Set(reflect.ValueOf(b.v))
	}
	return n.value(in, nil).Interface()
}

// value is what v comes back as; f is the member that it stands in.
func (n *normalizer) value(v reflect.Value, f *mField) reflect.Value {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return n.raw(v, f)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		return pointTo(n.value(v.Elem(), f))
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(n.variant(v.Type(), n.value(v.Elem(), nil)))
		return out
	case reflect.Struct:
		return n.object(v, f)
	case reflect.Slice:
		return n.list(v, f)
	case reflect.Map:
		return n.dict(v, f)
	case reflect.String:
		if d := textDefault(f); d != "" && v.Len() == 0 {
			n.did("default text")
			return reflect.ValueOf(d).Convert(v.Type())
		}
	}
	return v
}

func (n *normalizer) object(v reflect.Value, f *mField) reflect.Value {
	def := types().model[v.Type()]
	out := reflect.New(v.Type()).Elem()
	if strings.HasPrefix(v.Type().Name(), "Nullable[") {
		out.Set(v)
		if p := v.Field(1); !p.IsNil() {
			out.Field(1).Set(pointTo(n.value(p.Elem(), nil)))
		}
		return out
	}
	for i := range v.NumField() {
		out.Field(i).Set(n.value(v.Field(i), fieldOf(def, v.Type().Field(i))))
	}
	if u, ok := flatUnion(v.Type()); ok {
		if e := v.FieldByIndex(u.Index); !e.IsNil() && isUnknown(e.Elem().Type()) {
			n.did("whole object")
			unknown := pointTo(out.FieldByIndex(u.Index).Elem().Elem())
			unknown.Elem().FieldByName("Raw").SetBytes(pointTo(v).Interface().(codec).AppendJSON(nil))
			out.FieldByIndex(u.Index).Set(unknown)
		}
	}
	return out
}

// textDefault is the default of a member that is a text, "" for any other.
func textDefault(f *mField) (d string) {
	if f != nil && f.Default != nil {
		_ = json.Unmarshal(f.Default, &d)
	}
	return d
}

// variant is what a variant of a union comes back as.
func (n *normalizer) variant(union reflect.Type, v reflect.Value) reflect.Value {
	variants := types().variants[union]
	switch {
	case v.Kind() == reflect.Float64:
		i, err := strconv.ParseInt(strconv.FormatFloat(v.Float(), 'f', -1, 64), 10, 64)
		for _, t := range variants {
			if t.Kind() == reflect.Int64 && err == nil {
				n.did("whole number")
				n.changed = n.changed || i == 0 && math.Signbit(v.Float())
				return reflect.ValueOf(i).Convert(t)
			}
		}
	case v.Kind() == reflect.Slice && v.Len() == 0:
		for _, t := range variants {
			if t.Kind() == reflect.Slice {
				if t != v.Type() {
					n.did("empty choice")
				}
				return reflect.MakeSlice(t, 0, 0)
			}
		}
	}
	return v
}

// written reports whether a list in this place is on the wire even when it is
// nil: an optional member without a default is not.
func written(f *mField) bool {
	return f == nil || f.Required || f.Default != nil && !f.Nullable
}

func (n *normalizer) list(v reflect.Value, f *mField) reflect.Value {
	if v.IsNil() && !written(f) {
		return v
	}
	if v.IsNil() {
		n.did("empty list")
	}
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(n.value(v.Index(i), nil))
	}
	return out
}

func (n *normalizer) dict(v reflect.Value, f *mField) reflect.Value {
	if v.IsNil() && !written(f) {
		return v
	}
	if v.IsNil() {
		n.did("empty list")
	}
	out := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		out.SetMapIndex(it.Key(), n.value(it.Value(), nil))
	}
	return out
}

func (n *normalizer) raw(v reflect.Value, f *mField) reflect.Value {
	raw := v.Bytes()
	if v.IsNil() {
		return v
	}
	if bytes.ContainsAny(raw, "\r\n") {
		n.did("one line")
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			raw = b.Bytes()
		}
	}
	if f != nil && f.Nullable && string(raw) == "null" {
		n.did("null is absent")
		n.changed = true
		return reflect.Zero(v.Type())
	}
	return reflect.ValueOf(json.RawMessage(raw))
}
