package markdown

import "fmt"

const readingAnchor = "reading"

// entrance is the page that leads to all others.
func (s *site) entrance() *writer {
	w := &writer{}
	w.p("# Reference")
	w.p("Every message of the protocols in this project, made from the schemas in %s. Do not edit these pages: change the schema and run `make gen`.", list(s.folderCodes(), "and"))
	var items []string
	if len(s.methods) > 0 {
		items = append(items, fmt.Sprintf("[Methods](%s): %s by side, with gates and examples", methodsPage, plural(len(s.methods), "method", "methods")))
	}
	if len(s.rows) > 0 {
		items = append(items, fmt.Sprintf("[Errors and stop reasons](%s): %s, each with its source and the transcript that shows it", errorsPage, plural(len(s.rows), "case", "cases")))
	}
	if items != nil {
		w.items(items)
	}
	for _, b := range s.books {
		s.contents(w, b)
	}
	s.reading(w)
	return w
}

func (s *site) folderCodes() (all []string) {
	for _, b := range s.books {
		all = append(all, link(code(b.Folder), s.repo("README.md", b.Folder)))
	}
	return all
}

// contents lists the pages of one schema folder.
func (s *site) contents(w *writer, b *book) {
	w.heading(2, b.dir, b.title)
	if b.Origin != "" {
		w.p("%s", prose(b.Origin))
	}
	var items []string
	for _, t := range b.topics {
		text := prose(sentence(t.Description))
		if types := topicTypes(b, t.Name); types[0].Extends != nil {
			text = fmt.Sprintf("What %s adds to, or accepts beyond, %s.", b.title, s.refs("README.md", originals(types), 3))
		}
		item := link(t.Name, b.page(t.Name))
		if text != "" {
			item += ": " + text
		}
		items = append(items, item)
	}
	w.items(items)
}

// reading explains the tables once.
func (s *site) reading(w *writer) {
	w.heading(2, readingAnchor, "How to read the tables")
	w.p("A host is the program of the user, such as an editor; the schemas call it the client. Each definition says which way it travels: *host → agent*, *agent → host* or *both ways*.")
	w.table([]string{"Column", "What it says"}, [][]string{
		{"Required", "*yes*: the member must be there. If it is missing, the message does not fit: a request is answered `-32602`, with a JSON pointer to the place."},
		{"Null", "*no*: null is a bad value. *as absent*: null means the same as leaving the member out. *allowed*: null may stand in for a value. *clears it*: null removes what leaving it out would keep. *a value*: null is passed on like any other JSON value."},
		{"When absent", "What leaving it out means: a default, *unchanged* in an update, or *absent*, which the description explains. *error* for what is required."},
		{"Lenient", "What a reader does with something that does not fit, instead of refusing the whole message: *bad value counts as …* (null too), *null counts as …*, or *bad items are dropped* from an array. A dash: it refuses."},
	})
	w.p("Members that are not listed are allowed everywhere and are ignored. What is marked %s belongs to an extension: it is not in the protocol that is extended, and other peers neither send nor understand it.", ours)
	w.p("In the examples, names, paths and ids are made up. *All members* means all of the message itself, even where a real one would have only some of them; what is nested shows the members that it must have.")
}
