package acpkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/openai"
	"github.com/acpkit/acpkit/generated/script"
)

// exception is a kind of input about which schema and decoder disagree on
// purpose.
type exception struct {
	name, reason string
	// lax: the schema refuses, the decoder takes it. Otherwise the reverse.
	lax bool
	// applies reports whether it explains the disagreement.
	applies func(m *mutation) bool
	// forgives: the value must be what forgiven says.
	forgives bool
}

// exceptions are tried in order. One that never occurs is an error: the schema
// has changed, or the reason was wrong.
var exceptions = []exception{
	{"unknown tag", "the peer may be newer: a variant that we do not know is kept as it came", true, unknownTag, false},
	{"x-deserialize-default-on-error", "a bad value of such a member must not cost the message; it counts as absent", true, byKeyword, true},
	{"x-deserialize-skip-invalid-items", "a bad item of such a list must not cost the others; it is dropped", true, byKeyword, true},
	{"x-deserialize-default-on-null", "peers write null for an empty list; it counts as absent", true, byKeyword, true},
	{"tag first", "by the schema a known tag with the wrong members still fits the branch without a tag; a reader that took `terminal` for something else would hide the fault", false, tagFirst, false},
	{"tag of another type", "by the schema it is an extra member of the branch without a tag; to a reader it is a broken tag", false, tagType, false},
}

func byKeyword(m *mutation) bool { return m.forgiven() != nil }

func unknownTag(m *mutation) bool {
	s := m.last()
	return s.tag && m.put != "" && m.put[0] == '"' && !s.node.union.Union.tags()[strings.Trim(m.put, `"`)]
}

// implicit finds the innermost value around the mutation whose union has a
// branch without a tag.
func (m *mutation) implicit() *mUnion {
	for i := len(m.path); i >= 0; i-- {
		n := m.root
		if i > 0 {
			n = m.path[i-1].node
		}
		if n.kind == 'o' && n.union != nil {
			for _, b := range n.union.Union.Branches {
				if b.Implicit {
					return n.union.Union
				}
			}
		}
	}
	return nil
}

func tagFirst(m *mutation) bool { return m.implicit() != nil && !m.last().tag }

func tagType(m *mutation) bool {
	return m.implicit() != nil && m.last().tag && m.put != "" && m.put[0] != '"'
}

// differ compares one package and counts.
type differ struct {
	t       *testing.T
	schemas *validators
	counts  map[string]int
	filled  map[string][]json.RawMessage
	failed  int
}

// TestDifferential: what our schemas refuse the generated decoders refuse, what
// they accept the decoders accept, but for the exceptions; what is accepted is
// written again with the same members and values; and a fault is reported where
// it is.
func TestDifferential(t *testing.T) {
	var mu sync.Mutex
	total := map[string]int{}
	t.Run("packages", func(t *testing.T) {
		for pkg, m := range models() {
			t.Run(pkg, func(t *testing.T) {
				t.Parallel()
				d := &differ{t: t, schemas: newValidators(), counts: map[string]int{}}
				for _, def := range m.defined() {
					d.definition(def)
				}
				mu.Lock()
				defer mu.Unlock()
				for k, n := range d.counts {
					total[k] += n
				}
			})
		}
	})
	for _, e := range exceptions {
		if total[e.name] == 0 {
			t.Errorf("the exception %q never occurs; remove it", e.name)
		}
	}
	t.Log(total)
}

func (d *differ) errorf(format string, args ...any) {
	if d.failed++; d.failed < 20 {
		d.t.Errorf(format, args...)
	}
}

func (d *differ) definition(def *mType) {
	schema, err := d.schemas.of(def)
	if err != nil {
		d.t.Fatal(err)
	}
	d.counts["definitions"]++
	for _, in := range instances(def) {
		d.counts["instances"]++
		text := []byte(in.root.String())
		v := boxOf(goTypeOf(def))
		if err := v.UnmarshalJSON(text); err != nil {
			d.errorf("%s %s: %s: %v", def.Name, in.name, text, err)
			continue
		}
		if err := d.written(def, v, nil, text); err != nil {
			d.errorf("%s %s: %v", def.Name, in.name, err)
		}
		mutations(in.root, func(m *mutation) {
			d.counts["mutations"]++
			if err := d.compare(def, schema, m); err != nil {
				d.errorf("%s %s, %s\n%s\n%v", def.Name, in.name, m, m.text(), err)
			}
		})
	}
}

