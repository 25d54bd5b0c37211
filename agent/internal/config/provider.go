package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// envName is what a variable may be called, here and in .env:
// ^[A-Za-z_][A-Za-z0-9_]*$.
func envName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if digit := c >= '0' && c <= '9'; !letter && (i == 0 || !digit) {
			return false
		}
	}
	return s != ""
}

// ownedHeaders are set by the provider client; a configured one would replace
// the key or break the request.
var ownedHeaders = []string{"authorization", "content-type", "accept", "host"}

// readProvider reads one [[providers]] table.
func (l *layer) readProvider(f field) (Provider, error) {
	p := Provider{Kind: KindOpenAI, Source: l.file, line: f.line}
	var dflt *field // checked against models, whichever comes first
	err := f.each(fields{
		"name":              func(f field) (err error) { p.Name, err = readName(f); return err },
		"kind":              func(f field) (err error) { p.Kind, err = l.readKind(f); return err },
		"base_url":          func(f field) (err error) { p.BaseURL, err = readBaseURL(f); return err },
		"models":            func(f field) (err error) { p.Models, err = readModels(f); return err },
		"default":           func(f field) (err error) { p.Default, err = readDefault(f); dflt = &f; return err },
		"api_key_env":       func(f field) (err error) { p.APIKeyEnv, err = readEnvName(f); return err },
		"context_window":    func(f field) (err error) { p.Window, err = f.count32(); return err },
		"max_output_tokens": func(f field) (err error) { p.MaxOutput, err = f.count32(); return err },
		"idle_seconds":      func(f field) error { return readIdle(f, &p.Idle) },
		"extra_body":        func(f field) (err error) { p.ExtraBody, err = l.readExtraBody(f); return err },
		"efforts":           func(f field) (err error) { p.Efforts, err = readEfforts(f); return err },
		"file":              func(f field) (err error) { p.File, err = readFile(f); return err },
		"headers":           func(f field) (err error) { p.Headers, err = l.readHeaders(f); return err },
	}, l.unknown)
	if err != nil {
		return p, err
	}
	if err := checkComplete(f, &p); err != nil {
		return p, err
	}
	if dflt != nil && p.Default != "" && len(p.Models) > 0 && !slices.Contains(p.Models, p.Default) {
		l.warn(dflt.line, "%s: %q is not in models; it is offered all the same", dflt.name, shorten(p.Default))
		p.Models = append(p.Models, p.Default)
	}
	return p, nil
}

// checkComplete checks what the keys of a provider need of each other, and drops
// what its kind has no use for.
func checkComplete(f field, p *Provider) error {
	if p.Name == "" {
		return f.fail("a provider has no name", `add name = "…" below [[providers]]`)
	}
	switch p.Kind {
	case KindOpenAI:
		p.File = ""
		if p.BaseURL == "" {
			return f.fail(fmt.Sprintf("provider %q has no base_url", p.Name), `add base_url = "https://…"`)
		}
	case KindScripted:
		p.BaseURL, p.APIKeyEnv, p.Headers, p.ExtraBody = "", "", nil, nil
		if p.File == "" {
			return f.fail(fmt.Sprintf("provider %q has no file", p.Name), `add file = "….jsonl", the script to play`)
		}
	}
	return nil
}

func readName(f field) (string, error) {
	name, err := f.text()
	switch {
	case err != nil:
		return "", err
	case name == OfflineProvider:
		return "", f.fail(fmt.Sprintf("%q is the name of the built-in provider", name), "choose another name")
	case !usable(name) || strings.ContainsAny(name, "/ "):
		return "", f.fail(fmt.Sprintf("%q cannot be the name of a provider", shorten(name)),
			fmt.Sprintf("use at most %d letters, digits, - and _, without slash or space", maxName))
	}
	return name, nil
}

// readKind keeps a kind that is not ours, with a warning: the same file
// configures other programs, and the other providers must go on working.
func (l *layer) readKind(f field) (string, error) {
	kind, err := f.text()
	switch {
	case err != nil, kind == KindOpenAI, kind == KindScripted:
	case kind == KindOffline:
		err = f.fail(fmt.Sprintf("kind %q is built in and cannot be configured", kind), fmt.Sprintf("use %q or %q", KindOpenAI, KindScripted))
	default:
		l.warn(f.line, "%s: kind %q is not known here, so models of this provider cannot be used; known are %q and %q", f.name, shorten(kind), KindOpenAI, KindScripted)
	}
	return kind, err
}

