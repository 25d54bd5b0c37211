package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

const (
	defaultLines = 2000     // lines that read_file gives when no limit is asked for
	maxLine      = 2000     // bytes of one line that it shows
	maxRead      = 48 << 10 // bytes that it gives at most, so that its own note on what is left survives
)

// ReadFile is the tool read_file.
func ReadFile(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "read_file",
		Description: "Read a text file of the workspace. The answer has one line per line of the file, with its number and a tab before it. " +
			"Long files come in parts: continue with offset.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace."},` +
			`"offset":{"type":"integer","minimum":0,"description":"How many lines to skip at the start. Default 0."},` +
			`"limit":{"type":"integer","minimum":1,"description":"How many lines to read at most. Default 2000."}},` +
			`"required":["path"]}`),
		Kind: KindRead,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			at, inv, err := locate(ws, "Read", args, "path")
			if err != nil {
				return inv, err
			}
			offset, err := args.Int("offset", 0, 0)
			if err != nil {
				return inv, err
			}
			limit, err := args.Int("limit", defaultLines, 1)
			if err != nil {
				return inv, err
			}
			if offset > 0 {
				inv.Locations[0].Line = offset + 1
				inv.Title += fmt.Sprintf(" from line %d", offset+1)
			}
			inv.Access = access(permission.Read, at)
			inv.Run = func(context.Context) (Output, error) {
				text, err := at.ws.ReadText(at.abs)
				if err != nil {
					return Output{}, err
				}
				return Output{Text: number(text, offset, limit)}, nil
			}
			return inv, nil
		},
	}
}

// WriteFile is the tool write_file.
func WriteFile(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "write_file",
		Description: "Create a text file of the workspace, or replace all of its content. Missing folders are created. " +
			"A file that uses CRLF line ends keeps them when the content has only LF.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the workspace."},` +
			`"content":{"type":"string","description":"The whole new content."}},` +
			`"required":["path","content"]}`),
		Kind: KindEdit,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			at, inv, err := locate(ws, "Write", args, "path")
			if err != nil {
				return inv, err
			}
			content, err := args.String("content")
			if err != nil {
				return inv, err
			}
			return at.change(inv, func(old *string) (text, done string, err error) {
				if old == nil {
					return content, fmt.Sprintf("Created %s (%d bytes).", at.name(), len(content)), nil
				}
				if text = content; usesCRLF(*old) && !strings.Contains(content, "\r") {
					text = strings.ReplaceAll(content, "\n", "\r\n")
				}
				return text, fmt.Sprintf("Replaced %s (%d bytes).", at.name(), len(text)), nil
			})
		},
	}
}

// change completes an invocation that changes the text of one file; edit makes the new text, and says what was done. The
// wait for the user may be long: when it runs, the file must still be what the diff was made from.
func (p place) change(inv Invocation, edit func(old *string) (text, done string, err error)) (Invocation, error) {
	inv.Access = access(permission.Edit, p)
	old, err := current(p.ws, p.abs)
	var text, done string
	if err == nil {
		text, done, err = edit(old)
	}
	if err == nil { // before anybody is asked
		err = p.ws.CheckWrite(p.abs, text)
	}
	if err != nil {
		return p.tellWhenAllowed(inv, err)
	}
	inv.Diffs = []Diff{{Path: p.abs, Old: old, New: text}}
	inv.Run = func(ctx context.Context) (Output, error) {
		if err := ctx.Err(); err != nil {
			return Output{}, err
		}
		if err := p.ws.Change(p.abs, old, text); err != nil {
			return Output{}, err
		}
		return Output{Text: done, Diffs: inv.Diffs}, nil
	}
	return inv, nil
}

// current is the content of a file, nil when there is none.
func current(ws *workspace.Workspace, abs string) (*string, error) {
	text, err := ws.ReadText(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &text, nil
}

// usesCRLF reports whether every line of the text ends that way.
func usesCRLF(text string) bool {
	lines := strings.Count(text, "\n")
	return lines > 0 && lines == strings.Count(text, "\r\n")
}

// number renders lines like cat -n, without their line ends, and says what is left out.
func number(text string, offset, limit int) string {
	if text == "" {
		return "(the file is empty)"
	}
	total := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if offset >= total {
		return fmt.Sprintf("(the file has %d lines; nothing is left after offset %d)", total, offset)
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n <= offset {
			continue
		}
		if n-offset > limit || b.Len() > maxRead {
			fmt.Fprintf(&b, "(lines left: %d; continue with offset %d)\n", total-n+1, n-1)
			break
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		fmt.Fprintf(&b, "%6d\t%s\n", n, shorten(line, maxLine))
	}
	return b.String()
}

// label is a file name as part of a title: one line, not too long.
func label(name string) string {
	return shorten(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name), 200)
}

// shorten cuts at a character boundary and marks the cut.
func shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}
