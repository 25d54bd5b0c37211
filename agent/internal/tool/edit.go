package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/workspace"
)

const maxListed = 8 // lines that an error names

const editMembers = `"old_string":{"type":"string","description":"The text to replace, exactly as it stands in the file, without line numbers. Empty to create a new file."},` +
	`"new_string":{"type":"string","description":"The text that takes its place."},` +
	`"replace_all":{"type":"boolean","description":"Replace every occurrence. Without it there must be exactly one."}`

// EditFile is the tool edit_file.
func EditFile(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "edit_file",
		Description: "Replace a piece of a text file. old_string must occur exactly once, so take enough lines around it; with replace_all every occurrence is replaced. " +
			"Line ends and the character set of the file are kept.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace."},` + editMembers + `},` +
			`"required":["path","old_string","new_string"]}`),
		Kind: KindEdit,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			at, inv, err := locate(ws, "Edit", args, "path")
			if err != nil {
				return inv, err
			}
			e, err := readEdit(args)
			if err != nil {
				return inv, err
			}
			return at.edit(inv, []edit{e})
		},
	}
}

// MultiEdit is the tool multi_edit.
func MultiEdit(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "multi_edit",
		Description: "Make several replacements in one text file, in order, each on the result of the one before. Either all are made or none. " +
			"The rules of edit_file hold for each.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace."},` +
			`"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{` + editMembers + `},"required":["old_string","new_string"]}}},` +
			`"required":["path","edits"]}`),
		Kind: KindEdit,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			at, inv, err := locate(ws, "Edit", args, "path")
			if err != nil {
				return inv, err
			}
			list, err := args.Objects("edits")
			if err != nil {
				return inv, err
			}
			var edits []edit
			for i, item := range list {
				e, err := readEdit(item)
				if err != nil {
					return inv, fmt.Errorf("edits[%d]: %w", i, err)
				}
				edits = append(edits, e)
			}
			return at.edit(inv, edits)
		},
	}
}

// edit is one replacement.
type edit struct {
	old, new string
	all      bool
}

func readEdit(args Args) (e edit, err error) {
	if e.old, err = args.String("old_string"); err != nil {
		return e, err
	}
	if e.new, err = args.String("new_string"); err != nil {
		return e, err
	}
	e.all, err = args.Bool("replace_all")
	return e, err
}

// edit completes an invocation that makes these edits.
func (p place) edit(inv Invocation, edits []edit) (Invocation, error) {
	inv, err := p.change(inv, func(old *string) (text, done string, err error) {
		if old == nil {
			if edits[0].old != "" {
				return "", "", fmt.Errorf("%s does not exist; to create it, leave old_string empty", p.name())
			}
			text = edits[0].new
		} else {
			text = *old
		}
		n := 0
		for i, e := range edits {
			if old == nil && i == 0 {
				continue
			}
			var made int
			if text, made, err = e.apply(p.name(), text); err != nil {
				if len(edits) > 1 {
					err = fmt.Errorf("edit %d of %d: %w (no edit was made)", i+1, len(edits), err)
				}
				return "", "", err
			}
			n += made
		}
		switch {
		case old == nil:
			return text, fmt.Sprintf("Created %s (%d bytes).", p.name(), len(text)), nil
		case *old == text:
			return "", "", fmt.Errorf("the edits leave %s as it is", p.name())
		case n == 1:
			return text, fmt.Sprintf("Edited %s: 1 replacement, at line %d.", p.name(), firstChange(*old, text)), nil
		default:
			return text, fmt.Sprintf("Edited %s: %d replacements, the first at line %d.", p.name(), n, firstChange(*old, text)), nil
		}
	})
	if len(inv.Diffs) == 1 && inv.Diffs[0].Old != nil {
		inv.Locations[0].Line = firstChange(*inv.Diffs[0].Old, inv.Diffs[0].New)
	}
	return inv, err
}

// apply makes the edit in the text of the file called name and counts the replacements.
func (e edit) apply(name, text string) (string, int, error) {
	if e.old == "" {
		return "", 0, fmt.Errorf("%s exists, so old_string must not be empty", name)
	}
	e = e.withLineEnds(text)
	if e.old == e.new {
		return "", 0, errors.New("old_string and new_string are the same")
	}
	lines := occurrences(text, e.old)
	switch {
	case len(lines) == 0:
		return "", 0, fmt.Errorf("old_string was not found in %s%s", name, hint(text, e.old))
	case len(lines) > 1 && !e.all:
		return "", 0, fmt.Errorf("old_string was found %d times in %s (%s); add lines around it until it is unique, or set replace_all", max(len(lines), strings.Count(text, e.old)), name, listLines(lines))
	}
	return strings.ReplaceAll(text, e.old, e.new), strings.Count(text, e.old), nil
}

// withLineEnds gives the edit the line ends of the text. In a text that mixes them, old_string is taken as it is when it
// occurs so, and otherwise with the line ends that make it occur.
func (e edit) withLineEnds(text string) edit {
	lf := edit{toLF(e.old), toLF(e.new), e.all}
	crlf := edit{toCRLF(e.old), toCRLF(e.new), e.all}
	all, windows := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case all == 0:
		return e
	case windows == 0 && !strings.Contains(text, "\r"):
		return lf
	case windows == all:
		return crlf
	case strings.Contains(text, e.old) && strings.Contains(e.old, "\n"):
		return e
	case strings.Contains(text, crlf.old) && strings.Contains(crlf.old, "\n"):
		return crlf
	case strings.Contains(text, lf.old) && strings.Contains(lf.old, "\n"):
		return lf
	}
	return e
}

func toLF(s string) string   { return strings.ReplaceAll(s, "\r\n", "\n") }
func toCRLF(s string) string { return strings.ReplaceAll(toLF(s), "\n", "\r\n") }

// occurrences are the lines, from 1, where the piece begins, also where it overlaps itself: then it is not clear which
// one is meant. Not more than a few are looked for.
func occurrences(text, piece string) []int {
	var lines []int
	line, at := 1, 0
	for len(lines) <= maxListed {
		next := strings.Index(text[at:], piece)
		if next < 0 {
			break
		}
		line += strings.Count(text[at:at+next], "\n")
		lines = append(lines, line)
		at += next
		if text[at] == '\n' {
			line++
		}
		at++
	}
	return lines
}

// listLines names the first few lines.
func listLines(lines []int) string {
	var b strings.Builder
	b.WriteString("lines ")
	for i, n := range lines[:min(len(lines), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if len(lines) > maxListed {
		b.WriteString(", …")
	}
	return b.String()
}

// firstChange is the line where the new text begins to differ.
func firstChange(old, text string) int {
	n := 0
	for n < len(old) && n < len(text) && old[n] == text[n] {
		n++
	}
	return strings.Count(text[:n], "\n") + 1
}
