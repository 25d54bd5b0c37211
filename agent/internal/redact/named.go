package redact

import "strings"

// strength says how sure it is that what follows a name is a secret.
type strength int

const (
	none   strength = iota
	weak            // token, secret, credential: words of code and prose too, so the value has to look like a secret
	strong          // password, api key
	query           // key, sig: only as ?key=value
	header          // authorization, cookie: the whole rest of the line
	scheme          // bearer, basic: the next word
)

// suffixes are the ends of names, in lower case without hyphens and underscores.
var suffixes = []struct {
	text string
	is   strength
}{
	{"token", weak}, {"secret", weak}, {"credential", weak}, {"credentials", weak},
	{"password", strong}, {"passwd", strong}, {"passphrase", strong}, {"pwd", strong},
	{"apikey", strong}, {"secretkey", strong}, {"accesskey", strong}, {"authkey", strong}, {"encryptionkey", strong},
	{"signingkey", strong}, {"subscriptionkey", strong}, {"accountkey", strong}, {"sharedkey", strong}, {"masterkey", strong},
	{"authorization", header}, {"cookie", header},
}

// named finds the value that the name s[from:end] announces, and gives it when it is to be hidden, else 0, 0.
func named(s string, from, end int) (int, int) {
	name, is := nameOf(s, from, end)
	switch is {
	case none:
		return 0, 0
	case scheme:
		return bearer(s, from, end, name)
	}
	v, ok := valueOf(s, from, end)
	if !ok {
		if is == weak || is == strong {
			return loose(s, end, name, is)
		}
		return 0, 0
	}
	if is == header {
		return headerValue(s, from, v, name)
	}
	if is == query {
		if from == 0 || s[from-1] != '?' && s[from-1] != '&' && s[from-1] != ';' || v.spaced || v.quote != "" || v.sign != "=" {
			return 0, 0
		}
		is = strong
	}
	switch first := s[v.from]; {
	case strings.HasPrefix(s[v.from:], Mark):
		return 0, 0
	case strings.IndexByte("$%<{", first) >= 0: // a variable, a place holder, a template
		return 0, 0
	case v.quote != "" && strings.IndexByte(",:;}]) +", first) >= 0: // the quote closes a text that ends with the name
		return 0, 0
	}
	v.to = valueEnd(s, from, v)
	if v.from >= v.to || !secretValue(s, v, name, is, from) {
		return 0, 0
	}
	return v.from, v.to
}

// nameOf tells what the word at from names. Only its last 32 bytes are looked at.
func nameOf(s string, from, end int) (string, strength) {
	switch s[end-1] | 0x20 { // the last letters of all names there are, to pass over most words at once
	case 'n', 't', 'l', 's', 'd', 'e', 'y', 'r', 'c', 'h', 'g':
	default:
		return "", none
	}
	var buf [32]byte
	n := len(buf)
	for i := end - 1; i >= from && n > 0; i-- {
		if c := s[i]; c != '-' && c != '_' {
			n--
			buf[n] = c
			if c >= 'A' && c <= 'Z' {
				buf[n] = c | 0x20
			}
		}
	}
	name := buf[n:]
	switch string(name) {
	case "bearer", "basic":
		return string(name), scheme
	case "sig", "signature", "auth", "pass", "xamzsignature", "xamzcredential", "xgoogsignature", "xgoogcredential":
		return string(name), query
	case "key":
		if from >= 4 && (s[from-1] == ' ' || s[from-1] == '\t') { // API key, secret key
			for _, before := range [...]string{"api", "access", "secret"} {
				if i := from - 1 - len(before); i >= 0 && strings.EqualFold(s[i:from-1], before) {
					return "apikey", strong
				}
			}
		}
		return "key", query
	}
	for i := range suffixes {
		if f := &suffixes[i]; len(name) >= len(f.text) && string(name[len(name)-len(f.text):]) == f.text {
			return string(name), f.is
		}
	}
	return "", none
}

// value is what stands behind a name.
type value struct {
	from, to int
	sign     string // "=" or ":"
	spaced   bool   // there was white space around the sign
	quote    string // that the value stands in, with the backslashes before it
}

const maxSpaces = 16

// valueOf finds the sign behind a name, and the beginning of the value.
func valueOf(s string, from, end int) (v value, ok bool) {
	i := end
	if q := quoteAt(s, i); q != "" { // "name": …
		i += len(q)
	}
	if i < len(s) && s[i] == ']' { // env["NAME"] = …
		i++
	}
	j := spaces(s, i)
	v.spaced = j > i
	if i = j; i >= len(s) {
		return v, false
	}
	switch {
	case strings.HasPrefix(s[i:], "=="), strings.HasPrefix(s[i:], "::"):
		return v, false
	case strings.HasPrefix(s[i:], ":="), strings.HasPrefix(s[i:], "=>"):
		v.sign = s[i : i+2]
		i += 2
	case s[i] == '=' || s[i] == ':':
		v.sign = s[i : i+1]
		i++
	case strings.HasPrefix(s[i:], "%3D"), strings.HasPrefix(s[i:], "%3d"):
		v.sign = "="
		i += 3
	default:
		return v, false
	}
	j = spaces(s, i)
	v.spaced = v.spaced || j > i
	v.quote = quoteAt(s, j)
	v.from = j + len(v.quote)
	return v, v.from < len(s)
}