func (d *differ) compare(def *mType, schema *jsonschema.Schema, m *mutation) error {
	text := m.text()
	got := boxOf(goTypeOf(def))
	bad, err := accepts(schema, text), got.UnmarshalJSON(text)
	switch {
	case bad != nil && err != nil:
		d.counts["refused by both"]++
		return m.blamed(err)
	case bad == nil && err == nil:
		d.counts["accepted by both"]++
		return d.written(def, got, m, text)
	}
	for _, e := range exceptions {
		f := m.forgiven()
		if e.lax != (bad != nil) || !e.applies(m) || e.forgives && f.keyword != e.name {
			continue
		}
		d.counts[e.name]++
		if e.forgives && f.as != nil {
			return takenFor(def, got, m.root.render(nil, *f.as))
		}
		return nil
	}
	if bad != nil {
		return fmt.Errorf("the schema refuses it, the decoder makes %s of it: %w", got, bad)
	}
	return fmt.Errorf("the schema accepts it, the decoder does not: %w", err)
}

// takenFor reports whether got is what the decoder makes of another text.
func takenFor(def *mType, got *box, text []byte) error {
	want := boxOf(goTypeOf(def))
	if err := want.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("%s does not decode: %w", text, err)
	}
	if !bytes.Equal(got.AppendJSON(nil), want.AppendJSON(nil)) {
		return fmt.Errorf("got %s, want it to be taken for %s", got, want)
	}
	return nil
}

// blamed checks that an error is a DecodeError which points at the change, at
// something around it or inside it. Where the change decides which variant is
// read, the members beside it may be blamed.
func (m *mutation) blamed(err error) error {
	pointer, ok := pointerOf(err)
	if !ok {
		return fmt.Errorf("%T is no DecodeError: %w", err, err)
	}
	at := m.pointer()
	if m.last().tag {
		at = (&mutation{path: m.path[:len(m.path)-1]}).pointer()
	}
	for i := len(m.path); i >= 0; i-- {
		around := &mutation{root: m.root, path: m.path[:i]}
		if u := around.node().union; u != nil && u.Union.Tag == "" {
			at = around.pointer()
		}
	}
	if !strings.HasPrefix(pointer+"/", at+"/") && !strings.HasPrefix(at+"/", pointer+"/") {
		return fmt.Errorf("the fault is at %q, the error points elsewhere: %w", at, err)
	}
	return nil
}

// pointerOf is the pointer of a DecodeError, of any of the packages.
func pointerOf(err error) (string, bool) {
	var a *acp.DecodeError
	var o *openai.DecodeError
	var s *script.DecodeError
	switch {
	case errors.As(err, &a):
		return a.Pointer, true
	case errors.As(err, &o):
		return o.Pointer, true
	case errors.As(err, &s):
		return s.Pointer, true
	}
	return "", false
}

// written compares what a value writes with the text it was read from, both
// seen through encoding/json.
func (d *differ) written(def *mType, v *box, m *mutation, text []byte) error {
	out := v.AppendJSON(nil)
	err := same("", number(text), number(out), &comparison{defaults: d.defaults(def.Pkg), m: m})
	if err == nil {
		return nil
	}
	// What only the tag shows to be wrong is dropped by a lenient list around it.
	for _, e := range exceptions {
		if m != nil && !e.lax && e.applies(m) && m.forgiven() != nil && m.forgiven().as != nil && takenFor(def, v, m.root.render(nil, *m.forgiven().as)) == nil {
			d.counts[e.name]++
			return nil
		}
	}
	return fmt.Errorf("%w\nwrote %s", err, out)
}

