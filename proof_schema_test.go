package acpkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validators compiles our schema folders with a validator that shares no code
// with the generator.
type validators struct {
	c    *jsonschema.Compiler
	done map[*mType]*jsonschema.Schema
}

// where files stand for the compiler: a URL is scheme + path in the repository.
// A folder that extends another has, under "extended", the other folder's files
// with the extensions applied.
const scheme = "proof:///"

func newValidators() *validators {
	c := jsonschema.NewCompiler()
	c.UseLoader(loader{})
	c.AssertFormat()
	// The widths are assertions, so that ranges are compared exactly. Texts keep
	// their spelling, so their formats are not.
	for name, limits := range map[string][2]string{
		"int32": {"-2147483648", "2147483647"}, "int64": {"-9223372036854775808", "9223372036854775807"},
		"uint16": {"0", "65535"}, "uint32": {"0", "4294967295"}, "uint64": {"0", "18446744073709551615"},
	} {
		lo, _ := new(big.Rat).SetString(limits[0])
		hi, _ := new(big.Rat).SetString(limits[1])
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			n, ok := v.(json.Number)
			if !ok {
				return nil
			}
			if r, ok := new(big.Rat).SetString(string(n)); !ok || r.Cmp(lo) < 0 || r.Cmp(hi) > 0 {
				return errors.New("out of range")
			}
			return nil
		}})
	}
	c.RegisterFormat(&jsonschema.Format{Name: "double", Validate: func(v any) error {
		n, _ := v.(json.Number)
		if f, err := n.Float64(); n != "" && (err != nil || math.IsInf(f, 0)) {
			return errors.New("out of range")
		}
		return nil
	}})
	for _, name := range []string{"uri", "date-time", "regex"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	return &validators{c, map[*mType]*jsonschema.Schema{}}
}

// of is the schema of a definition.
func (v *validators) of(t *mType) (*jsonschema.Schema, error) {
	if s := v.done[t]; s != nil {
		return s, nil
	}
	dir := t.Pkg.Folder
	if t.Extends != nil {
		dir = path.Join("extended", dir, t.Extends.Pkg.Folder)
	}
	s, err := v.c.Compile(scheme + path.Join(dir, t.Topic+".json") + "#/$defs/" + t.Name)
	v.done[t] = s
	return s, err
}

// accepts reports whether the schema takes a text. Numbers stay as written.
func accepts(s *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

type loader struct{}

func (loader) Load(url string) (any, error) {
	name := strings.TrimPrefix(url, scheme)
	if rest, ok := strings.CutPrefix(name, "extended/"); ok {
		i := strings.LastIndex(rest, "schema/")
		return extended(strings.TrimSuffix(rest[:i], "/"), rest[i:])
	}
	return readJSON(name)
}

func readJSON(name string) (any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// extended is a schema file with what the extends.json of folder says applied.
func extended(folder, file string) (any, error) {
	doc, err := readJSON(file)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(folder, "extends.json"))
	if err != nil {
		return nil, err
	}
	var ext struct {
		Of, Description string
		Extends         []extension
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(&ext); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s/extends.json: more than one value", folder)
	}
	defs := doc.(map[string]any)["$defs"].(map[string]any)
	for _, e := range ext.Extends {
		if def, ok := defs[e.Definition].(map[string]any); ok && path.Dir(file) == path.Join(folder, ext.Of) {
			e.apply(folder, def)
		}
	}
	return doc, nil
}

type extension struct {
	Definition, Why            string
	Members                    map[string]any
	Optional, Lenient, FromMap []string
	TagAliases                 map[string]string
	TagIgnoreCase, AlsoRequest bool
}

func (e extension) apply(folder string, def map[string]any) {
	props, _ := def["properties"].(map[string]any)
	for name, m := range e.Members {
		props[name] = absolute(folder, m)
	}
	for _, name := range e.Optional {
		var kept []any
		for _, r := range def["required"].([]any) {
			if r != name {
				kept = append(kept, r)
			}
		}
		def["required"] = kept
		if kept == nil {
			delete(def, "required")
		}
	}
	for _, name := range e.FromMap {
		props[name] = map[string]any{"anyOf": []any{props[name],
			map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}}}
	}
	if e.TagAliases == nil && !e.TagIgnoreCase {
		return
	}
	alts, _ := def["anyOf"].([]any)
	for _, a := range alts {
		branch, _ := a.(map[string]any)["properties"].(map[string]any)
		for _, p := range branch {
			p := p.(map[string]any)
			tag, ok := p["const"].(string)
			if !ok {
				continue
			}
			words := []string{regexp.QuoteMeta(tag)}
			for alias, of := range e.TagAliases {
				if of == tag {
					words = append(words, regexp.QuoteMeta(alias))
				}
			}
			flags := ""
			if e.TagIgnoreCase {
				flags = "(?i)"
			}
			delete(p, "const")
			p["pattern"] = flags + "^(" + strings.Join(words, "|") + ")$"
		}
	}
}

// absolute makes the references of an added member start at its own folder.
func absolute(folder string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if ref, ok := e.(string); ok && k == "$ref" {
				file, def, _ := strings.Cut(ref, "#")
				e = scheme + path.Join(folder, file) + "#" + def
			}
			out[k] = absolute(folder, e)
		}
		return out
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, absolute(folder, e))
		}
		return out
	}
	return v
}

// defined are the definitions of a package that have a Go codec and a schema of
// their own. TestRegistry reports those whose codec is not reached.
func (p *mPackage) defined() (list []*mType) {
	for _, t := range p.Types {
		if (t.Kind == kObject || t.Kind == kUnion) && !t.inline() && goTypeOf(t) != nil {
			list = append(list, t)
		}
	}
	return list
}

// TestInstancesAreValid: what the proof makes of the model is valid by the
// schema, and the generated decoder takes it.
func TestInstancesAreValid(t *testing.T) {
	v := newValidators()
	count := 0
	for pkg, m := range models() {
		for _, def := range m.defined() {
			schema, err := v.of(def)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range instances(def) {
				count++
				text := in.root.String()
				if err := accepts(schema, []byte(text)); err != nil {
					t.Errorf("%s.%s %s: %s\n%v", pkg, def.Name, in.name, text, err)
				}
				if err := boxOf(goTypeOf(def)).UnmarshalJSON([]byte(text)); err != nil {
					t.Errorf("%s.%s %s: %s\n%v", pkg, def.Name, in.name, text, err)
				}
			}
		}
	}
	t.Logf("%d instances", count)
}
