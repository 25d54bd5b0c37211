// Package ignore says which files .gitignore files leave out, by the rules of Git. It reads no files and knows neither
// indexes nor Git's other lists of patterns.
package ignore

import (
	"slices"
	"strings"
)

// Rules are the .gitignore files that hold in one folder, from the inside out. A nil Rules ignores nothing.
type Rules struct {
	outer    *Rules
	dir      string // the folder of the file, "" or with a slash at the end
	patterns []pattern
}

type pattern struct {
	negated  bool
	foldered bool     // matches folders only
	names    []string // glob per name of the path; a single one when it matches at any depth
	anchored bool
}

// In gives the rules that hold in the folder dir and below, when its .gitignore has this text. Paths are relative to one
// common top, which is "", with slashes.
func (r *Rules) In(dir, text string) *Rules {
	inner := &Rules{outer: r, dir: dir}
	if dir != "" {
		inner.dir += "/"
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if p, ok := parse(line); ok {
			inner.patterns = append(inner.patterns, p)
		}
	}
	if len(inner.patterns) == 0 {
		return r
	}
	slices.Reverse(inner.patterns) // the last one that matches decides
	return inner
}

// Ignored reports whether a path is left out by itself. A path is also left out when a folder above it is, whatever the
// patterns say about the path: so do not walk into those.
func (r *Rules) Ignored(path string, isDir bool) bool {
	for ; r != nil; r = r.outer {
		below, ok := strings.CutPrefix(path, r.dir)
		if !ok {
			continue
		}
		for _, p := range r.patterns {
			if p.matches(below, isDir) {
				return !p.negated
			}
		}
	}
	return false
}

func parse(line string) (p pattern, ok bool) {
	line = trim(strings.TrimSuffix(line, "\r"))
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	}
	if rest, found := strings.CutSuffix(line, "/"); found {
		p.foldered, line = true, rest
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	p.names = strings.Split(line, "/")
	return p, line != ""
}

// trim takes spaces from the end, but not one behind a backslash.
func trim(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}

func (p pattern) matches(path string, isDir bool) bool {
	if p.foldered && !isDir {
		return false
	}
	if !p.anchored {
		return matchName(p.names[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	return matchNames(p.names, strings.Split(path, "/"))
}

// matchNames matches name by name; "**" stands for any number of names, at the end for at least one. Of several only the
// last one met ever needs to give way, which keeps this from growing exponentially.
func matchNames(globs, names []string) bool {
	backGlob, backName := -1, 0
	g, n := 0, 0
	for n < len(names) {
		switch {
		case g < len(globs) && globs[g] == "**":
			if g == len(globs)-1 {
				return true // at least one name is left
			}
			backGlob, backName = g, n
			g++
		case g < len(globs) && matchName(globs[g], names[n]):
			g++
			n++
		case backGlob >= 0:
			backName++
			g, n = backGlob+1, backName
		default:
			return false
		}
	}
	return g == len(globs)
}