func spaces(s string, i int) int {
	for n := 0; n < maxSpaces && i < len(s) && (s[i] == ' ' || s[i] == '\t'); n++ {
		i++
	}
	return i
}

// quoteAt is the quote at i with the backslashes before it, "" when there is none.
func quoteAt(s string, i int) string {
	j := i
	for j < len(s) && j < i+8 && s[j] == '\\' {
		j++
	}
	if j < len(s) && (s[j] == '"' || s[j] == '\'' || s[j] == '`') {
		return s[i : j+1]
	}
	return ""
}

// valueEnd is the end of a value: the closing quote, or what cannot be part of one.
func valueEnd(s string, name int, v value) int {
	if v.quote != "" {
		sign, depth, back := v.quote[len(v.quote)-1], len(v.quote)-1, 0
		open := len(s) // without the closing quote: the end of the line, or of a text in other quotes around it
		for i := v.from; i < len(s); i++ {
			switch c := s[i]; {
			case c == '\\':
				back++
				continue
			case c == sign && depth == 0 && back%2 == 0:
				return i
			case c == sign && depth > 0 && back <= depth:
				return i - back
			case c == '\n':
				return min(open, i)
			case c == '"' && open == len(s):
				open = i - back
			}
			back = 0
		}
		return open
	}
	stops := " \t\r\n\"'`,;&()[]{}<>|\\"
	if v.sign == "=" && !v.spaced && variable(s, name) { // NAME=value in a file of variables
		stops = " \t\r\n\"'`"
	}
	if name > 0 && (s[name-1] == '?' || s[name-1] == '&') {
		stops += "#"
	}
	i := v.from
	for i < len(s) && strings.IndexByte(stops, s[i]) < 0 {
		i++
	}
	for i > v.from && strings.IndexByte(".:?!", s[i-1]) >= 0 && i-v.from > 1 { // the end of a sentence
		i--
	}
	return i
}

// variable reports whether the word at i is a name in capitals that begins a line, perhaps behind export.
func variable(s string, i int) bool {
	for j := i; j < len(s) && isWord(s[j]); j++ {
		if s[j] >= 'a' && s[j] <= 'z' {
			return false
		}
	}
	before := strings.TrimSuffix(s[max(i-16, 0):i], "export ")
	return i-len("export ") <= 0 && before == "" || before == "" || before[len(before)-1] == '\n'
}

// maxInnocent is how long a value may be that is no secret. It also keeps hostile text from being gone through again and again.
const maxInnocent = 1024

// secretValue decides about a value that has a name.
func secretValue(s string, v value, name string, is strength, at int) bool {
	text := s[v.from:v.to]
	if len(text) > maxInnocent {
		return true
	}
	if harmless(text) || sameName(text, name) {
		return false
	}
	if v.quote != "" {
		return true
	}
	if v.to < len(s) && s[v.to] == '(' || chain(text) { // a call, a member
		return false
	}
	if strings.Trim(text, "0123456789") == "" && (len(text) < 4 || is == weak && len(text) < 6) { // a count
		return false
	}
	headerLike := v.sign == ":" && strings.IndexByte(s[at:v.from], '-') >= 0
	switch {
	case strings.HasPrefix(v.sign, "=") && !v.spaced, headerLike:
		return true
	case is == strong && v.sign == ":":
		return len(text) >= 4
	case is == strong:
		return opaque(text) || strings.ContainsAny(text, "0123456789!@#$%^*+/=~?") && len(text) >= 6
	}
	return opaque(text)
}

// loose finds a secret that follows a name without a sign: "credential a8f3…", "API key provided: …".
func loose(s string, end int, name string, is strength) (int, int) {
	i := spaces(s, end)
	if i == end || i >= len(s) {
		return 0, 0
	}
	provided := false
	if to := wordEnd(s, i); strings.EqualFold(s[i:to], "provided") {
		provided = true
		if i = to; i < len(s) && s[i] == ':' {
			i++
		}
		i = spaces(s, i)
	}
	q := quoteAt(s, i)
	v := value{from: i + len(q), quote: q, spaced: true}
	if v.from >= len(s) || strings.HasPrefix(s[v.from:], Mark) {
		return 0, 0
	}
	v.to = valueEnd(s, v.from, v)
	if v.to-v.from < 6 {
		return 0, 0
	}
	text := s[v.from:v.to]
	if strings.ContainsAny(text[:1], "$%<{/.-=") || harmless(text) || chain(text) || !opaque(text) {
		return 0, 0
	}
	if !provided && !strings.HasPrefix(name, "credential") && (len(text) < 16 || is == weak && q != "") {
		return 0, 0
	}
	return v.from, v.to
}

