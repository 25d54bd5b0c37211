package gen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/golang"
	"github.com/acpkit/acpkit/gen/internal/markdown"
)

// DocsMarker is how a generated page starts.
const DocsMarker = markdown.Marker

// DocsOptions say what to document. All paths are slash paths in the file
// system.
type DocsOptions struct {
	// Schemas are the folders, or files, in the order of the entrance page. A
	// folder that extends another one comes with it or links to nothing.
	Schemas []string
	// Transcripts is the folder of the golden transcripts, whose `# covers:`
	// lines name rows of the contract; "" means no links to them.
	Transcripts string
	// Out is the folder that the pages go to, if it is in the file system: then
	// they link to schemas and transcripts.
	Out string
}

// Docs returns the reference pages by path below the output folder. Like
// Generate it is pure, and twice the same.
func Docs(fsys fs.FS, o DocsOptions) (map[string][]byte, error) {
	var sources []markdown.Source
	var errs []error
	for _, schema := range o.Schemas {
		src, err := docsSource(fsys, schema)
		errs = append(errs, err)
		sources = append(sources, src)
	}
	proofs, err := transcripts(fsys, o.Transcripts)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return markdown.Emit(markdown.Options{Sources: sources, Proofs: proofs, Out: o.Out})
}

func docsSource(fsys fs.FS, schema string) (src markdown.Source, err error) {
	if src.Package, err = Load(fsys, schema); err != nil {
		return src, err
	}
	prov, err := provenance(fsys, schema)
	if prov != nil {
		src.Origin = origin(prov)
	}
	return src, err
}

// origin says in a sentence what a folder equals.
func origin(p *golang.Provenance) string {
	return fmt.Sprintf("%s, version %d, with the structure of `%s` in `%s` %s; the descriptions are our own.", p.Protocol, p.ProtocolVersion, p.File, p.Package, p.Version)
}

// transcripts finds the scripts that say which rows they cover, by row id. A
// folder that is not there has none.
func transcripts(fsys fs.FS, dir string) (map[string][]string, error) {
	proofs := map[string][]string{}
	if dir == "" {
		return proofs, nil
	}
	err := fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == dir {
			return nil
		}
		if err != nil || d.IsDir() || path.Ext(p) != ".txtar" {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		for _, row := range covers(data) {
			if !slices.Contains(proofs[row], p) {
				proofs[row] = append(proofs[row], p)
			}
		}
		return err
	})
	return proofs, err
}

// covers reads the rows that the head of a script names: the lines before its
// first section.
func covers(script []byte) (rows []string) {
	for lines := bufio.NewScanner(bytes.NewReader(script)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "-- ") {
			break
		}
		if names, ok := strings.CutPrefix(line, "# covers:"); ok {
			for _, name := range strings.Split(names, ",") {
				rows = append(rows, strings.TrimSpace(name))
			}
		}
	}
	return rows
}
