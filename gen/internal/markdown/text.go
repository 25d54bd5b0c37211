package markdown

import (
	"fmt"
	"strings"
)

// none stands in a cell where there is nothing to say.
const none = "–"

// writer collects the text of a page.
type writer struct{ strings.Builder }

// p writes a paragraph, if there is anything in it.
func (w *writer) p(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); text != "" {
		w.WriteString(text + "\n\n")
	}
}

// heading writes a heading with an anchor of its own: the one that GitHub makes
// loses case and punctuation.
func (w *writer) heading(level int, anchor, text string) {
	w.p("%s %s%s", strings.Repeat("#", level), mark(anchor), text)
}

// mark is an anchor.
func mark(anchor string) string {
	if anchor == "" {
		return ""
	}
	return fmt.Sprintf("<a id=%q></a>", anchor)
}

// table writes rows below a head; cells are Markdown.
func (w *writer) table(head []string, rows [][]string) {
	row := func(cells []string) {
		w.WriteString("|")
		for _, c := range cells {
			w.WriteString(" " + cell(c) + " |")
		}
		w.WriteString("\n")
	}
	row(head)
	w.WriteString("|" + strings.Repeat(" --- |", len(head)) + "\n")
	for _, r := range rows {
		row(r)
	}
	w.WriteString("\n")
}

// items writes a list.
func (w *writer) items(list []string) {
	for _, l := range list {
		w.WriteString("- " + l + "\n")
	}
	w.WriteString("\n")
}

// fence writes a block of JSON.
func (w *writer) fence(text string) { w.p("```json\n%s\n```", text) }

// cell makes one line of a text in which no pipe ends the cell; GitHub reads \|
// as a pipe even in code.
func cell(md string) string {
	return strings.ReplaceAll(oneLine(md), "|", `\|`)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// prose turns a description into Markdown: code spans stay, and what would be
// markup outside of them does not.
func prose(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 { // an odd backtick: nothing is code
		return escape(text)
	}
	for i := range parts {
		if i%2 == 0 {
			parts[i] = escape(parts[i])
		}
	}
	return strings.Join(parts, "`")
}

var escape = strings.NewReplacer("<", "&lt;", "*", `\*`, "[", `\[`, "]", `\]`).Replace

func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

func link(text, to string) string {
	if to == "" {
		return text
	}
	return "[" + text + "](" + to + ")"
}

// list joins with commas and a last word: a, b and c.
func list(items []string, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " " + last + " " + items[len(items)-1]
}

// sentence is the first sentence of a text.
func sentence(text string) string {
	text = oneLine(text)
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '.' && text[i+1] == ' ' && strings.Count(text[:i], "`")%2 == 0 {
			return text[:i+1]
		}
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
