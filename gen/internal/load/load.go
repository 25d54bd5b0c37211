// Package load reads schema folders: it keeps the order, the position and the
// x- keywords of what is written, resolves references by name and refuses
// everything it does not know. It gives no meaning to a schema; package model
// does that.
package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-faster/yaml"
	"github.com/ogen-go/ogen/jsonschema"
)

// Pos is a place in a schema file; Line and Col count from 1.
type Pos struct {
	File string
	Line int
	Col  int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Error is a fault in a schema: where, what, and how to mend it.
type Error struct {
	Pos  Pos
	Msg  string
	Mend string
}

func (e *Error) Error() string {
	if e.Mend == "" {
		return fmt.Sprintf("%s: %s", e.Pos, e.Msg)
	}
	return fmt.Sprintf("%s: %s; %s", e.Pos, e.Msg, e.Mend)
}

// Errorf makes an Error without a mend.
func Errorf(p Pos, format string, a ...any) *Error {
	return &Error{Pos: p, Msg: fmt.Sprintf(format, a...)}
}

// Set is everything read from one folder or file.
type Set struct {
	Topics []Topic
	Defs   []*Def
	byName map[string]*Def
	// Extends is what extends.json says, nil when there is none.
	Extends *Extends
	// MethodsFile is methods.json, nil when the folder has none.
	MethodsFile *File
	// ContractFile is contract.json, nil when the folder has none.
	ContractFile *File
	// Imports are the other folders that references lead to, by their path.
	Imports map[string]*Set
	// Root holds the root `anyOf` of a bundled schema or of our envelope file:
	// it describes JSON-RPC messages, not payloads.
	Root []*Schema
}

// File is a data file as it stands.
type File struct {
	Name string
	Data []byte
}

// Topic is one schema file of a folder.
type Topic struct {
	Name, Title, Description string
	Pos                      Pos
}

// Def is a named definition.
type Def struct {
	Name  string
	Topic string
	*Schema
}

// Def returns the definition with this name, or nil.
func (s *Set) Def(name string) *Def { return s.byName[name] }

// Read reads every schema file of dir, or the single file that it names, and
// the folders that references lead to. Files that hold no definitions
// (methods.json) are left to their readers.
func Read(fsys fs.FS, name string) (*Set, error) {
	return read(fsys, name, nil)
}

func read(fsys fs.FS, name string, from []string) (*Set, error) {
	if slices.Contains(from, name) {
		return nil, fmt.Errorf("schema folders refer to each other in a circle: %s", strings.Join(append(from, name), " → "))
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	files := []string{name}
	if info.IsDir() {
		if files, err = schemaFiles(fsys, name); err != nil {
			return nil, err
		}
	}
	set := &Set{byName: map[string]*Def{}, Imports: map[string]*Set{}}
	for _, f := range files {
		if err := set.readFile(fsys, f); err != nil {
			return nil, err
		}
	}
	if len(set.Defs) == 0 {
		return nil, fmt.Errorf("%s: no definitions; a schema file has a $defs member", name)
	}
	if info.IsDir() {
		if set.Extends, err = readExtends(fsys, name); err != nil {
			return nil, err
		}
		if set.MethodsFile, err = readFile(fsys, path.Join(name, "methods.json")); err != nil {
			return nil, err
		}
		if set.ContractFile, err = readFile(fsys, path.Join(name, "contract.json")); err != nil {
			return nil, err
		}
	}
	for _, folder := range set.folders() {
		if set.Imports[folder], err = read(fsys, folder, append(from, name)); err != nil {
			return nil, err
		}
	}
	return set, set.resolveAll()
}

// readFile returns nil for a file that is not there.
func readFile(fsys fs.FS, name string) (*File, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &File{name, data}, err
}

// folders lists the other folders that references lead to, sorted.
func (s *Set) folders() []string {
	found := map[string]bool{}
	s.walk(func(sub *Schema) {
		if sub.RefFolder != "" {
			found[sub.RefFolder] = true
		}
	})
	if s.Extends != nil {
		found[s.Extends.Of] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// notSchemas are the data files that live beside the schemas.
var notSchemas = []string{"methods.json", "extends.json", "contract.json", "sources.json"}

func schemaFiles(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if path.Ext(e.Name()) == ".json" && !e.IsDir() && !slices.Contains(notSchemas, e.Name()) {
			files = append(files, path.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no schema files; expected *.json with a $defs member", dir)
	}
	return files, nil
}

func (s *Set) readFile(fsys fs.FS, name string) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	root, err := parseJSON(name, data)
	if err != nil {
		return err
	}
	topic := Topic{Name: strings.ReplaceAll(strings.TrimSuffix(path.Base(name), ".json"), ".", "_"), Pos: Pos{name, 1, 1}}
	r := reader{file: name}
	for k, v := range pairs(root) {
		switch k.Value {
		case "$schema", "$id":
		case "title":
			topic.Title = v.Value
		case "description":
			topic.Description = v.Value
		case "anyOf":
			for _, b := range v.Content {
				sub, err := r.schema(b)
				if err != nil {
					return err
				}
				s.Root = append(s.Root, sub)
			}
		case "$defs":
			if err := s.readDefs(r, topic.Name, v); err != nil {
				return err
			}
		default:
			return &Error{Pos: r.pos(k), Msg: fmt.Sprintf("unknown member %q at the root of a schema file", k.Value),
				Mend: "known are $schema, $id, title, description, anyOf and $defs"}
		}
	}
	s.Topics = append(s.Topics, topic)
	return nil
}

func (s *Set) readDefs(r reader, topic string, defs *yaml.Node) error {
	for k, v := range pairs(defs) {
		if old := s.byName[k.Value]; old != nil {
			return &Error{Pos: r.pos(k), Msg: fmt.Sprintf("definition %s is already defined at %s", k.Value, old.Pos),
				Mend: "rename or remove one of them"}
		}
		sub, err := r.schema(v)
		if err != nil {
			return err
		}
		sub.Pos = r.pos(k)
		d := &Def{Name: k.Value, Topic: topic, Schema: sub}
		s.Defs = append(s.Defs, d)
		s.byName[k.Value] = d
	}
	return nil
}

func (s *Set) resolveAll() error {
	var errs []error
	check := func(sub *Schema) {
		in := s
		if sub.RefFolder != "" {
			in = s.Imports[sub.RefFolder]
		}
		if sub.Ref != "" && in.byName[sub.Ref] == nil {
			errs = append(errs, &Error{Pos: sub.Pos, Msg: fmt.Sprintf("$ref names %q, which is not defined", sub.Ref),
				Mend: "define it in one of the files of the folder, or correct the name"})
		}
	}
	s.walk(check)
	return errors.Join(errs...)
}

// walk calls f for every schema of the set.
func (s *Set) walk(f func(*Schema)) {
	for _, d := range s.Defs {
		d.Walk(f)
	}
	for _, b := range s.Root {
		b.Walk(f)
	}
	if s.Extends != nil {
		for _, e := range s.Extends.Entries {
			for _, m := range e.Members {
				m.Walk(f)
			}
		}
	}
}

// parseJSON reads a file that holds one JSON object. The YAML reader keeps
// positions and order, but takes more than JSON.
func parseJSON(name string, data []byte) (*yaml.Node, error) {
	if err := json.Unmarshal(data, new(any)); err != nil {
		return nil, syntaxError(name, data, err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, &Error{Pos: Pos{name, 1, 1}, Msg: err.Error()}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, &Error{Pos: Pos{name, 1, 1}, Msg: "the file must hold one JSON object"}
	}
	return doc.Content[0], nil
}

func syntaxError(file string, data []byte, err error) error {
	at := 0
	var se *json.SyntaxError
	if errors.As(err, &se) {
		at = int(se.Offset)
	}
	return &Error{Pos: At(file, data, at), Msg: "not valid JSON: " + err.Error()}
}

// At is the position of a byte offset.
func At(file string, data []byte, offset int) Pos {
	head := data[:min(max(offset, 0), len(data))]
	return Pos{file, 1 + bytes.Count(head, []byte("\n")), len(head) - bytes.LastIndexByte(head, '\n')}
}

// raw decodes a node with ogen's parser, which keeps property order and the
// x- keywords and collapses ["T", "null"] into T and Nullable.
func raw(n *yaml.Node) (*jsonschema.RawSchema, error) {
	var s jsonschema.RawSchema
	if err := n.Decode(&s); err != nil {
		return nil, err
	}
	return &s, nil
}
