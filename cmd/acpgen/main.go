// Command acpgen makes Go packages from ACP and vendor schemas, checks the
// schemas and compares them with published ones.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/acpkit/acpkit/gen"
)

type cli struct {
	Go    goCmd    `cmd:"" help:"Generate a Go package from a schema folder or file."`
	Docs  docsCmd  `cmd:"" help:"Write reference pages in Markdown from schema folders."`
	Check checkCmd `cmd:"" help:"Read schemas and generate them in memory; report every fault with its place."`
	Drift driftCmd `cmd:"" help:"Compare our schema with a published one, both ways, ignoring prose."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0 well, 1 a fault or a difference, 2 a bad flag.
func run(args []string, stdout, stderr io.Writer) int {
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("acpgen"), kong.Description("Go code from the ACP and vendor schemas."),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exit = code }), kong.BindTo(stdout, (*io.Writer)(nil)))
	if err != nil {
		fmt.Fprintln(stderr, "acpgen:", err)
		return 1
	}
	ctx, err := parser.Parse(args)
	switch {
	case exit >= 0: // --help
		return exit
	case err != nil:
		fmt.Fprintf(stderr, "acpgen: %v; see acpgen --help\n", err)
		return 2
	}
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

type goCmd struct {
	Schema  string            `required:"" help:"Schema folder, or one schema file with $$defs." placeholder:"DIR|FILE"`
	Out     string            `required:"" help:"Folder to write; generated files in it that are no longer made are removed." placeholder:"DIR"`
	Package string            `required:"" help:"Name of the Go package." placeholder:"NAME"`
	Import  map[string]string `help:"Go package of a schema folder that the schema refers to; may be repeated." placeholder:"FOLDER=PATH"`
}

func (c *goCmd) Run(stdout io.Writer) error {
	fsys, schema, err := open(c.Schema)
	if err != nil {
		return err
	}
	files, err := gen.Generate(fsys, gen.Options{Schema: schema, Package: c.Package, Imports: c.Import})
	if err != nil {
		return err
	}
	if err := write(c.Out, files); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d files from %s\n", c.Out, len(files), c.Schema)
	return nil
}

type checkCmd struct {
	Schema []string `arg:"" optional:"" help:"Schema folders; default: every folder below schema/." placeholder:"DIR"`
}

func (c *checkCmd) Run(stdout io.Writer) error {
	fsys := os.DirFS(".")
	folders, all := c.Schema, len(c.Schema) == 0
	if all {
		var err error
		if folders, err = gen.Folders(fsys, "schema"); err != nil {
			return fmt.Errorf("acpgen check: %w; run it in the root of the project, or name schema folders", err)
		}
	}
	for i, f := range folders {
		folders[i] = filepath.ToSlash(filepath.Clean(f))
	}
	reports, err := gen.Check(fsys, folders, all)
	for _, r := range reports {
		fmt.Fprintf(stdout, "%s: %d types, %d methods, %d files\n", r.Schema, r.Definitions, r.Methods, r.Files)
	}
	return err
}

// pinned is the published schema that our folder equals, as npm installs it.
const pinned = "interop/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"

type driftCmd struct {
	File   string `arg:"" optional:"" help:"Published schema file; default: the pinned package in interop/."`
	Schema string `default:"schema/acp/v1" help:"Our schema folder." placeholder:"DIR"`
	JSON   bool   `help:"Print the differences as JSON."`
	Prose  bool   `help:"Also fail when a description shares a run of eight words with the published one."`
}

func (c *driftCmd) Run(stdout io.Writer) error {
	if c.File == "" {
		c.File = pinned
		if _, err := os.Stat(c.File); err != nil {
			return errors.New("acpgen drift: the pinned package is not installed; run `npm ci --prefix interop`, or name a schema file")
		}
	}
	ours, dir, err := open(c.Schema)
	if err != nil {
		return err
	}
	theirs, file, err := open(c.File)
	if err != nil {
		return err
	}
	changes, prose, err := gen.Drift(ours, dir, theirs, file)
	if err != nil {
		return err
	}
	if !c.Prose {
		prose = nil
	}
	if err := report(stdout, c.JSON, changes, prose); err != nil {
		return err
	}
	if n := len(changes) + len(prose); n > 0 {
		return fmt.Errorf("acpgen drift: %d differences between %s and %s", n, c.Schema, c.File)
	}
	return nil
}

func report(w io.Writer, asJSON bool, changes []gen.Change, prose []string) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Changes []gen.Change `json:"changes"`
			Prose   []string     `json:"prose,omitempty"`
		}{append([]gen.Change{}, changes...), prose})
	}
	for _, c := range changes {
		fmt.Fprintln(w, c)
	}
	for _, p := range prose {
		fmt.Fprintln(w, "prose   ", p)
	}
	if len(changes)+len(prose) == 0 {
		fmt.Fprintln(w, "no differences")
	}
	return nil
}