// number decodes JSON the way encoding/json does, numbers as they are spelled.
func number(text []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

// comparison says where the written value may differ from the read one.
type comparison struct {
	defaults map[string][]json.RawMessage
	m        *mutation
}

// defaults lists the defaults of a package's members by wire name.
func (d *differ) defaults(p *mPackage) map[string][]json.RawMessage {
	if d.filled != nil {
		return d.filled
	}
	out := map[string][]json.RawMessage{}
	for _, m := range []*mPackage{p, models()["acp"]} {
		for _, t := range m.Types {
			for _, f := range t.Fields {
				if f.Default != nil {
					out[f.Name] = append(out[f.Name], f.Default)
				}
			}
		}
	}
	d.filled = out
	return out
}

// same compares what was read with what was written. Allowed to differ: a
// member that is null is left out, or is the empty list where it is required, an
// unknown member of an object is let go, a default is filled in, an object of strings has become the list of pairs that
// it stands for, a tag is in its one spelling, and a number is spelled anew.
func same(at string, in, out any, c *comparison) error {
	if object, ok := in.(map[string]any); ok {
		if list, ok := out.([]any); ok && len(object) == len(list) {
			in, out = object, object
			for _, e := range list {
				pair := e.(map[string]any)
				if object[pair["name"].(string)] != pair["value"] {
					return fmt.Errorf("%s: %v became %v", at, object, list)
				}
			}
		}
	}
	switch in := in.(type) {
	case map[string]any:
		out, ok := out.(map[string]any)
		if !ok {
			break
		}
		return sameMembers(at, in, out, c)
	case []any:
		out, ok := out.([]any)
		if !ok || len(in) != len(out) {
			break
		}
		for i := range in {
			if err := same(fmt.Sprintf("%s/%d", at, i), in[i], out[i], c); err != nil {
				return err
			}
		}
		return nil
	case json.Number:
		out, ok := out.(json.Number)
		if ok && equal(in, out, c) {
			return nil
		}
	case string:
		out, ok := out.(string)
		if ok && (in == out || strings.EqualFold(in, out) && c.m != nil && c.m.last().tag) {
			return nil
		}
	default:
		if list, ok := out.([]any); in == out || in == nil && ok && len(list) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: %v became %v", at, in, out)
}

func sameMembers(at string, in, out map[string]any, c *comparison) error {
	for k, v := range in {
		o, ok := out[k]
		switch {
		case ok:
			if err := same(at+"/"+k, v, o, c); err != nil {
				return err
			}
		case v != nil && k != "xProof" && k != "proof" && !c.retagged(at):
			return fmt.Errorf("%s/%s is lost", at, k)
		}
	}
	for k, o := range out {
		if _, ok := in[k]; !ok && !filled(k, o, c) {
			return fmt.Errorf("%s/%s appears, which is no default: %v", at, k, o)
		}
	}
	return nil
}

// retagged reports whether the object there has got another tag, so that its
// members are those of another variant.
func (c *comparison) retagged(at string) bool {
	return c.m != nil && c.m.last().tag && strings.HasPrefix(c.m.pointer(), at+"/")
}

func filled(name string, value any, c *comparison) bool {
	for _, d := range c.defaults[name] {
		if same("", number(d), value, c) == nil {
			return true
		}
	}
	return false
}

func equal(a, b json.Number, c *comparison) bool {
	ra, ok1 := new(big.Rat).SetString(string(a))
	rb, ok2 := new(big.Rat).SetString(string(b))
	if !ok1 || !ok2 {
		return a == b
	}
	if ra.Cmp(rb) == 0 {
		return true
	}
	fa, _ := a.Float64()
	fb, _ := b.Float64()
	return fa == fb && c.m != nil && c.m.double()
}

// double reports whether a number in place of the changed value may be read as
// a double, which keeps as many digits as fit.
func (m *mutation) double() bool {
	n := m.node()
	if n.union != nil {
		for _, b := range n.union.Union.Branches {
			if b.Ref != nil && b.Ref.Kind == toBase && b.Ref.Base == bFloat64 {
				return true
			}
		}
	}
	return n.base == bFloat64
}
