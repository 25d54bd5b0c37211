package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// editConfig returns the document's text with the provider added or replaced
// and default_model set where needed. It edits text rather than writing the
// parsed document back, because comments and the order of things are the user's.
// The result is parsed again and compared before anybody may write it.
func editConfig(doc *document, p NewProvider, makeDefault bool) (string, error) {
	e := &edits{doc: doc, newline: newlineOf(doc.text)}
	if old, _ := doc.root["default_model"].(string); makeDefault || old == "" {
		e.setDefaultModel(p.ref())
	}
	if err := e.setProvider(p); err != nil {
		return "", err
	}
	text := e.apply()
	if err := verify(doc, text, p); err != nil {
		return "", err
	}
	return text, nil
}

// edits collects replacements of byte ranges of one document.
type edits struct {
	doc     *document
	newline string
	list    []edit
}

type edit struct {
	start, end int
	text       string
}

func (e *edits) replace(start, end int, text string) {
	e.list = append(e.list, edit{start, end, text})
}

// apply joins the kept and the new text. Insertions at one place keep the order
// in which they were made.
func (e *edits) apply() string {
	slices.SortStableFunc(e.list, func(a, b edit) int {
		// An insertion goes before a replacement that begins at the same place.
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(min(a.end-a.start, 1), min(b.end-b.start, 1)))
	})
	var b strings.Builder
	pos := 0
	for _, ed := range e.list {
		b.WriteString(e.doc.text[pos:ed.start])
		b.WriteString(ed.text)
		pos = ed.end
	}
	b.WriteString(e.doc.text[pos:])
	return b.String()
}

// insertAfter adds lines below the line on which the statement ends.
func (e *edits) insertAfter(st statement, lines string) {
	at := e.lineEnd(st.end)
	if at > 0 && e.doc.text[at-1] != '\n' { // the file's last line is not closed
		lines = e.newline + strings.TrimSuffix(lines, e.newline)
	}
	e.replace(at, at, lines)
}

// lineEnd is the offset behind the newline of the line that pos is on.
func (e *edits) lineEnd(pos int) int {
	if n := strings.IndexByte(e.doc.text[pos:], '\n'); n >= 0 {
		return pos + n + 1
	}
	return len(e.doc.text)
}

func (e *edits) lineStart(pos int) int { return strings.LastIndexByte(e.doc.text[:pos], '\n') + 1 }

// setDefaultModel changes the value in place, or adds the key below the last
// key that stands before any table, or else at the top.
func (e *edits) setDefaultModel(ref string) {
	var last *statement
	for _, st := range e.doc.layout.statements {
		if st.kind != pairStatement {
			break
		}
		if slices.Equal(st.key, []string{"default_model"}) {
			e.replace(st.value, st.end, tomlValue(ref))
			return
		}
		last = &st
	}
	line := "default_model = " + tomlValue(ref) + e.newline
	if last != nil {
		e.insertAfter(*last, line)
		return
	}
	top := len(e.doc.text) - len(strings.TrimPrefix(e.doc.text, "\ufeff"))
	if e.doc.text[top:] != "" {
		line += e.newline
	}
	e.replace(top, top, line)
}

func (e *edits) setProvider(p NewProvider) error {
	at := field{doc: e.doc}.child("providers", e.doc.root["providers"])
	var tables []map[string]any
	switch v := at.value.(type) {
	case nil:
	case []map[string]any:
		tables = v
	case []any:
		return at.fail("is written as an inline list, which cannot be edited",
			"write each provider as a [[providers]] table, or add the new one by hand")
	default:
		_, err := at.elements()
		return err
	}
	i := slices.IndexFunc(tables, func(t map[string]any) bool { return t["name"] == p.Name })
	if i < 0 {
		e.appendProvider(p)
		return nil
	}
	block := e.block(i)
	if old, _ := tables[i]["base_url"].(string); sameEndpoint(old, p.BaseURL) {
		e.updateBlock(block, p)
		return nil
	}
	e.replace(block[0].start, block[len(block)-1].end, strings.TrimSuffix(p.block(e.newline), e.newline))
	return nil
}

// appendProvider adds a block at the end of the file, an empty line before it.
func (e *edits) appendProvider(p NewProvider) {
	end := len(e.doc.text)
	text := p.block(e.newline)
	body := strings.TrimPrefix(e.doc.text, "\ufeff")
	if body != "" {
		text = e.newline + text
	}
	if body != "" && !strings.HasSuffix(body, "\n") {
		text = e.newline + text
	}
	if body == "" && len(e.list) > 0 { // below the new default_model
		text = e.newline + text
	}
	e.replace(end, end, text)
}

