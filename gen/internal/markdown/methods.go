package markdown

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// sides are the parts of the method index.
var sides = []struct{ side, title, text string }{
	{"agent", "Agent methods", "The host calls, the agent handles."},
	{"client", "Client methods", "The agent calls, the host handles."},
	{"protocol", "Methods of both sides", "Either side may send these."},
}

func (s *site) methodIndex() *writer {
	w := &writer{}
	w.p("# Methods")
	w.p("Every method of %s, by the side that handles it. The name of an anchor is the method's key, which also names its handler and its transcripts. *Gate* is what must have been advertised before the method may be used; *since* is the release that brought it.", list(s.titles(), "and"))
	for _, side := range sides {
		methods := s.methodsOf(side.side)
		if len(methods) == 0 {
			continue
		}
		w.heading(2, side.side, side.title)
		w.p("%s", side.text)
		var rows [][]string
		for _, m := range methods {
			rows = append(rows, []string{link(code(m.Name), "#"+m.Key), m.Kind, s.titleOf(m.Pkg), gate(m), cmp.Or(prose(m.Since), none), prose(m.Summary)})
		}
		w.table([]string{"Method", "Kind", "From", "Gate", "Since", "Summary"}, rows)
	}
	w.heading(2, "all", "Every method")
	w.p("Examples have the members that are required; the pages of the messages show all members.")
	for _, m := range s.methods {
		s.method(w, m)
	}
	return w
}

func (s *site) titles() (all []string) {
	seen := map[string]bool{}
	for _, m := range s.methods {
		if t := s.titleOf(m.Pkg); !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	return all
}

func (s *site) methodsOf(side string) (all []model.Method) {
	for _, m := range s.methods {
		if m.Side == side {
			all = append(all, m)
		}
	}
	return all
}

// method writes the section of one method.
func (s *site) method(w *writer, m model.Method) {
	w.heading(3, m.Key, code(m.Name))
	w.p("%s", prose(m.Summary))
	in, out := directions(m)
	items := []string{fmt.Sprintf("%s of %s, %s", strings.ToUpper(m.Kind[:1])+m.Kind[1:], s.titleOf(m.Pkg), in)}
	if s.alsoRequest(m) != "" {
		items = append(items, "Also answered as a request: "+s.alsoRequest(m))
	}
	items = append(items, "Params: "+s.messageRef(m.Params))
	if m.Result != nil {
		items = append(items, fmt.Sprintf("Result: %s, %s", s.messageRef(m.Result), out))
	}
	if m.Gate != "" {
		items = append(items, "Gate: "+gate(m))
	}
	if m.Since != "" {
		items = append(items, "Since: "+prose(m.Since))
	}
	if n := len(s.rowsOf(m.Name)); n > 0 {
		items = append(items, fmt.Sprintf("Errors and stop reasons: [%s](%s#%s)", plural(n, "case", "cases"), errorsPage, m.Key))
	}
	w.items(items)
	b := &builder{}
	w.fence(request(m, b.object(m.Params, 0)).String())
	if m.Result != nil {
		w.fence(response(b.object(m.Result, 0)).String())
	}
}

// messageRef links a message and its extended copies.
func (s *site) messageRef(t *model.Type) string {
	text := s.ref(methodsPage, t)
	for _, c := range s.copies[nameOf(t)] {
		text += ", " + link("extended by "+s.titleOf(c.Pkg), s.pageOf(methodsPage, c)+"#"+c.Name)
	}
	return text
}

// alsoRequest names the folders that answer the notification when it comes as a
// request.
func (s *site) alsoRequest(m model.Method) string {
	var names []string
	for _, b := range s.books {
		for _, o := range b.Methods {
			if o.Name == m.Name && o.AlsoRequest {
				names = append(names, b.title)
			}
		}
	}
	if names == nil {
		return ""
	}
	return "by " + list(names, "and") + ", with the empty result `{}`"
}

var path2member = regexp.MustCompile(`\S*\.\S*\w\S*`)

// gate is what must have been advertised; a path to a capability is code even
// where the method table does not say so.
func gate(m model.Method) string {
	if m.Gate == "" {
		return none
	}
	if strings.Contains(m.Gate, "`") {
		return prose(m.Gate)
	}
	return path2member.ReplaceAllStringFunc(m.Gate, code)
}
