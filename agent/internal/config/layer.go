package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Bounds on what one file may do to us: a project file is not trusted.
const (
	maxWarnings  = 20 // about keys; one more line counts the rest
	maxProviders = 500
)

// layer is what one file says; unset things are zero.
type layer struct {
	file         string
	defaultModel string
	defaultLine  int
	coalesce     *bool
	maxSteps     *int
	allowPrivate []string
	privateLine  int
	taskTokens   *int
	taskTime     *time.Duration
	retry        *time.Duration
	providers    []Provider
	confine      confine
	warnings     []string
	unshown      int // warnings beyond maxWarnings
}

func readLayer(file string) (*layer, error) {
	doc, err := readDocument(file)
	if err != nil {
		return nil, err
	}
	return decodeLayer(doc)
}

func decodeLayer(doc *document) (*layer, error) {
	l := &layer{file: doc.file}
	err := field{doc: doc, value: doc.root}.each(fields{
		// Reasonix writes the version of its own format; there is only one.
		"config_version": ignore,
		"default_model":  l.readDefaultModel,
		"agent":          l.readAgent,
		"providers":      l.readProviders,
		"permissions":    l.readPermissions,
		"sandbox":        l.readSandbox,
		"web_fetch":      l.readWebFetch,
	}, l.unknown)
	if err != nil {
		return nil, err
	}
	if l.unshown > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("%s: %d more warnings are not shown", l.file, l.unshown))
	}
	return l, nil
}

func (l *layer) warn(line int, format string, args ...any) {
	if len(l.warnings) == maxWarnings {
		l.unshown++
		return
	}
	l.warnings = append(l.warnings, l.at(line)+fmt.Sprintf(format, args...))
}

// at is how a warning begins.
func (l *layer) at(line int) string {
	if line == 0 {
		return l.file + ": "
	}
	return fmt.Sprintf("%s: line %d: ", l.file, line)
}

// unknown warns about a key that nobody reads. Of an unknown table only its name
// is mentioned, unless a key for a provider hides in it.
func (l *layer) unknown(f field, known fields) {
	if len(l.warnings) == maxWarnings {
		l.unshown++ // without looking for hints that nobody sees
		return
	}
	key := f.path[len(f.path)-1]
	if isKeyLiteral(key) {
		l.warn(f.line, "%s is ignored: keys belong in the environment or in %s of the Reasonix home, "+
			"and api_key_env names the variable; remove it from this file", f.name, envFile)
		return
	}
	hint := ""
	if near := nearest(key, slices.Sorted(maps.Keys(known))); len(near) > 0 {
		hint = " (did you mean " + near[0] + "?)"
	}
	l.warn(f.line, "unknown key %s is ignored%s", f.name, hint)
	l.findKeyLiterals(f, nil, f.value)
}

// findKeyLiterals looks for keys of providers at any depth below an unknown one.
func (l *layer) findKeyLiterals(top field, path []string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := append(slices.Clip(path), key)
			if isKeyLiteral(key) {
				l.unknown(top.under(below), nil)
			}
			l.findKeyLiterals(top, below, v[key])
		}
	case []map[string]any:
		for i, t := range v {
			l.findKeyLiterals(top, append(slices.Clip(path), elementSegment(i)), t)
		}
	case []any:
		for i, e := range v {
			l.findKeyLiterals(top, append(slices.Clip(path), elementSegment(i)), e)
		}
	}
}

// isKeyLiteral recognises api_key in its usual spellings.
func isKeyLiteral(key string) bool {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key)) == "apikey"
}

func (l *layer) readDefaultModel(f field) (err error) {
	l.defaultModel, err = f.text()
	l.defaultLine = f.line
	return err
}

func (l *layer) readAgent(f field) error {
	return f.each(fields{
		"coalesce":      func(f field) (err error) { l.coalesce, err = f.flag(); return err },
		"max_steps":     func(f field) (err error) { l.maxSteps, err = f.count(); return err },
		"task_tokens":   func(f field) (err error) { l.taskTokens, err = f.count(); return err },
		"task_minutes":  func(f field) (err error) { l.taskTime, err = f.duration(time.Minute); return err },
		"retry_seconds": func(f field) (err error) { l.retry, err = f.duration(time.Second); return err },
		// Retired: still readable, of any type, without effect.
		"completion_validation":      ignore,
		"completion_evaluator_model": ignore,
	}, l.unknown)
}

func (l *layer) readWebFetch(f field) error {
	return f.each(fields{
		"allow_private": func(f field) (err error) { l.allowPrivate, err = f.texts(); l.privateLine = f.line; return err },
	}, l.unknown)
}

func (l *layer) readProviders(f field) error {
	elements, err := f.elements()
	if err != nil {
		return err
	}
	if len(elements) > maxProviders {
		return f.fail(fmt.Sprintf("there are more than %d providers", maxProviders), "remove some")
	}
	for _, e := range elements {
		p, err := l.readProvider(e)
		if err != nil {
			return err
		}
		for _, other := range l.providers {
			if other.Name == p.Name {
				return e.fail(fmt.Sprintf("the name %q is already used on line %d", shorten(p.Name), other.line), "rename or remove one of the two")
			}
		}
		l.providers = append(l.providers, p)
	}
	return nil
}
