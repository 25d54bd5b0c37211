package fetch

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// metaCharset is the charset that an HTML page gives itself near its start, "" if it does not.
func metaCharset(body []byte) string {
	z := html.NewTokenizer(strings.NewReader(string(body[:min(len(body), 4096)])))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data != "meta" {
				continue
			}
			if c := attribute(t, "charset"); c != "" {
				return c
			}
			if _, c, found := strings.Cut(strings.ToLower(attribute(t, "content")), "charset="); found {
				return strings.Trim(c, `"' ;`)
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// page is the text of an HTML page as it grows.
type page struct {
	base    *url.URL
	b       strings.Builder
	title   strings.Builder
	hidden  string // the element whose content is passed over, "" for none
	depth   int    // of elements of that name in one another
	inTitle bool
	pre     int
	breaks  int    // line ends that must come before the next text
	marker  string // what the next text has in front, as an item
	space   bool   // a space must come before the next text
	link    string
	linkAt  int // where the text of the link begins
}

// readable turns HTML into text as a person reads it: a line per block, headings and items marked, links behind their
// text, without what is not shown. It is not strict about how elements are nested.
func readable(base *url.URL, source string) (title, text string) {
	p := page{base: base}
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			p.endLink()
			return strings.Join(strings.Fields(p.title.String()), " "), strings.TrimRight(p.b.String(), " \n")
		case html.TextToken:
			p.text(z.Token().Data)
		case html.StartTagToken:
			t := z.Token()
			if t.Data == "noscript" { // which is meant for us
				z.NextIsNotRawText()
			}
			p.open(t, false)
		case html.SelfClosingTagToken:
			p.open(z.Token(), true)
		case html.EndTagToken:
			p.close(z.Token().Data)
		}
	}
}

func (p *page) text(s string) {
	switch {
	case p.inTitle:
		p.title.WriteString(s)
	case p.hidden != "":
	case p.pre > 0:
		p.put(s)
	default:
		for i, word := range strings.Fields(s) {
			if i > 0 || strings.ContainsAny(s[:1], " \t\r\n\f") {
				p.space = true
			}
			p.put(word)
		}
		if s != "" && strings.ContainsAny(s[len(s)-1:], " \t\r\n\f") {
			p.space = true
		}
	}
}

// put writes text with the white space that is due before it.
func (p *page) put(s string) {
	if s == "" {
		return
	}
	switch {
	case p.b.Len() == 0:
	case p.breaks > 0:
		p.b.WriteString(strings.Repeat("\n", p.breaks))
	case p.space:
		p.b.WriteByte(' ')
	}
	p.b.WriteString(p.marker)
	p.marker = ""
	if p.link != "" && p.linkAt < 0 {
		p.linkAt = p.b.Len()
	}
	p.breaks, p.space = 0, false
	p.b.WriteString(s)
}

// line asks for at least n line ends before the next text.
func (p *page) line(n int) {
	if n == 0 {
		return
	}
	p.breaks = max(p.breaks, n)
	p.space = false
}

func (p *page) open(t html.Token, closed bool) {
	if p.hidden != "" {
		if t.Data == p.hidden && !closed {
			p.depth++
		}
		return
	}
	switch t.Data {
	case "script", "style", "template", "svg", "iframe", "canvas":
		if !closed {
			p.hidden, p.depth = t.Data, 1
		}
	case "title":
		p.inTitle = !closed
	case "base":
		if u, err := p.base.Parse(attribute(t, "href")); err == nil {
			p.base = u
		}
	case "br":
		p.line(p.breaks + 1)
		p.breaks = min(p.breaks, 2)
	case "hr":
		p.line(2)
		p.put("---")
		p.line(2)
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.line(2)
		p.marker = strings.Repeat("#", int(t.Data[1]-'0')) + " "
	case "li":
		p.line(1)
		p.marker = "- "
	case "td", "th":
		if p.breaks == 0 && p.b.Len() > 0 {
			p.put(" |")
			p.space = true
		}
	case "img":
		if alt := strings.TrimSpace(attribute(t, "alt")); alt != "" {
			p.put("[" + alt + "]")
		}
	case "a":
		p.endLink()
		if u, err := p.base.Parse(strings.TrimSpace(attribute(t, "href"))); err == nil && attribute(t, "href") != "" && (u.Scheme == "http" || u.Scheme == "https") && !strings.HasPrefix(attribute(t, "href"), "#") {
			p.link, p.linkAt = u.String(), -1
		}
	case "pre", "textarea":
		p.line(2)
		if !closed {
			p.pre++
		}
	default:
		p.line(blockBreaks(t.Data))
	}
}

func (p *page) close(name string) {
	if p.hidden != "" {
		if name == p.hidden {
			if p.depth--; p.depth == 0 {
				p.hidden = ""
			}
		}
		return
	}
	switch name {
	case "title":
		p.inTitle = false
	case "a":
		p.endLink()
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.line(2)
	case "li":
		p.line(1)
	case "pre", "textarea":
		p.pre = max(p.pre-1, 0)
		p.line(2)
	default:
		p.line(blockBreaks(name))
	}
}

// endLink writes where a link leads behind its text, unless the text says it or there is none.
func (p *page) endLink() {
	if p.link != "" && p.linkAt >= 0 && p.b.String()[p.linkAt:] != p.link {
		p.b.WriteString(" (" + p.link + ")")
	}
	p.link = ""
}

// blockBreaks are the line ends around an element: 2 for one that stands apart, 1 for one on lines of its own, 0 for one
// within a line.
func blockBreaks(name string) int {
	switch name {
	case "p", "table", "ul", "ol", "dl", "blockquote", "figure", "article", "section", "details", "form", "fieldset":
		return 2
	case "div", "tr", "dt", "dd", "header", "footer", "main", "nav", "aside", "address", "caption", "figcaption", "summary", "option", "body", "head", "html", "button", "legend":
		return 1
	}
	return 0
}