// block is the header of the i-th provider and all statements that belong to it,
// sub-tables included. Comments below the last of them belong to what follows.
func (e *edits) block(i int) []statement {
	all := e.doc.layout.statements
	header := pathKey("providers", elementSegment(i))
	start := slices.IndexFunc(all, func(st statement) bool { return st.kind == elementStatement && st.path == header })
	end := start + 1
	for end < len(all) && strings.HasPrefix(all[end].path, header+"\x00") {
		end++
	}
	return all[start:end]
}

// updateBlock changes the keys that NewProvider has and leaves the others, such
// as headers and what other programs read.
func (e *edits) updateBlock(block []statement, p NewProvider) {
	own := map[string]statement{}
	for _, st := range block[1:] {
		if st.kind != pairStatement {
			break // a sub-table
		}
		own[st.key[0]] = st
	}
	below := own["name"]
	indent := e.doc.text[e.lineStart(below.start):below.start]
	var added strings.Builder
	for _, kv := range p.pairs() {
		st, exists := own[kv.key]
		switch {
		case exists && kv.value != "":
			e.replace(st.value, st.end, kv.value)
		case exists:
			e.replace(e.lineStart(st.start), e.lineEnd(st.end), "")
		case kv.value != "":
			added.WriteString(indent + kv.key + " = " + kv.value + e.newline)
		}
	}
	if added.Len() > 0 {
		e.insertAfter(below, added.String())
	}
}

// pair is one key; an empty value means that the key is absent.
type pair struct{ key, value string }

func (p NewProvider) pairs() []pair {
	optional := func(s string) string {
		if s == "" {
			return ""
		}
		return tomlValue(s)
	}
	models := ""
	if len(p.Models) > 0 {
		models = tomlValue(p.Models)
	}
	return []pair{
		{"name", tomlValue(p.Name)}, {"kind", tomlValue(p.Kind)}, {"base_url", tomlValue(p.BaseURL)},
		{"models", models}, {"default", optional(p.Default)}, {"api_key_env", optional(p.APIKeyEnv)},
	}
}

func (p NewProvider) block(newline string) string {
	var b strings.Builder
	b.WriteString("[[providers]]" + newline)
	for _, kv := range p.pairs() {
		if kv.value != "" {
			b.WriteString(kv.key + " = " + kv.value + newline)
		}
	}
	return b.String()
}

// tomlValue quotes as the library does: strings on one line, controls escaped.
func tomlValue(v any) string {
	out, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		panic("config: " + err.Error()) // strings and lists of strings only
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(out), "v = "), "\n")
}

// verify parses the edited text, compares the provider with p and everything
// but it and default_model with what was there before.
func verify(doc *document, text string, p NewProvider) error {
	refuse := func(format string, args ...any) error {
		return &FileError{
			File: doc.file, Message: "cannot be edited safely: " + fmt.Sprintf(format, args...),
			Mend: fmt.Sprintf("write the provider %q by hand", p.Name),
		}
	}
	if len(text) > maxFile {
		return refuse("it would be larger than %d bytes", maxFile)
	}
	edited, err := parseDocument(doc.file, text)
	if err != nil {
		return refuse("the result would not be TOML")
	}
	if rest(edited.root, p.Name) != rest(doc.root, p.Name) {
		return refuse("other parts would change")
	}
	l, err := decodeLayer(edited)
	if err != nil {
		// A mistake elsewhere in the file, if possible with its line on disk.
		if _, old := decodeLayer(doc); old != nil {
			return old
		}
		return err
	}
	for _, got := range l.providers {
		if got.Name == p.Name && got.BaseURL == p.BaseURL && slices.Equal(got.Models, p.Models) &&
			got.Default == p.Default && got.APIKeyEnv == p.APIKeyEnv {
			return nil
		}
	}
	return refuse("provider %q would come out differently", p.Name)
}

// rest is a comparable picture of a document without what an edit may change.
// %#v sorts maps and, unlike reflect.DeepEqual, finds NaN equal to itself.
func rest(root map[string]any, name string) string {
	root = maps.Clone(root)
	delete(root, "default_model")
	tables, _ := root["providers"].([]map[string]any)
	tables = slices.DeleteFunc(slices.Clone(tables), func(t map[string]any) bool { return t["name"] == name })
	if root["providers"] = tables; len(tables) == 0 {
		delete(root, "providers")
	}
	return fmt.Sprintf("%#v", root)
}