// headerValue is the value of a header to the end of its line, or of the quotes around it. The scheme stays. The beginning of
// the value decides, so that each line is gone through once.
func headerValue(s string, from int, v value, name string) (int, int) {
	head := s[v.from:min(len(s), v.from+256)]
	if i := strings.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	if head == "" || strings.HasPrefix(head, Mark) || strings.IndexByte("$<{", head[0]) >= 0 {
		return 0, 0
	}
	first, rest, several := strings.Cut(head, " ")
	first = strings.TrimRight(first, ".,;\"'`\\")
	start := v.from
	switch {
	case strings.HasSuffix(name, "cookie"):
		if strings.IndexByte(head, '=') < 0 {
			return 0, 0
		}
	case isScheme(first):
		secret := strings.TrimLeft(rest, " ")
		if !several || secret == "" || strings.HasPrefix(secret, Mark) || strings.IndexByte("$<{", secret[0]) >= 0 {
			return 0, 0
		}
		start += len(head) - len(secret)
	case harmless(first):
		return 0, 0
	}
	end := headerEnd(s, from, v)
	if end <= start {
		return 0, 0
	}
	return start, end
}

func headerEnd(s string, from int, v value) int {
	if v.quote != "" {
		return valueEnd(s, from, v)
	}
	if from > 0 && strings.IndexByte("\"'`", s[from-1]) >= 0 { // 'Authorization: …'
		if i := strings.IndexByte(s[v.from:], s[from-1]); i >= 0 && strings.IndexByte(s[v.from:v.from+i], '\n') < 0 {
			end := v.from + i
			for end > v.from && s[end-1] == '\\' {
				end--
			}
			return end
		}
	}
	end := v.from
	for end < len(s) && s[end] != '\n' && s[end] != '\r' && !strings.HasPrefix(s[end:], `\n`) && !strings.HasPrefix(s[end:], `\r`) {
		end++
	}
	if end > v.from && (s[end-1] == '"' || s[end-1] == '\'') && strings.Count(s[v.from:end], s[end-1:end])%2 == 1 {
		end-- // it closes quotes that begin before the name
	}
	return end
}

func isScheme(s string) bool {
	switch strings.ToLower(s) {
	case "bearer", "basic", "token", "digest", "apikey", "negotiate", "ntlm", "aws4-hmac-sha256":
		return true
	}
	return false
}

// bearer is the word behind a scheme of authorization.
func bearer(s string, from, end int, name string) (int, int) {
	i := spaces(s, end)
	if i == end && strings.HasPrefix(s[i:], "%20") {
		i += 3
	}
	if i == end {
		return 0, 0
	}
	to := i
	for to < len(s) && (isWord(s[to]) || strings.IndexByte("-._~+/=*%", s[to]) >= 0) {
		to++
	}
	for to > i && s[to-1] == '.' {
		to--
	}
	text := s[i:to]
	switch {
	case name == "basic":
		if len(text) < 8 || strings.Trim(text, base64) != "" || !random(text[1:]) && !strings.HasSuffix(text, "=") {
			return 0, 0
		}
	case len(text) < 6 || harmless(text) || s[from] == 'b' && strings.Trim(text, lowers) == "" && len(text) < 16:
		return 0, 0
	}
	return i, to
}

const base64 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_"

// chain reports whether text is a name of code: letters with dots or underscores between them.
func chain(text string) bool {
	if len(text) > 64 || strings.IndexByte(text, '.') < 1 {
		return false
	}
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.Trim(strings.ToLower(part), lowers+"_") != "" {
			return false
		}
	}
	return true
}

// sameName reports whether a value is the name itself, as in token=token; name has no capitals, hyphens and underscores.
func sameName(text, name string) bool {
	if len(text) > 2*len(name) {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '-' || c == '_':
		case name == "" || c != name[0] && (!isLetter(c) || c|0x20 != name[0]):
			return false
		default:
			name = name[1:]
		}
	}
	return name == ""
}

// harmless lists what stands behind a name without being its secret: literals, types, and how sentences go on.
func harmless(s string) bool {
	if len(s) > 16 {
		return false
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "nil", "none", "undefined", "nan", "void", "yes", "no", "on", "off", "default", "auto", "self", "this",
		"string", "str", "text", "number", "int", "integer", "bool", "boolean", "bytes", "byte", "object", "any", "char", "float", "optional", "required", "type",
		"new", "await", "func", "function", "return", "const", "let", "var", "input", "value", "values", "redacted", "hidden", "omitted",
		"the", "a", "an", "is", "are", "was", "must", "should", "can", "could", "cannot", "may", "will", "has", "have", "had", "not", "and", "or", "of", "in", "to", "for", "with", "by", "from", "it", "you", "your", "please",
		"invalid", "incorrect", "missing", "wrong", "expired", "empty", "failed", "error", "denied", "refused", "revoked", "unknown", "valid", "ok", "set", "unset", "not-set", "too",
		"token", "tokens", "auth", "authentication", "authorization", "scheme", "header", "headers", "key", "keys", "credential", "credentials", "password", "secret", "api", "format", "prefix", "access", "user", "usage":
		return true
	}
	return strings.Trim(s, ".*-_xX•…") == ""
}
