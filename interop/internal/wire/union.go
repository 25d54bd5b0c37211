package wire

import "maps"

// byTag rewrites the unions of a schema so that a value is held against one branch only: that of its tag. A bad value can
// then not slip through a branch that was not meant, and what is wrong is told in one sentence, not once per branch.
func byTag(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema // true or false
	}
	out := maps.Clone(s)
	for _, k := range []string{"properties", "$defs"} {
		if m, ok := out[k].(map[string]any); ok {
			out[k] = schemas(m)
		}
	}
	for _, k := range []string{"items", "additionalProperties", "not"} {
		if v, ok := out[k]; ok {
			out[k] = byTag(v)
		}
	}
	if all, ok := out["allOf"].([]any); ok {
		out["allOf"] = list(all)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if branches, ok := s[k].([]any); ok {
			delete(out, k)
			all, _ := out["allOf"].([]any)
			out["allOf"] = append(all, union(k, branches))
		}
	}
	return out
}

func schemas(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, s := range m {
		out[name] = byTag(s)
	}
	return out
}

func list(all []any) []any {
	out := make([]any, len(all))
	for i, s := range all {
		out[i] = byTag(s)
	}
	return out
}

// union makes one schema of the branches of keyword.
func union(keyword string, branches []any) map[string]any {
	if values := constants(branches); values != nil {
		return map[string]any{"enum": values}
	}
	if len(branches) == 2 {
		for i, b := range branches {
			if isNull(b) {
				return map[string]any{"if": map[string]any{"type": "null"}, "else": byTag(branches[1-i])}
			}
		}
	}
	tag := ""
	var values, untagged, rules []any
	for _, b := range branches {
		name, value := tagOf(b)
		if name == "" || tag != "" && tag != name {
			untagged = append(untagged, byTag(b))
			continue
		}
		tag, values = name, append(values, value)
		rules = append(rules, map[string]any{"if": tagged(name, map[string]any{"const": value}), "then": byTag(b)})
	}
	if tag == "" {
		return map[string]any{keyword: list(branches)}
	}
	known := tagged(tag, map[string]any{"enum": values})
	switch len(untagged) {
	case 0:
		rules = append(rules, known)
	case 1:
		rules = append(rules, map[string]any{"if": known, "else": untagged[0]})
	default:
		rules = append(rules, map[string]any{"if": known, "else": map[string]any{keyword: untagged}})
	}
	return map[string]any{"allOf": rules}
}

// tagged is the schema of objects whose member name fits value.
func tagged(name string, value any) map[string]any {
	return map[string]any{"type": "object", "required": []any{name}, "properties": map[string]any{name: value}}
}

// tagOf returns the required member of a branch that has a constant, and that constant.
func tagOf(branch any) (name string, value any) {
	b, _ := branch.(map[string]any)
	required, _ := b["required"].([]any)
	props, _ := b["properties"].(map[string]any)
	for _, r := range required {
		name, _ := r.(string)
		p, _ := props[name].(map[string]any)
		if value, ok := p["const"]; ok {
			return name, value
		}
	}
	return "", nil
}

// constants returns the values when every branch is one constant.
func constants(branches []any) (values []any) {
	for _, b := range branches {
		m, _ := b.(map[string]any)
		v, ok := m["const"]
		if !ok {
			return nil
		}
		values = append(values, v)
	}
	return values
}

func isNull(branch any) bool {
	b, _ := branch.(map[string]any)
	return b["type"] == "null"
}
