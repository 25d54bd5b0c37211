package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// Env says which variables of an environment a command does not get.
type Env struct {
	Drop []string // names of secrets that are known, such as the key variables of providers
	Pass []string // names that are handed on whatever they look like
}

// Filter leaves out what is named in Drop, what looks like a secret by its name or value, and what would make a shell
// run something first.
func (e Env) Filter(environ []string) []string {
	var values *regexp.Regexp
	var out []string
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		switch {
		case !ok, shellHook(name):
			continue
		case slices.Contains(e.Pass, name):
		case slices.Contains(e.Drop, name), secretName(name):
			continue
		default:
			if values == nil {
				values = regexp.MustCompile(secretValues)
			}
			if values.MatchString(value) {
				continue
			}
		}
		out = append(out, entry)
	}
	return out
}

// shellHook are variables that a shell evaluates before it comes to the command that was looked at.
func shellHook(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}

// secretName goes by the parts of a name, so that PWD and MONKEY stay.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "CREDENTIAL", "APIKEY", "PRIVATE"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		switch part {
		case "KEY", "KEYS", "PASS", "AUTH", "PAT", "COOKIE", "COOKIES", "JWT", "DSN":
			return true
		}
	}
	return false
}

// secretValues: keys of well-known services, and URLs with a password.
const secretValues = `(?:^|[^A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16}|gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-|xox[abprs]-|AKIA[A-Z0-9]{12}|AIza[A-Za-z0-9_-]{20}|eyJ[A-Za-z0-9_-]{10,}\.eyJ)` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY|[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@`
