package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCandidates bounds how many references an error names.
const maxCandidates = 10

// Model is a resolved reference. Provider is always a name that
// Config.Provider knows; ID is the provider's own name of the model.
type Model struct {
	Provider, ID string
}

// String is the full reference, which resolves to the same model again.
func (m Model) String() string { return m.Provider + "/" + m.ID }

// Resolve finds the model a reference means:
//
//   - "" is `default_model`, else what the only provider's name means;
//   - "provider/model": the part before the first slash names a provider, and
//     all of the rest is the model's id, which may contain slashes;
//   - "provider": its default, else its first model;
//   - "model": if exactly one provider lists it.
//
// "offline" and "offline/demo" always resolve, and nothing else leads there.
// The error is a *RefError with candidates; when no provider is configured,
// errors.Is finds ErrNoProvider.
func (c *Config) Resolve(ref string) (Model, error) {
	if ref == "" {
		return c.resolveDefault()
	}
	name, id, slash := strings.Cut(ref, "/")
	if p, ok := c.Provider(name); ok {
		if !slash {
			return c.providerDefault(p)
		}
		if id != "" && (len(p.Models) == 0 || slices.Contains(p.Models, id)) {
			return Model{p.Name, id}, nil
		}
		return Model{}, c.unknownRef(ref)
	}
	switch found := c.offering(ref); len(found) {
	case 0:
		return Model{}, c.unknownRef(ref)
	case 1:
		return found[0], nil
	default:
		return Model{}, newRefError(ref, fmt.Sprintf("model %q is offered by several providers", shorten(ref)), "; write one of ", refs(found))
	}
}

func (c *Config) resolveDefault() (Model, error) {
	switch {
	case c.DefaultModel != "":
		m, err := c.Resolve(c.DefaultModel)
		var e *RefError
		if errors.As(err, &e) {
			e.Origin = c.defaultModelFrom
		}
		return m, err
	case len(c.Providers) == 0:
		return Model{}, ErrNoProvider
	case len(c.Providers) == 1:
		return c.providerDefault(c.Providers[0])
	}
	return Model{}, newRefError("", "no model is chosen and several providers are configured",
		`; set default_model to one of `, c.allRefs())
}

func (c *Config) providerDefault(p Provider) (Model, error) {
	if p.Default != "" {
		return Model{p.Name, p.Default}, nil
	}
	if len(p.Models) > 0 {
		return Model{p.Name, p.Models[0]}, nil
	}
	return Model{}, newRefError(p.Name, fmt.Sprintf("provider %q lists no models", p.Name), "; write ", []string{anyModel(p)})
}

// offering lists the models with this id, over all providers.
func (c *Config) offering(id string) []Model {
	return slices.DeleteFunc(c.Models(), func(m Model) bool { return m.ID != id })
}

// unknownRef says what the user may have meant: references with the same or a
// similar spelling, else everything there is.
func (c *Config) unknownRef(ref string) error {
	message := fmt.Sprintf("unknown model %q", shorten(ref))
	if len(c.Providers) == 0 && !strings.HasPrefix(ref, OfflineProvider+"/") {
		e := newRefError(ref, message+"; none configured; run `reasonix setup`", "", nil)
		e.err = ErrNoProvider
		return e
	}
	name, id, slash := strings.Cut(ref, "/")
	if near := c.similar(ref); len(near) > 0 && (id != "" || !slash) {
		e := newRefError(ref, message, "; did you mean ", near)
		e.tail = "?"
		return e
	}
	all := c.allRefs()
	if p, ok := c.Provider(name); ok {
		all = providerRefs(p)
	}
	return newRefError(ref, message, "; configured: ", all)
}

// similar compares a reference with full references, bare ids and provider names.
func (c *Config) similar(ref string) []string {
	var near []string
	for _, m := range c.Models() {
		if similar(ref, m.String()) || similar(ref, m.ID) {
			near = append(near, m.String())
		}
	}
	name, id, slash := strings.Cut(ref, "/")
	for _, p := range c.Providers {
		switch {
		case p.Name == name || !similar(name, p.Name):
		case !slash:
			near = append(near, p.Name)
		case len(p.Models) == 0 && id != "":
			near = append(near, p.Name+"/"+shorten(id))
		case slices.Contains(p.Models, id):
			near = append(near, p.Name+"/"+id)
		}
	}
	// A whole reference of one provider can be the model id of another.
	return append(near, refs(c.offering(ref))...)
}

func (c *Config) allRefs() []string {
	var all []string
	for _, p := range c.Providers {
		all = append(all, providerRefs(p)...)
	}
	return all
}

func providerRefs(p Provider) []string {
	var all []string
	for _, id := range p.known() {
		all = append(all, Model{p.Name, id}.String())
	}
	if len(p.Models) == 0 {
		all = append(all, anyModel(p))
	}
	return all
}

func anyModel(p Provider) string { return p.Name + "/<model>" }

func refs(models []Model) []string {
	var all []string
	for _, m := range models {
		all = append(all, m.String())
	}
	return all
}

func newRefError(ref, message, lead string, candidates []string) *RefError {
	candidates = slices.Clone(candidates)
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	n := min(len(candidates), maxCandidates)
	return &RefError{Ref: shorten(ref), Message: message, lead: lead, Candidates: candidates[:n], More: len(candidates) - n}
}

// nearest lists the similar names, the most similar first.
func nearest(name string, names []string) []string {
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !similar(name, n) })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return near
}

// similar means at most two changes, and fewer than half of the letters.
// Letter case does not count.
func similar(a, b string) bool {
	const longest = 200 // bytes; a client's reference can be megabytes, and so can a project's ids
	if max(len(a), len(b)) > longest || max(len(a)-len(b), len(b)-len(a)) > 2*utf8.UTFMax {
		return false
	}
	d := distance(a, b)
	return d <= 2 && 2*d < min(len(a), len(b))
}

// distance is the Levenshtein distance of the lower-cased texts.
func distance(a, b string) int {
	from, to := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, t := range to {
			change := diagonal
			if r != t {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}
