package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen"
)

type docsCmd struct {
	Schema      []string `required:"" sep:"none" help:"Schema folder or file; may be repeated. A folder that extends another one needs that one too." placeholder:"DIR|FILE"`
	Out         string   `required:"" help:"Folder to write; generated pages in it that are no longer made are removed." placeholder:"DIR"`
	Transcripts string   `default:"cmd/reasonix/testdata/script" help:"Folder of the golden transcripts that the page of errors links to." placeholder:"DIR"`
}

func (c *docsCmd) Run(stdout io.Writer) error {
	pages, err := c.pages()
	if err != nil {
		return err
	}
	if err := writePages(c.Out, pages); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d pages from %s\n", c.Out, len(pages), strings.Join(c.Schema, ", "))
	return nil
}

// pages makes them in the current folder, or in the root of the file system when
// a path leads out of it: the pages then link to no file that is not a page.
func (c *docsCmd) pages() (map[string][]byte, error) {
	o := gen.DocsOptions{Out: slash(c.Out), Transcripts: slash(c.Transcripts)}
	for _, s := range c.Schema {
		o.Schemas = append(o.Schemas, slash(s))
	}
	for _, p := range append([]string{o.Transcripts}, o.Schemas...) {
		if p != "" && !fs.ValidPath(p) {
			return nil, fmt.Errorf("acpgen docs: %s is outside of the current folder; run it in the root of the project", p)
		}
	}
	if !fs.ValidPath(o.Out) {
		o.Out = ""
	}
	return gen.Docs(os.DirFS("."), o)
}

// slash is a path as io/fs has it; "" stays.
func slash(name string) string {
	if name == "" {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// writePages puts the pages into dir and removes generated ones that are no
// longer made.
func writePages(dir string, pages map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, pages[name], 0o666); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if _, made := pages[filepath.ToSlash(rel)]; made || err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(data, []byte(gen.DocsMarker)) {
			return err
		}
		// The folder goes with its last page; with others in it, it stays.
		err = os.Remove(file)
		_ = os.Remove(filepath.Dir(file))
		return err
	})
}
