package acpkit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// flatUnion is the field of a struct that holds the union whose members stand
// beside the struct's own.
func flatUnion(t reflect.Type) (reflect.StructField, bool) {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("json") == "-" && f.Type.Kind() == reflect.Interface {
				return f, true
			}
		}
	}
	return reflect.StructField{}, false
}

// variant is the variant that a decoded value holds, nil for none.
func (b *box) variant() any {
	if b.u != nil {
		return b.v
	}
	v := reflect.ValueOf(b.v).Elem()
	if f, ok := flatUnion(v.Type()); ok {
		return v.FieldByIndex(f.Index).Interface()
	}
	return nil
}

// TestUnionMembers: every branch of every union, minimal and full, is read as
// the variant that the union's comment promises at its place, and written again
// with the same members. An unknown tag is kept whole.
func TestUnionMembers(t *testing.T) {
	unions, branches, values := 0, 0, 0
	for pkg, m := range models() {
		comments := declarations(t, pkg).variants
		for _, def := range m.Types {
			goType := goTypeOf(def)
			if def.Union == nil || goType == nil {
				continue
			}
			unions++
			branches += len(def.Union.Branches)
			name := goType.Name()
			if f, ok := flatUnion(goType); ok {
				name = f.Type.Name()
			}
			t.Run(pkg+"."+name, func(t *testing.T) {
				for _, in := range instances(def) {
					values++
					want := "<nil>"
					if in.branch < len(def.Union.Branches) {
						want = strings.ReplaceAll(fmt.Sprintf("%s.%s", pkg, comments[name][in.branch]), pkg+".*", "*"+pkg+".")
					}
					if first := def.Union.Branches[0].Ref; in.root.String() == "[]" && first != nil && first.Kind == toArray { // fits every list
						want = pkg + "." + comments[name][0]
					}
					b := boxOf(goType)
					if err := b.UnmarshalJSON([]byte(in.root.String())); err != nil {
						t.Fatalf("%s: %s: %v", in.name, in.root, err)
					}
					if got := fmt.Sprintf("%T", b.variant()); got != want {
						t.Errorf("%s: %s is read as %s, want %s", in.name, in.root, got, want)
					}
					d := &differ{t: t}
					if err := d.written(def, b, nil, []byte(in.root.String())); err != nil {
						t.Errorf("%s: %v", in.name, err)
					}
					for _, text := range spellings(def, in) {
						other := boxOf(goType)
						if err := other.UnmarshalJSON(text); err != nil || !reflect.DeepEqual(other.v, b.v) {
							t.Errorf("%s: %s is read as %s, %v", in.name, text, other, err)
						}
						values++
					}
				}
				if def.Union.Tag != "" {
					unknownKept(t, def, goType)
				}
			})
		}
	}
	t.Logf("%d unions, %d branches, %d values", unions, branches, values)
}

// spellings are other texts of an instance, with another tag for the same
// branch: an alias, capitals, or the title of the branch without a tag.
func spellings(def *mType, in instance) (texts [][]byte) {
	u := def.Union
	if in.branch < 0 || in.branch == len(u.Branches) || u.Tag == "" {
		return nil
	}
	br := u.Branches[in.branch]
	words := []string{}
	for alias, tag := range u.Aliases {
		if tag == br.Tag {
			words = append(words, alias)
		}
	}
	if br.Implicit {
		words = append(words, br.Tag)
	}
	if u.IgnoreCase {
		for _, w := range append([]string{br.Tag}, words...) {
			words = append(words, strings.ToUpper(w))
		}
	}
	for _, w := range words {
		w = strconv.Quote(w)
		if br.Implicit {
			texts = append(texts, in.root.render(nil, edits{extra: map[*node]string{in.root: strconv.Quote(u.Tag) + ":" + w}}))
			continue
		}
		for _, m := range in.root.members {
			if m.tag && m.name == u.Tag {
				texts = append(texts, in.root.render(nil, edits{put: map[*node]string{m.node: w}}))
			}
		}
	}
	return texts
}

func unknownKept(t *testing.T, def *mType, goType reflect.Type) {
	root := (&builder{}).typ(def, 0)
	var put *edits
	for _, m := range root.members {
		if m.tag && m.name == def.Union.Tag {
			put = &edits{put: map[*node]string{m.node: `"proof"`}, extra: map[*node]string{root: `"more":[1, {"x":null}]`}}
		}
	}
	if put == nil {
		t.Fatal("no tag in", root)
	}
	text := root.render(nil, *put)
	b := boxOf(goType)
	if err := b.UnmarshalJSON(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	u := reflect.ValueOf(b.variant()).Elem()
	if u.Type().Name() != "Unknown" || u.FieldByName("Tag").String() != "proof" || string(u.FieldByName("Raw").Interface().(json.RawMessage)) != string(text) {
		t.Errorf("%s is read as %v", text, u)
	}
	if got := b.AppendJSON(nil); reflect.TypeOf(number(got)) == nil || !reflect.DeepEqual(number(got), number(text)) {
		t.Errorf("%s is written as %s", text, got)
	}
}
