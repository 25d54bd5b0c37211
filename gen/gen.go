// Package gen turns schema folders into Go packages. It is pure and offline:
// Generate reads a file system and returns path → bytes, twice the same.
//
// Everything that is decided about a schema is decided in the packages below
// internal: load reads and refuses, model gives meaning, overlay and golang
// write Go, drift compares with a published schema.
package gen

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/golang"
	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
)

//go:embed names.json
var namesJSON []byte

// Options say what to generate.
type Options struct {
	// Schema is the folder or file, a slash path in the file system.
	Schema string
	// Package is the name of the Go package.
	Package string
	// Imports are the import paths of the folders that the schema refers to, by
	// folder; the last element of a path is the package's name.
	Imports map[string]string
}

// Generate returns the files of one package, by file name. Faults in the schema come
// back joined, each with file, line and column.
func Generate(fsys fs.FS, o Options) (map[string][]byte, error) {
	names, err := golang.ReadNames(namesJSON)
	if err != nil {
		return nil, err
	}
	return generate(fsys, o, names)
}

func generate(fsys fs.FS, o Options, names *golang.Names) (map[string][]byte, error) {
	pkg, err := Load(fsys, o.Schema)
	if err != nil {
		return nil, err
	}
	prov, err := provenance(fsys, o.Schema)
	if err != nil {
		return nil, err
	}
	imports := map[string]golang.GoPackage{}
	for folder, p := range o.Imports {
		imports[folder] = golang.GoPackage{Path: p, Name: path.Base(p)}
	}
	return golang.Emit(pkg, golang.Options{Package: o.Package, Source: o.Schema, Names: names, Provenance: prov, Imports: imports})
}

// Load reads a schema folder or file into the model, with its methods.json when
// it has one.
func Load(fsys fs.FS, name string) (*Package, error) {
	set, err := load.Read(fsys, name)
	if err != nil {
		return nil, err
	}
	return model.Build(name, set)
}

// provenance looks for sources.json above the folder; its keys are folders
// relative to it.
func provenance(fsys fs.FS, schema string) (*golang.Provenance, error) {
	for dir := path.Dir(schema); ; dir = path.Dir(dir) {
		data, err := fs.ReadFile(fsys, path.Join(dir, "sources.json"))
		if err == nil {
			var all map[string]*golang.Provenance
			if err := json.Unmarshal(data, &all); err != nil {
				return nil, fmt.Errorf("%s: %w", path.Join(dir, "sources.json"), err)
			}
			return all[strings.TrimPrefix(strings.TrimPrefix(schema, dir), "/")], nil
		}
		if dir == "." || dir == "/" {
			return nil, nil
		}
	}
}
