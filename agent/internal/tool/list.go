package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

const maxNames = 1000 // names that ls and glob give

// Ls is the tool ls.
func Ls(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "ls",
		Description: "List a folder: one name a line, hidden ones too, folders with a slash at the end, files with their size in bytes, symlinks with what they say. " +
			"It reads the disk.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The folder, absolute or relative to the workspace. Default: the workspace."}}}`),
		Kind: KindRead,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			at, err := locateFolder(ws, args, "path")
			if err != nil {
				return Invocation{Title: "List a folder"}, err
			}
			return Invocation{
				Title:     "List " + label(at.name()),
				Locations: []Location{at.location()},
				Access:    access(permission.Read, at),
				Run:       func(ctx context.Context) (Output, error) { return at.list(ctx) },
			}, nil
		},
	}
}

func (p place) list(ctx context.Context) (Output, error) {
	names := bounded{what: "names"}
	err := p.ws.List(ctx, p.abs, func(e *workspace.Entry) error {
		if names.full() {
			names.more++
			return nil
		}
		names.add(describe(e))
		return nil
	})
	if err != nil {
		return Output{}, err
	}
	return Output{Text: names.text("(the folder is empty)")}, nil
}

// describe is the line of ls about an entry.
func describe(e *workspace.Entry) string {
	name := printable(e.Path)
	switch e.Type {
	case fs.ModeDir:
		return name + "/"
	case fs.ModeSymlink:
		target, err := e.Target()
		if err != nil {
			return name + " -> ?"
		}
		return name + " -> " + printable(target)
	case 0:
		info, err := e.Info()
		if err != nil {
			return name + " (gone)"
		}
		return fmt.Sprintf("%s (%d)", name, info.Size())
	case fs.ModeNamedPipe:
		return name + " (pipe)"
	case fs.ModeSocket:
		return name + " (socket)"
	}
	return name + " (device)"
}

// printable is a name on one line, quoted when it would not come through as it is.
func printable(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return name
	}
	return strconv.Quote(name)
}

// bounded collects lines up to a bound, and counts the rest.
type bounded struct {
	what  string // what the lines are
	max   int    // maxNames when 0
	lines int
	more  int // beyond the bound
	b     strings.Builder
}

func (l *bounded) full() bool {
	limit := l.max
	if limit == 0 {
		limit = maxNames
	}
	return l.lines >= limit || l.b.Len() >= maxRead
}

func (l *bounded) add(line string) {
	l.lines++
	l.b.WriteString(line)
	l.b.WriteByte('\n')
}

// text is all lines and the notes on what is not among them, or the words for an empty list.
func (l *bounded) text(none string, notes ...string) string {
	if l.lines == 0 {
		l.b.WriteString(none + "\n")
	}
	if l.more > 0 {
		fmt.Fprintf(&l.b, "(%d more %s)\n", l.more, l.what)
	}
	for _, note := range notes {
		if note != "" {
			l.b.WriteString("(" + note + ")\n")
		}
	}
	return strings.TrimSuffix(l.b.String(), "\n")
}

// leftOut is a note on what a walk has left out, "" for nothing.
func leftOut(left workspace.Left) string {
	var parts []string
	if left.Full {
		parts = append(parts, "there are too many files: not all were looked at; name a folder")
	}
	if left.Denied > 0 {
		parts = append(parts, fmt.Sprintf("folders that could not be read: %d", left.Denied))
	}
	if left.Deep > 0 {
		parts = append(parts, fmt.Sprintf("folders that lie too deep: %d", left.Deep))
	}
	return strings.Join(parts, "; ")
}