func readBaseURL(f field) (string, error) {
	s, err := f.text()
	if err == nil {
		if message, mend := checkBaseURL(s); message != "" {
			err = f.fail(message, mend)
		}
	}
	return s, err
}

// checkBaseURL says what is wrong with a URL, without repeating it: a wrong one
// may hold a password.
func checkBaseURL(s string) (message, mend string) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "expected an http or https URL", `write base_url = "https://host/path"`
	case u.User != nil:
		return "the URL holds a user name or password", "remove them and name the key's variable with api_key_env"
	}
	return "", ""
}

func readModels(f field) ([]string, error) {
	models, err := f.texts()
	if err != nil {
		return nil, err
	}
	for i, id := range models {
		if !usable(id) {
			return nil, f.fail(fmt.Sprintf("entry %d is empty, too long or holds control characters", i+1), "remove it or write the model's id")
		}
	}
	return unique(models), nil
}

// readEfforts reads the levels of reasoning effort of a provider's models.
func readEfforts(f field) ([]string, error) {
	levels, err := f.texts()
	if err != nil {
		return nil, err
	}
	for i, level := range levels {
		if level == "" || level == "auto" || len(level) > 32 || strings.Trim(level, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return nil, f.fail(fmt.Sprintf("entry %d is no level", i+1), "write a word of lower-case letters, digits, - and _; auto is always there")
		}
	}
	return unique(levels), nil
}

// unique keeps the first of each; nothing gives nil.
func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

func readDefault(f field) (string, error) {
	id, err := f.text()
	if err == nil && id != "" && !usable(id) {
		err = f.fail("is too long or holds control characters", "write the model's id")
	}
	return id, err
}

// readEnvName does not repeat a wrong value: it is probably the key itself.
func readEnvName(f field) (string, error) {
	s, err := f.text()
	if err == nil && s != "" && !envName(s) {
		err = f.fail("expected the name of a variable", `write api_key_env = "DEEPSEEK_API_KEY" or alike and keep the key itself out of this file`)
	}
	return s, err
}

func readFile(f field) (string, error) {
	s, err := f.text()
	if err != nil || s == "" {
		return "", err
	}
	if !printable(s) {
		return "", f.fail("the path holds control characters", "write the path of a script")
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(filepath.Dir(f.doc.file), s)
	}
	return filepath.Clean(s), nil
}

func (l *layer) readHeaders(f field) (map[string]Secret, error) {
	table, err := f.table()
	if err != nil {
		return nil, err
	}
	var out map[string]Secret
	for _, name := range slices.Sorted(maps.Keys(table)) {
		h := f.child(name, table[name])
		value, err := h.text()
		if err != nil {
			return nil, err
		}
		if !isToken(name) || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, h.fail("cannot be sent as an HTTP header", "use letters, digits and - in its name, and no control characters")
		}
		if slices.Contains(ownedHeaders, strings.ToLower(name)) {
			l.warn(h.line, "%s is ignored: this header is ours; name the key's variable with api_key_env", h.name)
			continue
		}
		if out == nil {
			out = map[string]Secret{}
		}
		out[name] = NewSecret(value)
	}
	return out, nil
}

func readIdle(f field, to *time.Duration) error {
	d, err := f.duration(time.Second)
	if err == nil {
		*to = *d
	}
	return err
}

// ownedMembers are set by the provider client.
var ownedMembers = []string{"model", "messages", "tools", "stream", "stream_options", "temperature", "max_tokens",
	"max_completion_tokens", "max_output_tokens", "reasoning_effort", "thinking"}

// readExtraBody reads members that are added to each request as they are.
func (l *layer) readExtraBody(f field) (map[string]json.RawMessage, error) {
	table, err := f.table()
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(table)) {
		member := f.child(name, table[name])
		if slices.Contains(ownedMembers, name) {
			l.warn(member.line, "%s is ignored: this member of a request is ours", member.name)
			continue
		}
		value, err := json.Marshal(table[name])
		if err != nil {
			return nil, member.fail("cannot be written as JSON", "use strings, numbers, booleans, lists and tables")
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[name] = value
	}
	return out, nil
}

// isToken says whether a header may have this name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// maxName bounds names and ids in bytes; messages repeat them.
const maxName = 256

// usable says whether a name or id can stand in a reference and a message.
func usable(s string) bool {
	return s != "" && len(s) <= maxName && printable(s)
}

func printable(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }
