package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
)

// topicTypes are the definitions of a page, each followed by what its union
// spells out inline.
func topicTypes(b *book, topic string) (types []*model.Type) {
	inline := map[*model.Type]bool{}
	for _, t := range b.Types {
		for _, o := range inlineOf(t) {
			inline[o] = true
		}
	}
	for _, t := range b.Types {
		if t.Topic == topic && !inline[t] {
			types = append(append(types, t), inlineOf(t)...)
		}
	}
	return types
}

func inlineOf(t *model.Type) (types []*model.Type) {
	if t.Union != nil && t.Extends == nil { // a copy's branches are documented where they come from
		for _, br := range t.Union.Branches {
			if br.Inline {
				types = append(types, br.Type)
			}
		}
	}
	return types
}

func (s *site) topicPage(b *book, topic load.Topic) *writer {
	w := &writer{}
	page, types := b.page(topic.Name), topicTypes(b, topic.Name)
	title := topic.Title
	if title == "" {
		title = b.title + ": " + topic.Name
	}
	if !slices.ContainsFunc(types, func(t *model.Type) bool { return t.Extends == nil }) {
		title = fmt.Sprintf("%s on %s", b.title, title)
		w.p("# %s", prose(title))
		w.p("What %s accepts or adds beyond %s. Everything else is as it stands [there](%s).", b.title, s.titleOf(types[0].Extends.Pkg), s.pageOf(page, types[0].Extends))
	} else {
		w.p("# %s", prose(title))
		w.p("%s", prose(topic.Description))
	}
	w.items(s.overview(page, topic, types))
	for _, t := range types {
		s.definition(w, page, t)
	}
	return w
}

// overview lists what stands on the page: messages, other definitions, where
// they come from, and how to read them.
func (s *site) overview(page string, topic load.Topic, types []*model.Type) (items []string) {
	var messages, others []string
	for _, t := range types {
		l := link(s.title(t), "#"+t.Name)
		if _, ok := s.messages[t]; ok {
			messages = append(messages, l)
		} else {
			others = append(others, l)
		}
	}
	if len(messages) > 0 {
		items = append(items, "Messages: "+strings.Join(messages, " · "))
	}
	if len(others) > 0 {
		items = append(items, "Parts: "+strings.Join(others, " · "))
	}
	file := topic.Pos.File
	if types[0].Extends != nil {
		file = types[0].Pkg.Folder + "/extends.json"
	}
	if to := s.repo(page, file); to != "" {
		items = append(items, fmt.Sprintf("Schema: [`%s`](%s)", file, to))
	}
	return append(items, fmt.Sprintf("[How to read the tables](%s)", relative(page, "README.md#"+readingAnchor)))
}

// title is the name of a definition, as people read it.
func (s *site) title(t *model.Type) string {
	o := s.owner[nameOf(t)]
	if o == nil {
		return t.Name
	}
	return o.Name + " with " + code(strings.TrimPrefix(t.Name, o.Name+"_"))
}

func (s *site) titleOf(p *model.Package) string {
	if b := s.byFolder[p.Folder]; b != nil {
		return b.title
	}
	return code(p.Folder)
}

// pageOf is the link to the page that a definition stands on, "" when it stands
// on none.
func (s *site) pageOf(from string, t *model.Type) string {
	b := s.byFolder[t.Pkg.Folder]
	if b == nil {
		return ""
	}
	return relative(from, b.page(t.Topic))
}

// ref is a link to a definition.
func (s *site) ref(from string, t *model.Type) string {
	page, text := s.pageOf(from, t), t.Name
	if s.owner[nameOf(t)] == nil {
		text = code(text)
	} else {
		text = s.title(t)
	}
	if page == "" {
		return text
	}
	if b := s.byFolder[t.Pkg.Folder]; b.page(t.Topic) == from {
		page = ""
	}
	return link(text, page+"#"+t.Name)
}

// definition writes all there is to say about one definition.
func (s *site) definition(w *writer, page string, t *model.Type) {
	w.heading(2, t.Name, s.title(t))
	doc := t.Doc
	if t.Extends != nil {
		doc = t.Extends.Doc
	}
	w.p("%s", prose(oneLine(doc)))
	for _, line := range s.context(page, t) {
		w.p("%s", line)
	}
	switch t.Kind {
	case model.Object:
		s.members(w, page, t)
	case model.Enum:
		enumTable(w, t.Enum)
	case model.Scalar:
		w.p("Type: %s.", baseText(t.Scalar))
	case model.Raw:
		w.p("Type: any JSON value.")
	case model.Alias:
		w.p("The same as %s.", s.ref(page, t.Target))
	}
	if t.Union != nil {
		s.union(w, page, t)
	}
	s.examples(w, t)
}

// context says where a definition is used and what extends it.
func (s *site) context(page string, t *model.Type) (lines []string) {
	if u, ok := s.messages[t]; ok {
		lines = append(lines, s.messageLine(page, u))
	} else if d := s.travels[nameOf(t)]; d != 0 {
		lines = append(lines, "Direction: "+d.String()+".")
	}
	if o := s.owner[nameOf(t)]; o != nil {
		lines = appendTo(lines, "These members stand beside those of "+s.ref(page, o)+".")
	} else if users := s.holders[nameOf(t)]; len(users) > 0 && t.Extends == nil {
		lines = appendTo(lines, "Part of: "+s.refs(page, users, 8)+".")
	}
	if t.Extends != nil {
		lines = append(lines, s.extension(page, t))
	}
	for _, c := range s.copies[nameOf(t)] {
		lines = append(lines, fmt.Sprintf("**%s** accepts or adds more: %s.", s.titleOf(c.Pkg), link(s.changes(c), s.pageOf(page, c)+"#"+c.Name)))
	}
	return lines
}

// appendTo adds a sentence to the last line, if there is one.
func appendTo(lines []string, text string) []string {
	if len(lines) == 0 {
		return []string{text}
	}
	lines[len(lines)-1] += " " + text
	return lines
}

// messageLine: what the message is for and who sends it.
func (s *site) messageLine(page string, u use) string {
	what, kind := "Params", "a "+u.method.Kind
	params, result := directions(u.method)
	d := params
	if u.method.AlsoRequest {
		kind += " that is also answered as a request (" + ours + ")"
	}
	if u.result {
		what, kind, d = "Result", "a request", result
	}
	return fmt.Sprintf("%s of [`%s`](%s), %s. Direction: %s.", what, u.method.Name, relative(page, methodsPage+"#"+u.method.Key), kind, d)
}

// refs links at most n definitions.
func (s *site) refs(page string, types []*model.Type, n int) string {
	var links []string
	for i, t := range types {
		if i == n {
			links = append(links, fmt.Sprintf("%d more", len(types)-n))
			break
		}
		links = append(links, s.ref(page, t))
	}
	return list(links, "and")
}

// originals are what the copies among types extend.
func originals(types []*model.Type) (all []*model.Type) {
	for _, t := range types {
		if t.Extends != nil {
			all = append(all, t.Extends)
		}
	}
	return all
}
