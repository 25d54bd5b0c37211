package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/charset"
	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

const (
	maxMatches  = 300 // lines that grep gives
	maxMatch    = 300 // bytes of one line that it shows
	beforeMatch = 100 // bytes of those before the match, in a long line
	maxRegexp   = 10000
)

// Grep is the tool grep.
func Grep(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "grep",
		Description: "Search the text of files for a regular expression (RE2 syntax; (?i) in front ignores case), line by line. The answer has path:line:text for each line that matches. " +
			"What .gitignore leaves out is left out, as are binary files and files above 10 MiB, and symlinks are not followed. It reads the disk, not what an editor has unsaved.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"The regular expression."},` +
			`"path":{"type":"string","description":"The folder or file to search, absolute or relative to the workspace. Default: the workspace."},` +
			`"glob":{"type":"string","description":"Only files whose path below the folder matches, for example *.go or src/**/*.{ts,tsx}."}},` +
			`"required":["pattern"]}`),
		Kind: KindSearch,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			text, err := args.String("pattern")
			if err != nil {
				return Invocation{Title: "Search"}, err
			}
			inv := Invocation{Title: "Search " + quoted(text)}
			s := search{}
			if s.re, err = compile(text); err != nil {
				return inv, err
			}
			if args.Has("glob") {
				glob, err := args.String("glob")
				if err != nil {
					return inv, err
				}
				only, err := newPattern("glob", glob)
				if err != nil {
					return inv, err
				}
				s.only = &only
			}
			if s.at, err = locateFolder(ws, args, "path"); err != nil {
				return inv, err
			}
			return Invocation{
				Title:     inv.Title + in(s.at),
				Locations: []Location{s.at.location()},
				Access:    access(permission.Read, s.at),
				Run:       s.run,
			}, nil
		},
	}
}

// compile reads a regular expression; the error says how to write what other engines would take.
func compile(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, fmt.Errorf("pattern is empty")
	}
	if len(text) > maxRegexp {
		return nil, fmt.Errorf("pattern is longer than %d bytes", maxRegexp)
	}
	re, err := regexp.Compile(text)
	if err == nil {
		return re, nil
	}
	why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	advice := "put a backslash before a character that is meant itself"
	for _, missing := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(text, missing) {
			advice = "RE2 has no look-around; search for more and sort it out"
		}
	}
	if regexp.MustCompile(`\\[1-9]`).MatchString(text) {
		advice = "RE2 has no back-references"
	}
	return nil, fmt.Errorf("pattern is no regular expression of RE2: %s (%s)", why, advice)
}

// search is one run of grep.
type search struct {
	at   place
	re   *regexp.Regexp
	only *pattern
}

func (s search) run(ctx context.Context) (Output, error) {
	found := bounded{what: "matches", max: maxMatches}
	prefix, _ := s.re.LiteralPrefix()
	var buf []byte
	files, stopped := 0, false
	left, err := s.at.ws.Walk(ctx, s.at.abs, func(e *workspace.Entry) error {
		switch {
		case e.Type == fs.ModeDir:
			if s.only != nil && !s.only.reaches(e.Path) {
				return fs.SkipDir
			}
			return nil
		case e.Type != 0 && e.Path == "":
			return fmt.Errorf("%s is not a regular file", s.at.name())
		case e.Type != 0 || e.Path != "" && s.only != nil && !s.only.match(e.Path):
			return nil
		case found.full():
			stopped = true
			return fs.SkipAll
		}
		data, ok, err := e.Read(buf)
		if cap(data) > cap(buf) {
			buf = data
		}
		if err != nil && e.Path == "" {
			return err // the one file that was asked for
		}
		text, isText := searchable(data)
		if !ok || err != nil || !isText {
			if e.Path == "" {
				return fmt.Errorf("%s is not a text file of at most %d MiB", s.at.name(), workspace.MaxText>>20)
			}
			return nil
		}
		before := found.lines
		if bytes.Contains(text, []byte(prefix)) && !s.lines(ctx, e, text, &found) {
			stopped = true
		}
		if found.lines > before {
			files++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if stopped {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return Output{}, err
	}
	note := ""
	if stopped {
		note = fmt.Sprintf("stopped after %d matching lines in %d files; narrow the search", found.lines, files)
	}
	return Output{Text: found.text("(no line matches)", note, leftOut(left))}, nil
}

// lines adds the lines of one file that match, until ctx ends or the bound is reached: then it returns false.
func (s search) lines(ctx context.Context, e *workspace.Entry, text []byte, found *bounded) bool {
	name := ""
	n := 0
	for line := range bytes.Lines(text) {
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return false
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		at := s.re.FindIndex(line)
		if at == nil {
			continue
		}
		if found.full() {
			return false
		}
		if name == "" {
			name = printable(e.Shown())
		}
		found.add(fmt.Sprintf("%s:%d:%s", name, n, window(line, at[0])))
	}
	return true
}

// window is the part of a line that is shown: from its start, unless the match lies beyond what is shown then.
func window(line []byte, match int) string {
	if len(line) <= maxMatch {
		return string(line)
	}
	start, dots := 0, ""
	if match > maxMatch-beforeMatch {
		start, dots = match-beforeMatch, "…"
		for start < match && !utf8.RuneStart(line[start]) {
			start++
		}
	}
	return dots + shorten(string(line[start:min(len(line), start+maxMatch+utf8.UTFMax)]), maxMatch)
}

// searchable is the text of a file. One whose charset is not known is searched as it is: most of it will be ASCII.
func searchable(data []byte) ([]byte, bool) {
	if utf8.Valid(data) {
		return bytes.TrimPrefix(data, []byte("\ufeff")), bytes.IndexByte(data, 0) < 0
	}
	text, _, err := charset.Decode(data)
	switch err {
	case nil:
		return []byte(text), true
	case charset.ErrUnsure:
		return data, bytes.IndexByte(data, 0) < 0
	}
	return nil, false
}
