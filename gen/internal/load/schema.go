package load

import (
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/go-faster/yaml"
	"github.com/ogen-go/ogen/jsonschema"
)

// Schema is one schema position: what ogen's parser read, plus what it does
// not keep (title, not, whether additionalProperties was given, several types).
type Schema struct {
	Pos         Pos
	Title       string
	Description string
	// Type is the single JSON type, "" when none is written.
	Type     string
	Nullable bool // "null" stood in a type list
	Format   string
	Ref      string // name of the definition, without file and "#/$defs/"
	// RefFolder is the folder of Ref when it is another one.
	RefFolder string
	Props     []Prop
	Required  []string
	Items     *Schema
	AllOf     []*Schema
	OneOf     []*Schema
	AnyOf     []*Schema
	Not       *Schema
	// Free: additionalProperties or unevaluatedProperties is true.
	Free bool
	// Values is the schema of additional properties, nil when they are free or
	// not mentioned.
	Values    *Schema
	Const     json.RawMessage
	Enum      []json.RawMessage
	Default   json.RawMessage
	Minimum   string // number token, "" when absent
	Maximum   string
	MinLength *uint64
	MinItems  *uint64
	// Tag is discriminator.propertyName.
	Tag string
	// X holds the x- keywords; booleans as "true".
	X map[string]string
}

// Prop is a property in the order of the file.
type Prop struct {
	Name string
	*Schema
}

// Flag reports whether an x- keyword is set to true.
func (s *Schema) Flag(keyword string) bool { return s.X[keyword] == "true" }

// Walk calls f for s and every schema below it.
func (s *Schema) Walk(f func(*Schema)) {
	if s == nil {
		return
	}
	f(s)
	for _, p := range s.Props {
		p.Walk(f)
	}
	for _, l := range [][]*Schema{s.AllOf, s.OneOf, s.AnyOf, {s.Items, s.Not, s.Values}} {
		for _, sub := range l {
			sub.Walk(f)
		}
	}
}

// xKeywords are the extension keywords that some part of the generator reads.
// A keyword of ours starts with x-acpkit- and is not part of the structure
// that is compared with a published schema.
var xKeywords = map[string]bool{
	"x-side": true, "x-method": true, "x-docs-ignore": true,
	"x-deserialize-default-on-error": true, "x-deserialize-default-on-null": true,
	"x-deserialize-skip-invalid-items": true,
	// "clear": null is a value of its own and clears what absent would keep.
	"x-acpkit-null": true,
}

type reader struct{ file string }

func (r reader) pos(n *yaml.Node) Pos { return Pos{r.file, n.Line, n.Column} }

// pairs ranges over the members of a mapping node.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// schema reads one schema position. Walking by position, not by key, matters:
// ACP has properties named type, enum, oneOf, items, default and required.
func (r reader) schema(n *yaml.Node) (*Schema, error) {
	if n.Kind != yaml.MappingNode {
		return nil, &Error{Pos: r.pos(n), Msg: "a schema is a JSON object here", Mend: "true and false are not supported"}
	}
	rs, err := raw(n)
	if err != nil {
		return nil, &Error{Pos: r.pos(n), Msg: err.Error()}
	}
	s := &Schema{Pos: r.pos(n), Description: rs.Description, Type: rs.Type, Nullable: rs.Nullable, Format: rs.Format,
		Required: rs.Required, MinLength: rs.MinLength, MinItems: rs.MinItems, X: map[string]string{},
		Const: json.RawMessage(rs.Const), Default: json.RawMessage(rs.Default), Minimum: string(rs.Minimum), Maximum: string(rs.Maximum)}
	for _, e := range rs.Enum {
		s.Enum = append(s.Enum, e)
	}
	for k, v := range pairs(n) {
		if err := r.keyword(s, rs, k, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (r reader) keyword(s *Schema, rs *jsonschema.RawSchema, k, v *yaml.Node) (err error) {
	switch k.Value {
	case "description", "type", "format", "required", "const", "enum", "default", "minimum", "maximum", "minLength", "minItems":
		// read by ogen's parser
	case "contentEncoding":
		// says how to read the text; on the wire it stays a string
	case "title":
		s.Title = v.Value
	case "$ref":
		s.RefFolder, s.Ref, err = r.ref(k, rs.Ref)
	case "properties":
		for pk, pv := range pairs(v) {
			sub, err := r.schema(pv)
			if err != nil {
				return err
			}
			sub.Pos = r.pos(pk)
			s.Props = append(s.Props, Prop{pk.Value, sub})
		}
	case "items":
		s.Items, err = r.schema(v)
	case "not":
		s.Not, err = r.schema(v)
	case "allOf":
		s.AllOf, err = r.list(v)
	case "oneOf":
		s.OneOf, err = r.list(v)
	case "anyOf":
		s.AnyOf, err = r.list(v)
	case "additionalProperties", "unevaluatedProperties":
		if v.Kind == yaml.ScalarNode && v.Value == "true" {
			s.Free = true
			return nil
		}
		s.Values, err = r.schema(v)
	case "discriminator":
		s.Tag = rs.Discriminator.PropertyName
	default:
		return r.extension(s, k, v)
	}
	return err
}

func (r reader) extension(s *Schema, k, v *yaml.Node) error {
	if !xKeywords[k.Value] {
		return &Error{Pos: r.pos(k), Msg: fmt.Sprintf("unknown keyword %q", k.Value),
			Mend: "teach the generator what it means, or remove it: a keyword that nobody reads is a promise that nobody keeps"}
	}
	if v.Kind != yaml.ScalarNode {
		return &Error{Pos: r.pos(v), Msg: k.Value + " takes a string or true"}
	}
	s.X[k.Value] = v.Value
	return nil
}

func (r reader) list(n *yaml.Node) ([]*Schema, error) {
	var l []*Schema
	for _, e := range n.Content {
		s, err := r.schema(e)
		if err != nil {
			return nil, err
		}
		l = append(l, s)
	}
	return l, nil
}

// ref takes folder and definition from "#/$defs/NAME", "topic.json#/$defs/NAME"
// or "../../other/v1/topic.json#/$defs/NAME". Names are unique in a folder, so
// the file is redundant; editors need it to follow the reference.
func (r reader) ref(k *yaml.Node, ref string) (folder, name string, err error) {
	file, name, ok := strings.Cut(ref, "#/$defs/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return "", "", &Error{Pos: r.pos(k), Msg: fmt.Sprintf("$ref %q is not of the form #/$defs/NAME or topic.json#/$defs/NAME", ref)}
	}
	here := path.Dir(r.file)
	if folder = path.Dir(path.Join(here, file)); file == "" || folder == here {
		folder = ""
	}
	return folder, name, nil
}
