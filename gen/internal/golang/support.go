package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// usedPackages lists what stands before a dot without being declared in the
// file: its imports.
func usedPackages(src string) map[string]bool {
	used := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.SkipObjectResolution)
	if err != nil {
		return used // write reports it
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	return used
}

// support writes the helpers that the other files use, and only those: a
// package carries what it needs and imports nothing of ours.
func (g *emitter) support() error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "support.go", support, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("support code: %w", err)
	}
	needed := identifiers(g.files)
	for _, imp := range g.pkg.Imports {
		// The faults of an imported decoder keep their pointer in ours.
		g.write("errors_gen.go", fmt.Sprintf("// DecodeError says what is wrong with a JSON value and where.\ntype DecodeError = %s.DecodeError\n", g.imports[imp.Folder].Name))
	}
	var kept []ast.Decl
	rest := slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		gd, ok := d.(*ast.GenDecl)
		return ok && gd.Tok == token.IMPORT
	})
	for grew := true; grew; {
		grew = false
		var left []ast.Decl
		for _, d := range rest {
			if !wanted(d, needed) || len(g.pkg.Imports) > 0 && declares(d, "DecodeError") {
				left = append(left, d)
				continue
			}
			grew = true
			kept = append(kept, d)
			names(d, needed)
		}
		rest = left
	}
	slices.SortFunc(kept, func(a, b ast.Decl) int { return int(a.Pos() - b.Pos()) })
	var body strings.Builder
	for _, d := range kept {
		start := d.Pos()
		if doc := docOf(d); doc != nil {
			start = doc.Pos()
		}
		body.WriteString(support[fset.Position(start).Offset:fset.Position(d.End()).Offset] + "\n\n")
	}
	g.write("support_gen.go", body.String())
	return nil
}

// identifiers collects every identifier that the files mention.
func identifiers(files map[string][]byte) map[string]bool {
	set := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if file, err := parser.ParseFile(token.NewFileSet(), name, files[name], 0); err == nil {
			names(file, set)
		}
	}
	return set
}

func names(n ast.Node, set map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			set[id.Name] = true
		}
		return true
	})
}

// wanted: a function or type that is mentioned, a method of a mentioned type,
// a constructor of one.
func wanted(d ast.Decl, needed map[string]bool) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return needed[typeName(d.Recv.List[0].Type)]
		}
		if d.Name.IsExported() && d.Type.Results != nil {
			return needed[typeName(d.Type.Results.List[0].Type)]
		}
		return needed[d.Name.Name]
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if needed[s.Name.Name] {
					return true
				}
			case *ast.ValueSpec:
				if needed[s.Names[0].Name] {
					return true
				}
			}
		}
	}
	return false
}

// declares reports whether d is the type or one of its methods.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv != nil && typeName(d.Recv.List[0].Type) == name
	case *ast.GenDecl:
		spec, ok := d.Specs[0].(*ast.TypeSpec)
		return ok && spec.Name.Name == name
	}
	return false
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}
