// Package redact takes secrets out of text that leaves the process: messages of errors, logs, output of tools. It finds what
// it was told literally and what looks like a secret: keys of known shape, values named token or password, credentials in
// URLs and headers, private keys. It works on text alone and knows no provider, no file format and no session; it cannot find
// a secret that looks like an ordinary word, and it prefers hiding an innocent value to showing a secret one.
package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// minLiteral is the length from which a literal secret is looked for: shorter ones would take ordinary text apart.
const minLiteral = 4

// Redactor finds secrets. The zero value knows no literal ones. Its methods may run at the same time.
type Redactor struct {
	literals []string // longest first
}

// New makes a Redactor that also hides these texts wherever they stand, also as they are written in JSON and in URLs. Those
// shorter than 4 bytes are ignored.
func New(literals ...string) *Redactor {
	r := &Redactor{}
	for _, s := range literals {
		for _, form := range forms(strings.TrimSpace(s)) {
			if len(form) >= minLiteral && !strings.Contains(Mark, form) && !slices.Contains(r.literals, form) {
				r.literals = append(r.literals, form)
			}
		}
	}
	slices.SortFunc(r.literals, func(a, b string) int { return len(b) - len(a) })
	return r
}

// forms are the ways in which a text is written.
func forms(s string) []string {
	quoted, _ := json.Marshal(s)
	return []string{s, strings.Trim(string(quoted), `"`), url.QueryEscape(s), url.PathEscape(s)}
}

// Text is s with Mark in the place of each secret; s itself when there is none. Redacting twice changes nothing more, and
// valid UTF-8 stays valid.
func (r *Redactor) Text(s string) string {
	for range 4 { // what is left beside a mark could look like a secret now; it hardly ever does
		spans := r.find(s)
		if len(spans) == 0 {
			break
		}
		s = replace(s, spans)
	}
	return s
}

// Clip redacts s and then cuts it to at most max bytes, at a character boundary and with … at the cut. Cutting first could
// leave the beginning of a secret.
func (r *Redactor) Clip(s string, max int) string {
	s = r.Text(s)
	if len(s) <= max {
		return s
	}
	const more = "…"
	end, mark := max-len(more), more
	if end < 0 {
		end, mark = max, ""
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// span is a secret: from its first byte to behind its last.
type span struct{ from, to int }

// find gives the secrets in order, not touching each other.
func (r *Redactor) find(s string) []span {
	spans := scan(s)
	for _, literal := range r.literals {
		for at := 0; ; {
			i := strings.Index(s[at:], literal)
			if i < 0 {
				break
			}
			spans = append(spans, span{at + i, at + i + len(literal)})
			at += i + 1 // occurrences may overlap
		}
	}
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	joined := spans[:1]
	for _, next := range spans[1:] {
		if last := &joined[len(joined)-1]; next.from <= last.to {
			last.to = max(last.to, next.to)
		} else {
			joined = append(joined, next)
		}
	}
	return joined
}

func replace(s string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, hit := range spans {
		b.WriteString(s[at:hit.from])
		b.WriteString(Mark)
		at = hit.to
	}
	b.WriteString(s[at:])
	return b.String()
}
