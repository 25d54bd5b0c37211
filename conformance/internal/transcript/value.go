package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// value is one JSON value. Members keep the order of the wire, scalars and member names keep their token as it was spelled;
// encoding/json into maps would lose both, and both are part of what a transcript shows.
type value struct {
	kind byte     // '{', '[', '"', or '0' for a number, true, false, null
	raw  string   // the token of a scalar, quotes included
	kids []member // members of an object, items of an array
}

// member is one member of an object, or one item of an array (then name is empty).
type member struct {
	name  string // the name's token, quotes included
	value value
}

// parseValue reads exactly one JSON value, white space around it allowed.
// It fails with the error of encoding/json, so also beyond 10,000 levels; that bounds the recursion below.
func parseValue(src []byte) (value, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, src); err != nil {
		return value{}, err
	}
	p := parser{s: compact.String()}
	return p.value(), nil
}

// parser walks compact JSON that is known to be valid; it checks nothing again.
type parser struct {
	s string
	i int
}

func (p *parser) value() value {
	switch c := p.s[p.i]; c {
	case '{', '[':
		v := value{kind: c}
		p.i++
		for p.s[p.i] != c+2 { // '}' is '{'+2 and ']' is '['+2
			var m member
			if c == '{' {
				m.name = p.str()
				p.i++ // the colon
			}
			m.value = p.value()
			v.kids = append(v.kids, m)
			if p.s[p.i] == ',' {
				p.i++
			}
		}
		p.i++
		return v
	case '"':
		return value{kind: '"', raw: p.str()}
	default:
		start := p.i
		for p.i < len(p.s) && !strings.ContainsRune(",]}", rune(p.s[p.i])) {
			p.i++
		}
		return value{kind: '0', raw: p.s[start:p.i]}
	}
}

// str returns the string token that starts here.
func (p *parser) str() string {
	start := p.i
	for p.i++; p.s[p.i] != '"'; p.i++ {
		if p.s[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	return p.s[start:p.i]
}

// get returns the member with that name; of several the last, as encoding/json does. It is nil when there is none, and when
// v is nil or no object, so that a path can be followed without checks.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.kids) - 1; i >= 0; i-- {
		if v.kind == '{' && unquote(v.kids[i].name) == name {
			return &v.kids[i].value
		}
	}
	return nil
}

// text returns the string that v holds; ok is false when v is nil or no string.
func (v *value) text() (s string, ok bool) {
	if v == nil || v.kind != '"' {
		return "", false
	}
	return unquote(v.raw), true
}

// token returns the spelling of a scalar, "" when v is nil or no scalar.
func (v *value) token() string {
	if v == nil {
		return ""
	}
	return v.raw
}

// walk visits v and everything below it in wire order. Parent is the name of the member that holds the enclosing object,
// name the name of the member itself; items of an array have no name of their own. When visit returns false, what is below
// is left out.
func (v *value) walk(parent, name string, visit func(parent, name string, v *value) bool) {
	if !visit(parent, name, v) {
		return
	}
	for i := range v.kids {
		k := &v.kids[i]
		k.value.walk(name, unquote(k.name), visit)
	}
}

// String is v as compact JSON.
func (v *value) String() string {
	var b strings.Builder
	v.print(&b, "", "", rewrite{})
	return b.String()
}

// rewrite decides how values are printed. Both functions may be nil.
type rewrite struct {
	whole func(name string) (token string, ok bool) // replaces the value of a member, whatever its type
	str   func(parent, name, s string) string       // replaces strings; member names come with an empty name
}

// print appends v without white space.
func (v *value) print(b *strings.Builder, parent, name string, rw rewrite) {
	if rw.whole != nil && name != "" {
		if token, ok := rw.whole(name); ok {
			b.WriteString(token)
			return
		}
	}
	switch v.kind {
	case '{', '[':
		b.WriteByte(v.kind)
		for i := range v.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			k := &v.kids[i]
			if v.kind == '{' {
				b.WriteString(rw.token("", "", k.name))
				b.WriteByte(':')
			}
			k.value.print(b, name, unquote(k.name), rw)
		}
		b.WriteByte(v.kind + 2)
	case '"':
		b.WriteString(rw.token(parent, name, v.raw))
	default:
		b.WriteString(v.raw)
	}
}

// token returns the string token raw, spelled anew only if str changes what it says.
func (rw rewrite) token(parent, name, raw string) string {
	if rw.str == nil || lossy(raw) {
		return raw
	}
	s := unquote(raw)
	if t := rw.str(parent, name, s); t != s {
		return quote(t)
	}
	return raw
}

// lossy reports whether a string token holds something that no Go string can: half of a surrogate pair. Such a token must
// be shown as it was, or the fault of the agent would vanish in the transcript.
func lossy(raw string) bool {
	return strings.Contains(raw, `\u`) && strings.ContainsRune(unquote(raw), utf8.RuneError)
}

// unquote returns what a valid string token says; "" for the missing name of an array item.
func unquote(raw string) string {
	if len(raw) < 2 {
		return ""
	}
	if !strings.Contains(raw, `\`) {
		return raw[1 : len(raw)-1]
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		panic("transcript: token that passed json.Compact: " + err.Error())
	}
	return s
}

// quote spells s as a JSON string, with <, > and & left readable.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("transcript: encode a string: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
