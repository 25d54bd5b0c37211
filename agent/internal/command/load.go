package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Skill is a folder with a SKILL.md.
type Skill struct {
	Name, Description string
	Origin            string // of its Folder
	Dir               string // where its files are
	file              source
}

// Text is what SKILL.md says, without its front matter.
func (k Skill) Text() (string, error) { return k.file.text() }

// Agent is a definition of an agent that can be delegated to.
type Agent struct {
	Name, Description string
	Model             string // a reference; "" = that of the session
	Origin            string // of its Folder
	file              source
}

// Path is where the definition stands.
func (a Agent) Path() string { return a.file.path() }

// Text is the agent's instructions, without their front matter.
func (a Agent) Text() (string, error) { return a.file.text() }

// Folders below a Folder.
const (
	commandsDir = "commands"
	skillsDir   = "skills"
	agentsDir   = "agents"
	skillFile   = "SKILL.md"
)

// Lengths of what is advertised, in characters.
const (
	maxDescription = 1024
	maxDefault     = 200 // of a description taken from the text
	maxHint        = 200
)

// commands reads commands/**/*.md; a/b.md is the command a:b.
func (f *folder) commands() []prompt {
	var list []prompt
	taken := map[string]string{}
	for _, rel := range f.tree(commandsDir) {
		below, _ := filepath.Rel(commandsDir, rel)
		stem, _ := markdown(below)
		name := lowerName(strings.ReplaceAll(filepath.ToSlash(stem), "/", ":"))
		d, ok := f.use(rel, name, taken)
		if !ok {
			continue
		}
		hint := oneLine(d.fields["argument-hint"], maxHint)
		if hint == "" && namesArguments(d.body) {
			hint = "[arguments]"
		}
		list = append(list, prompt{
			entry: Entry{Name: name, Description: d.description(), Hint: hint},
			file:  source{f.Dir, rel},
		})
	}
	return list
}

// skills reads skills/*/SKILL.md.
func (f *folder) skills() (skills []Skill, prompts []prompt) {
	var files []string
	for _, e := range f.list(skillsDir) {
		rel := filepath.Join(skillsDir, e.Name(), skillFile)
		if f.exists(rel) {
			files = append(files, rel)
		}
	}
	taken := map[string]string{}
	for _, rel := range f.bound(skillsDir, files) {
		dir := filepath.Dir(rel)
		d, name, ok := f.useNamed(rel, filepath.Base(dir), taken)
		if !ok {
			continue
		}
		k := Skill{
			Name: name, Description: d.description(), Origin: f.Origin,
			Dir: filepath.Join(f.Dir, dir), file: source{f.Dir, rel},
		}
		hint := oneLine(d.fields["argument-hint"], maxHint)
		if hint == "" {
			hint = "[task]"
		}
		skills = append(skills, k)
		prompts = append(prompts, prompt{
			entry: Entry{Name: name, Description: k.Description, Hint: hint},
			file:  k.file, skill: k.Dir,
		})
	}
	return skills, prompts
}

// agents reads agents/*.md.
func (f *folder) agents() []Agent {
	var files []string
	for _, e := range f.list(agentsDir) {
		if _, ok := markdown(e.Name()); ok {
			files = append(files, filepath.Join(agentsDir, e.Name()))
		}
	}
	var list []Agent
	taken := map[string]string{}
	for _, rel := range f.bound(agentsDir, files) {
		stem, _ := markdown(filepath.Base(rel))
		d, name, ok := f.useNamed(rel, stem, taken)
		if !ok {
			continue
		}
		list = append(list, Agent{
			Name: name, Description: d.description(), Model: oneLine(d.fields["model"], maxHint),
			Origin: f.Origin, file: source{f.Dir, rel},
		})
	}
	return list
}

// exists says whether there is something to read. What cannot be looked at is
// left to read, which says why.
func (f *folder) exists(rel string) bool {
	if f.root == nil {
		return false
	}
	_, err := os.Lstat(filepath.Join(f.real, rel))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// use reads a file for a name, and says why when it cannot be used.
func (f *folder) use(rel, name string, taken map[string]string) (document, bool) {
	d, err := f.read(rel)
	if err == nil {
		err = f.claim(rel, name, taken)
	}
	if err != nil {
		f.warn(rel, err)
		return document{}, false
	}
	if d.flaw != nil {
		f.note(rel, d.flaw)
	}
	return d, true
}

// useNamed is use for files whose front matter may hold the name.
func (f *folder) useNamed(rel, base string, taken map[string]string) (document, string, bool) {
	d, err := f.read(rel)
	name := lowerName(base)
	if err == nil {
		if own := oneLine(d.fields["name"], maxHint); own != "" {
			name = lowerName(own)
		}
		err = f.claim(rel, name, taken)
	}
	if err != nil {
		f.warn(rel, err)
		return document{}, "", false
	}
	if d.flaw != nil {
		f.note(rel, d.flaw)
	}
	return d, name, true
}

// claim checks a name and that no file of the same folder has it. taken maps
// names to files.
func (f *folder) claim(rel, name string, taken map[string]string) error {
	if !validName(name) {
		return fmt.Errorf("%q is not a name; use letters a-z, digits, _ and -", name)
	}
	if other, ok := taken[name]; ok {
		return fmt.Errorf("has the same name as %s; rename one", filepath.Join(f.Dir, other))
	}
	taken[name] = rel
	return nil
}
