// Package overlay turns the model's objects into Go struct declarations by way
// of github.com/atombender/go-jsonschema. The model decides every name and
// type; the overlay tells that library through its goJSONSchema keyword, and
// mends afterwards what it cannot keep: the order of members, the names of
// definitions and the width of comments.
package overlay

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"

	"github.com/atombender/go-jsonschema/pkg/generator"
	"github.com/atombender/go-jsonschema/pkg/schemas"
)

// Struct is a struct type to declare.
type Struct struct {
	Name   string // Go name
	Doc    string
	Fields []Field
}

// Field is a member: its Go name and type, and its wire name.
type Field struct {
	Name, Type, Wire string
	Doc              string
	// Omit: the encoding/json tag says omitempty.
	Omit bool
}

// Declare returns the Go source of each struct, by Go name.
func Declare(structs []Struct) (map[string]string, error) {
	g, err := generator.New(generator.Config{
		DefaultPackageName: "p", DefaultOutputName: "p.go", OnlyModels: true, Tags: []string{"json"},
		DisableOmitZero: true, Warner: func(string) {},
	})
	if err != nil {
		return nil, err
	}
	if err := g.AddFile("p.json", schema(structs)); err != nil {
		return nil, fmt.Errorf("go-jsonschema: %w", err)
	}
	sources, err := g.Sources()
	if err != nil {
		return nil, fmt.Errorf("go-jsonschema: %w", err)
	}
	return mend(structs, sources["p.go"])
}

// key names a definition for the library in a way that it leaves alone, so
// that mend finds it again: its own caser would change words like MCP.
func key(i int) string { return fmt.Sprintf("Def%04d", i) }

func schema(structs []Struct) *schemas.Schema {
	defs := schemas.Definitions{}
	for i, s := range structs {
		t := &schemas.Type{Type: schemas.TypeList{"object"}, Description: s.Doc, Properties: map[string]*schemas.Type{}}
		for _, f := range s.Fields {
			t.Properties[f.Wire] = &schemas.Type{Description: f.Doc,
				GoJSONSchemaExtension: &schemas.GoJSONSchemaExtension{Type: &f.Type, Identifier: &f.Name, Nillable: true}}
			if !f.Omit {
				t.Required = append(t.Required, f.Wire)
			}
		}
		defs[key(i)] = t
	}
	return &schemas.Schema{ObjectAsType: &schemas.ObjectAsType{}, Definitions: defs}
}

// mend parses what the library wrote and prints each struct anew: schema order
// instead of alphabetical order, its Go name, comments reflowed.
func mend(structs []Struct, src []byte) (map[string]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("go-jsonschema wrote code that does not parse: %w", err)
	}
	written := map[string]*ast.StructType{}
	for _, d := range file.Decls {
		gd, ok := d.(*ast.GenDecl)
		if !ok || gd.Tok != token.TYPE {
			continue
		}
		for _, sp := range gd.Specs {
			ts := sp.(*ast.TypeSpec)
			if st, ok := ts.Type.(*ast.StructType); ok {
				written[ts.Name.Name] = st
			}
		}
	}
	out := map[string]string{}
	for i, s := range structs {
		st := written[key(i)]
		if st == nil && len(s.Fields) > 0 {
			return nil, fmt.Errorf("go-jsonschema left out the struct for %s", s.Name)
		}
		text, err := print(fset, s, st)
		if err != nil {
			return nil, err
		}
		out[s.Name] = text
	}
	return out, nil
}

func print(fset *token.FileSet, s Struct, st *ast.StructType) (string, error) {
	fields := map[string]*ast.Field{}
	if st != nil {
		for _, f := range st.Fields.List {
			fields[f.Names[0].Name] = f
		}
	}
	var b strings.Builder
	b.WriteString(Comment("", s.Doc))
	fmt.Fprintf(&b, "type %s struct {\n", s.Name)
	for i, f := range s.Fields {
		af := fields[f.Name]
		if af == nil {
			return "", fmt.Errorf("go-jsonschema left out the member %s of %s", f.Name, s.Name)
		}
		var typ bytes.Buffer
		if err := printer.Fprint(&typ, fset, af.Type); err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Comment("\t", f.Doc))
		fmt.Fprintf(&b, "\t%s %s %s\n", f.Name, typ.String(), af.Tag.Value)
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// width is where comment lines are broken.
const width = 100

// Comment renders text as // lines, broken at a fixed width; paragraphs stay
// apart. It returns "" for an empty text.
func Comment(indent, text string) string {
	var b strings.Builder
	for i, par := range strings.Split(strings.TrimSpace(text), "\n\n") {
		words := strings.Fields(par)
		if len(words) == 0 {
			continue
		}
		if i > 0 {
			b.WriteString(indent + "//\n")
		}
		line := indent + "//"
		for _, w := range words {
			if len(line)+1+len(w) > width && line != indent+"//" {
				b.WriteString(line + "\n")
				line = indent + "//"
			}
			line += " " + w
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
