package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// Glob is the tool glob.
func Glob(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "glob",
		Description: "Find files and folders by name, sorted: ** stands for any folders, * and ? for part of a name, {a,b} for either. A pattern without a slash is looked for in every folder. " +
			"What .gitignore leaves out is left out, and symlinks are not followed. It reads the disk, not what an editor has unsaved.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"The pattern, relative to path, for example src/**/*.go."},` +
			`"path":{"type":"string","description":"The folder to look in, absolute or relative to the workspace. Default: the workspace."}},` +
			`"required":["pattern"]}`),
		Kind: KindRead,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			text, err := args.String("pattern")
			if err != nil {
				return Invocation{Title: "Find files"}, err
			}
			inv := Invocation{Title: "Find " + quoted(text)}
			p, err := newPattern("pattern", text)
			if err != nil {
				return inv, err
			}
			at, err := locateFolder(ws, args, "path")
			if err != nil {
				return inv, err
			}
			return Invocation{
				Title:     inv.Title + in(at),
				Locations: []Location{at.location()},
				Access:    access(permission.Read, at),
				Run:       func(ctx context.Context) (Output, error) { return at.glob(ctx, p) },
			}, nil
		},
	}
}

func (p place) glob(ctx context.Context, pattern pattern) (Output, error) {
	names := bounded{what: "names; narrow the pattern"}
	left, err := p.ws.Walk(ctx, p.abs, func(e *workspace.Entry) error {
		switch {
		case e.Path == "":
			return fmt.Errorf("%s is not a folder", p.name())
		case !pattern.match(e.Path):
		case names.full():
			names.more++
		case e.Type == fs.ModeDir:
			names.add(printable(e.Shown()) + "/")
		default:
			names.add(printable(e.Shown()))
		}
		if e.Type == fs.ModeDir && !pattern.reaches(e.Path) {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return Output{}, err
	}
	return Output{Text: names.text("(nothing matches)", leftOut(left))}, nil
}

// pattern is a glob for paths below a folder.
type pattern struct {
	glob string
	base string // the folder that all matches are in, "." for any
}

// newPattern checks the pattern that the argument of this name has.
func newPattern(name, text string) (pattern, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return pattern{}, fmt.Errorf("%s is empty", name)
	case strings.HasPrefix(text, "/"):
		return pattern{}, fmt.Errorf("%s must be relative; name the folder in path", name)
	}
	glob := strings.TrimSuffix(text, "/")
	for strings.HasPrefix(glob, "./") {
		glob = glob[2:]
	}
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	for part := range strings.SplitSeq(glob, "/") {
		if part == ".." {
			return pattern{}, fmt.Errorf("%s must not contain \"..\"; name the folder in path", name)
		}
	}
	if !doublestar.ValidatePattern(glob) {
		return pattern{}, fmt.Errorf("%s is malformed: a bracket, brace or backslash is not complete (put a backslash before one that is meant itself)", name)
	}
	base, _ := doublestar.SplitPattern(glob)
	return pattern{glob, path.Clean(base)}, nil
}

func (p pattern) match(name string) bool {
	ok, _ := doublestar.Match(p.glob, name) // the only error is a malformed pattern
	return ok
}

// reaches reports whether a match can lie in the folder or below.
func (p pattern) reaches(folder string) bool {
	return p.base == "." || folder == p.base || strings.HasPrefix(folder, p.base+"/") || strings.HasPrefix(p.base, folder+"/")
}

// in is the part of a title that says where, "" for the workspace itself.
func in(at place) string {
	if name := at.name(); name != "." {
		return " in " + label(name)
	}
	return ""
}

// quoted is what is looked for, as part of a title.
func quoted(text string) string { return `"` + label(text) + `"` }
