package markdown

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// sample finds a value that a reader understands for a scalar: from the
// description of the member, from its name, from the name of its type. None of
// it is knowledge about the protocol; a wrong guess is only a dull example.
type sample struct {
	name, doc string
	field     *model.Field
}

// quoted finds the example that a description gives.
var quoted = regexp.MustCompile("\\b(?:such as|for example|for instance|like|at present) `([^`]+)`")

// texts are example strings by the end of the member's name; the longest end
// counts. With doc set, the description must have that word.
var texts = []struct{ end, doc, text string }{
	{"amount", "", "0.0042"},
	{"args", "", "version"},
	{"argv", "", "go"},
	{"at", "", "2026-01-05T09:30:00Z"},
	{"blob", "", "aGVsbG8="},
	{"checksum", "", "9f86d081"},
	{"command", "", "go"},
	{"commit", "", "4b825dc"},
	{"content", "", "Read main.go"},
	{"content", "file", "package main\n"},
	{"content", "text", "package main\n"},
	{"currency", "", "USD"},
	{"cursor", "", "bmV4dA=="},
	{"cwd", "", "/home/ann/project"},
	{"data", "", "aGVsbG8="},
	{"description", "", "A short explanation."},
	{"directories", "", "/home/ann/library"},
	{"directory", "", "/home/ann/project"},
	{"effort", "", "high"},
	{"error", "", "The model did not answer."},
	{"fingerprint", "", "9f86d081"},
	{"hash", "", "9f86d081"},
	{"hint", "", "what to look for"},
	{"id", "", "id_1"},
	{"key", "", "key_1"},
	{"label", "", "Build"},
	{"message", "", "Which branch do you mean?"},
	{"method", "", "_example.org/do"},
	{"mimetype", "", "text/plain"},
	{"model", "", "deepseek-chat"},
	{"modelid", "", "deepseek/deepseek-chat"},
	{"modelref", "", "deepseek/deepseek-chat"},
	{"modelreference", "", "deepseek/deepseek-chat"},
	{"name", "", "example"},
	{"newtext", "", "hello, world\n"},
	{"oldtext", "", "hello\n"},
	{"output", "", "ok\n"},
	{"path", "", "/home/ann/project/main.go"},
	{"pattern", "", "^[a-z]+$"},
	{"preview", "", "Hello!"},
	{"prompt", "", "Hello!"},
	{"provider", "", "deepseek"},
	{"reason", "", "The user asked for it."},
	{"required", "", mapKey},
	{"root", "", "/home/ann/project"},
	{"roots", "", "/home/ann/project"},
	{"server", "", "github"},
	{"sessionpath", "", "/home/ann/.reasonix/acp/session_1"},
	{"signal", "", "SIGTERM"},
	{"subject", "", "main.go"},
	{"summary", "", "All checks passed."},
	{"text", "", "Hello!"},
	{"title", "", "Read main.go"},
	{"tool", "", "write_file"},
	{"transcriptpath", "", "/home/ann/.reasonix/acp/session_1"},
	{"uri", "", "file:///home/ann/project/main.go"},
	{"url", "", "https://example.org/page"},
	{"value", "", "high"},
	{"version", "", "1.0.0"},
}

// numbers are example numbers by the end of the member's name.
var numbers = []struct {
	end   string
	value string
}{
	{"version", "1"}, {"line", "12"}, {"size", "128000"}, {"used", "20480"}, {"tokens", "1200"}, {"limit", "100"}, {"ratio", "0.75"},
	{"progress", "0.5"}, {"index", "0"}, {"bytesize", "6"}, {"exitcode", "0"}, {"delayms", "250"}, {"bytes", "4096"}, {"amount", "0.02"}, {"cost", "0.02"}, {"created", "1767605400"},
}

func (s sample) item() sample { s.field = nil; return s }

// named adds the name of a type, which says more about an id than the member's.
func (s sample) named(typeName string) sample {
	if _, ok := s.find(); !ok || s.isID() {
		s.name = typeName
	}
	return s
}

func (s sample) isID() bool {
	w := words(s.name)
	return len(w) > 0 && w[len(w)-1] == "id"
}

func (s sample) scalar(b model.Base) node {
	switch b {
	case model.String:
		return scalar(s.text())
	case model.Bool:
		return raw("true")
	case model.Float64:
		return raw(s.number("0.5"))
	}
	return raw(s.number("1"))
}

func (s sample) text() string {
	if m := quoted.FindStringSubmatch(s.doc); m != nil {
		return m[1]
	}
	text, ok := s.find()
	if w := words(s.name); s.isID() && len(w) > 1 && (!ok || text == "id_1") {
		return strings.Join(w[max(0, len(w)-3):len(w)-1], "_") + "_1" // SessionId: session_1
	}
	if ok {
		return text
	}
	return "example"
}

// find looks the name up among the texts.
func (s sample) find() (text string, ok bool) {
	name, best := strings.ToLower(s.name), 0
	for _, t := range texts {
		if n := len(t.end + t.doc); n > best && strings.HasSuffix(name, t.end) && strings.Contains(s.doc, t.doc) {
			best, text = n, t.text
		}
	}
	return text, best > 0
}

// number stays within the limits of the member.
func (s sample) number(other string) string {
	text := other
	for _, n := range numbers {
		if strings.HasSuffix(strings.ToLower(s.name), n.end) {
			text = n.value
		}
	}
	v, _ := strconv.ParseFloat(text, 64)
	if s.field != nil && s.field.Maximum != "" {
		if hi, _ := strconv.ParseFloat(s.field.Maximum, 64); v > hi {
			return s.field.Maximum
		}
	}
	if s.field != nil && s.field.Minimum != "" {
		if lo, _ := strconv.ParseFloat(s.field.Minimum, 64); v < lo {
			return s.field.Minimum
		}
	}
	return text
}

// mapKey stands for any key.
const mapKey = "name"

func (s sample) any() node {
	return object(member{"path", scalar("main.go")})
}

func (s sample) object() node {
	if strings.HasPrefix(s.name, "_") {
		return object(member{"example.org/trace", scalar("abc")})
	}
	return object(member{mapKey, scalar("value")})
}

// words splits a camel-case or snake-case name.
func words(name string) (all []string) {
	word := ""
	for _, r := range name + "_" {
		if r == '_' || unicode.IsUpper(r) {
			if word != "" {
				all = append(all, strings.ToLower(word))
			}
			word = ""
		}
		if r != '_' {
			word += string(r)
		}
	}
	return all
}
