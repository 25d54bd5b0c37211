// Package command reads the slash commands of a session: the 20 that run here,
// without a model call, and the custom commands and skills that become prompts.
//
// It knows no wire and no session. What a local command shows or changes comes
// through Env, and what it prints is plain text. The files belong to the user
// and to whatever repository somebody opened: they are text for the model, never
// run here, read with bounds, and never outside the folder they were found in.
package command

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Entry is a command as it is advertised.
type Entry struct {
	Name        string // without the slash
	Description string // one line, never empty
	Hint        string // what may follow; "" = no argument
}

// Options says where Load looks. The zero value gives the local commands alone.
type Options struct {
	// Folders are in order of precedence: the project first, then the home.
	Folders []Folder
	// Logger gets one warning for each file that cannot be used, with path and
	// reason; nil discards them.
	Logger *slog.Logger
}

// Folder holds commands, skills and agents.
type Folder struct {
	Dir    string // "<project>/.reasonix" or the home; need not exist
	Origin string // "project" or "user", for lists
}

// Call is a command that a prompt calls.
type Call struct {
	Name  string // as in Entry
	Args  string // what follows the name, trimmed
	Input string // the whole text
	Local bool   // for Run; the others are for Expand
}

// Set holds the commands of a session. It is read-only after Load and safe for
// concurrent use. It keeps no text: files are read again when they are called.
type Set struct {
	folders []Folder
	prompts map[string]prompt // by name; none has the name of a local command
	skills  []Skill           // sorted by name, each name once
	agents  []Agent           // the same
}

// prompt is what a name that is not local stands for.
type prompt struct {
	entry Entry
	file  source
	skill string // the skill's folder; "" for a custom command
}

// validName is the form of a name; upper case is lowered first.
func validName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_:-") == ""
}

// Load reads the commands, skills and agents of each folder. It always succeeds:
// what cannot be used is logged and left out.
//
// For one name the order is: local, project command, user command, project
// skill, user skill.
func Load(o Options) *Set {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{prompts: map[string]prompt{}}
	var found []*folder
	for _, f := range o.Folders {
		if f.Dir == "" {
			continue
		}
		opened := openFolder(f, o.Logger)
		s.folders = append(s.folders, opened.Folder)
		found = append(found, opened)
	}
	for _, f := range found {
		s.add(f.commands(), f)
	}
	for _, f := range found {
		skills, prompts := f.skills()
		s.skills = append(s.skills, skills...)
		s.add(prompts, f)
		s.agents = append(s.agents, f.agents()...)
		f.close()
	}
	s.skills = firstOfEach(s.skills, func(k Skill) string { return k.Name })
	s.agents = firstOfEach(s.agents, func(a Agent) string { return a.Name })
	return s
}

// add takes what has no name of something that comes before it.
func (s *Set) add(prompts []prompt, f *folder) {
	for _, p := range prompts {
		if isLocal(p.entry.Name) {
			f.warn(p.file.rel, fmt.Errorf("/%s is built in and cannot be replaced; use another name", p.entry.Name))
			continue
		}
		if _, taken := s.prompts[p.entry.Name]; !taken {
			s.prompts[p.entry.Name] = p
		}
	}
}

// firstOfEach keeps the first of those with one name, sorted by name.
func firstOfEach[T any](list []T, name func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return name(a) == name(b) })
}

// Entries lists the local commands, custom commands and skills, sorted by name,
// each name once.
func (s *Set) Entries() []Entry {
	list := slices.Clone(locals)
	for _, p := range s.prompts {
		list = append(list, p.entry)
	}
	return firstOfEach(list, func(e Entry) string { return e.Name })
}

// Skills lists the skills, sorted by name. One may have the name of a command,
// which then hides it.
func (s *Set) Skills() []Skill { return slices.Clone(s.skills) }

// Agents lists the agent definitions, sorted by name.
func (s *Set) Agents() []Agent { return slices.Clone(s.agents) }

// Find reads the command that a prompt calls: a slash as the first character and
// a known name, in any case, up to white space or the end. Everything else, such
// as a path, is for the model.
func (s *Set) Find(text string) (Call, bool) {
	rest, slash := strings.CutPrefix(text, "/")
	if !slash {
		return Call{}, false
	}
	word, args := rest, ""
	if i := strings.IndexFunc(rest, isSpace); i >= 0 {
		word, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	name := lowerName(word)
	c := Call{Name: name, Args: args, Input: text, Local: isLocal(name)}
	_, known := s.prompts[name]
	return c, c.Local || known
}

// lowerName lowers ASCII alone: no other letter shall pass for one of a name.
func lowerName(word string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, word)
}
