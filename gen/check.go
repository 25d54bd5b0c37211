package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/drift"
	"github.com/acpkit/acpkit/gen/internal/golang"
)

// Report is what Check says of one schema folder.
type Report struct {
	Schema      string
	Definitions int
	Methods     int
	Files       int // Go files that it becomes
}

// Folders lists the schema folders below root: those with a $defs member in one
// of their files.
func Folders(fsys fs.FS, root string) ([]string, error) {
	var dirs []string
	err := fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".json" || slices.Contains(dirs, path.Dir(p)) {
			return err
		}
		doc, err := drift.Read(fsys, p)
		if _, ok := doc["$defs"]; ok {
			dirs = append(dirs, path.Dir(p))
		}
		return err
	})
	slices.Sort(dirs)
	return dirs, err
}

// Check reads and generates every folder in memory. Beside the faults of the
// schemas it reports, when all the project's folders are given, entries of
// names.json that none of them needs.
func Check(fsys fs.FS, folders []string, all bool) ([]Report, error) {
	names, err := golang.ReadNames(namesJSON)
	if err != nil {
		return nil, err
	}
	var reports []Report
	var errs []error
	for _, dir := range folders {
		pkg, err := Load(fsys, dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		imports := map[string]string{}
		for _, imp := range pkg.Imports {
			imports[imp.Folder] = "check/" + path.Base(path.Dir(imp.Folder))
		}
		files, err := generate(fsys, Options{Schema: dir, Package: "check", Imports: imports}, names)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		reports = append(reports, Report{dir, len(pkg.Types), len(pkg.Methods), len(files)})
	}
	if un := names.Unused(); all && len(un) > 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("gen/names.json: nothing needs %s; remove it", strings.Join(un, ", ")))
	}
	return reports, errors.Join(errs...)
}

// Change is a difference between our schema and a published one.
type Change = drift.Change

// Drift compares the structure of our folder with a published schema file,
// both ways, ignoring prose. prose lists the descriptions of ours that share a
// run of eight words with it: ours must be our own.
func Drift(ours fs.FS, dir string, theirs fs.FS, file string) (changes []Change, prose []string, err error) {
	a, err := drift.Bundle(ours, dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := drift.Read(theirs, file)
	if err != nil {
		return nil, nil, err
	}
	changes, err = drift.Compare(a, b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	docs, err := drift.Files(ours, dir)
	return changes, drift.SharedProse(docs, b, 8), err
}
