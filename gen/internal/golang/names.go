package golang

import (
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
)

// Names is the one place where Go names are decided: the schema's word with
// Go initialisms, and the rare rename with its reason.
type Names struct {
	Initialisms map[string]string `json:"initialisms"`
	// Renames maps "Type" or "Type.member" to another Go name.
	Renames map[string]Rename `json:"renames"`
	used    map[string]bool
}

// Rename is an exception and why it is one.
type Rename struct {
	Go  string `json:"go"`
	Why string `json:"why"`
}

// ReadNames parses a names.json.
func ReadNames(data []byte) (*Names, error) {
	n := &Names{used: map[string]bool{}}
	if err := json.Unmarshal(data, n); err != nil {
		return nil, fmt.Errorf("names.json: %w", err)
	}
	for k, r := range n.Renames {
		if r.Go == "" || r.Why == "" {
			return nil, fmt.Errorf("names.json: rename of %s needs a go name and a why", k)
		}
	}
	return n, nil
}

// Unused lists the entries that no generated package has needed so far.
func (n *Names) Unused() []string {
	var un []string
	for _, k := range slices.Concat(slices.Sorted(maps.Keys(n.Initialisms)), slices.Sorted(maps.Keys(n.Renames))) {
		if !n.used[k] {
			un = append(un, k)
		}
	}
	return un
}

// word turns a schema word into a Go name: sessionId, session_id and
// session/id become SessionID.
func (n *Names) word(s string) string {
	var b strings.Builder
	for _, part := range split(s) {
		low := strings.ToLower(part)
		if up, ok := n.Initialisms[low]; ok {
			n.used[low] = true
			b.WriteString(up)
			continue
		}
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// of is word, unless a rename stands under key.
func (n *Names) of(key, word string) string {
	if r, ok := n.Renames[key]; ok {
		n.used[key] = true
		return r.Go
	}
	return n.word(word)
}

// split cuts at case changes, digits' ends and everything that is no letter
// or digit: "mcpServerHTTP2_x" gives mcp, Server, HTTP2, x.
func split(s string) []string {
	var parts []string
	rs := []rune(s)
	start := -1
	flush := func(i int) {
		if start >= 0 {
			parts = append(parts, string(rs[start:i]))
		}
		start = -1
	}
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			continue
		case start >= 0 && unicode.IsUpper(r) && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])):
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(rs))
	return parts
}

// reserved are the exported names that support and dispatch code declares.
var reserved = []string{"DecodeError", "Unknown", "Nullable", "Null", "Value", "Entry", "RawJSON", "Caller", "Agent", "Client",
	"AgentHandlers", "ClientHandlers", "Method", "Methods", "Protocol", "Version", "SourcePackage", "SourceVersion", "SourceFile", "SourceSHA256", "Contract", "ContractRow"}

// scope finds names that clash.
type scope struct {
	taken map[string]load.Pos
	// members: the names are those of a struct, which may be like a type's.
	members bool
	errs    *[]error
}

func (s scope) claim(name string, at load.Pos) string {
	switch old, clash := s.taken[name]; {
	case !token.IsIdentifier(name) || !token.IsExported(name):
		*s.errs = append(*s.errs, &load.Error{Pos: at, Msg: fmt.Sprintf("%q is no exported Go name", name), Mend: "add a rename to names.json"})
	case !s.members && slices.Contains(reserved, name):
		*s.errs = append(*s.errs, &load.Error{Pos: at, Msg: name + " is declared by every generated package", Mend: "add a rename to names.json"})
	case clash:
		*s.errs = append(*s.errs, &load.Error{Pos: at, Msg: fmt.Sprintf("the Go name %s is taken by %s", name, old), Mend: "add a rename to names.json"})
	}
	s.taken[name] = at
	return name
}

// goName is the Go name of a type, with its package when that is another one.
func (g *emitter) goName(t *model.Type) string {
	name := g.names.of(t.Name, t.Name)
	if g.foreign(t) {
		return g.imports[t.Pkg.Folder].Name + "." + name
	}
	return name
}

// foreign reports whether a type belongs to an imported package.
func (g *emitter) foreign(t *model.Type) bool { return t.Pkg != nil && t.Pkg != g.pkg }

// real looks through aliases.
func real(t *model.Type) *model.Type {
	for t.Kind == model.Alias {
		t = t.Target
	}
	return t
}

// fieldName is the Go name of a member.
func (g *emitter) fieldName(t *model.Type, f *model.Field) string {
	return g.names.of(t.Name+"."+f.Name, f.Name)
}
