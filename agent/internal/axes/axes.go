// Package axes is what a user can set on a session, each on its own: mode,
// model, effort, permission preset. It knows the values, their older names and
// what becomes of them; it knows no wire and changes no session.
package axes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

// The modes.
const (
	Normal = "normal"
	Plan   = "plan"
	Goal   = "goal"
)

// Mode is one mode as it is offered.
type Mode struct{ ID, Name, Description string }

// Modes lists what is offered.
func Modes() []Mode {
	return []Mode{
		{Normal, "Normal", "Do what is asked, and stop when you are needed."},
		{Plan, "Plan", "Look around and propose a plan; nothing is written before you approve it."},
		{Goal, "Goal", "Take the next prompt as a goal and work towards it until it is reached or blocked."},
	}
}

// ParseMode reads an id as a host sends it. The legacy ids default and auto mean
// Normal with a preset; for all others preset is "".
func ParseMode(id string) (mode string, preset permission.Preset, ok bool) {
	switch id {
	case Normal, Plan, Goal:
		return id, "", true
	case "default":
		return Normal, permission.ReadOnly, true
	case "auto":
		return Normal, permission.WorkspaceWrite, true
	}
	return "", "", false
}

// The options.
const (
	ModelOption  = "model"
	EffortOption = "effort"
	PresetOption = "tool_approval"
)

// Auto is the effort that leaves the choice to the provider.
const Auto = "auto"

// Option is one option with what is on offer for it.
type Option struct {
	ID, Name, Category, Current string
	Values                      []Value
}

// Value is one choice.
type Value struct{ Value, Name, Description string }

// Model is a model on offer.
type Model struct {
	Ref, Provider string
	Efforts       []string // without Auto; nil when it has no levels
}

// Current is what holds now.
type Current struct {
	Model  Model // listed also when it is not on offer any more
	Effort string
	Preset permission.Preset
}

// Options lists the options in their order: model, effort if the model has
// levels, and the preset last.
func Options(models []Model, c Current) []Option {
	model := Option{ID: ModelOption, Name: "Model", Category: "model", Current: c.Model.Ref}
	if !slices.ContainsFunc(models, func(m Model) bool { return m.Ref == c.Model.Ref }) {
		models = append([]Model{c.Model}, models...)
	}
	for _, m := range models {
		model.Values = append(model.Values, Value{m.Ref, m.Ref, m.Provider})
	}
	list := []Option{model}
	if len(c.Model.Efforts) > 0 {
		effort := Option{ID: EffortOption, Name: "Effort", Category: "thought_level", Current: c.Effort, Values: []Value{{Auto, "Auto", "The provider's default."}}}
		for _, e := range c.Model.Efforts {
			effort.Values = append(effort.Values, Value{Value: e, Name: strings.ToUpper(e[:1]) + e[1:]})
		}
		list = append(list, effort)
	}
	return append(list, Option{ID: PresetOption, Name: "Permissions", Category: "_tool_approval", Current: string(c.Preset), Values: []Value{
		{string(permission.ReadOnly), "Read only", "Reading is free; every write and every side effect asks."},
		{string(permission.WorkspaceWrite), "Workspace access", "Writing inside the workspace is free; what leaves it asks."},
		{string(permission.FullAccess), "Full access", "Nothing asks; only what is expressly denied is refused."},
	}})
}

// Change is what a request to set an option means. Notice is not empty for a
// retired option: nothing changes then, and it says why.
type Change struct{ Option, Value, Notice string }

// UnknownError says that an id or a value is not on offer.
type UnknownError struct {
	What, Value string   // "option", "value of model"
	Offered     []string // what there is
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; on offer are %s", e.What, e.Value, strings.Join(e.Offered, ", "))
}

// ParseChange reads id and value as a host sends them, older names included.
// The error is an *UnknownError.
func ParseChange(id, value string, options []Option) (Change, error) {
	id, value = optionID(strings.TrimSpace(id)), strings.TrimSpace(value)
	if id == retired {
		if !slices.Contains(retiredValues, strings.ToLower(value)) {
			return Change{}, &UnknownError{"value of a retired option", value, retiredValues[1:]}
		}
		return Change{Notice: "execution modes were removed: the agent adapts by itself, and the value has no effect"}, nil
	}
	var ids []string
	for _, o := range options {
		ids = append(ids, o.ID)
		if o.ID != id {
			continue
		}
		if id == PresetOption {
			value = currentPreset(value)
		}
		var offered []string
		for _, v := range o.Values {
			offered = append(offered, v.Value)
		}
		if !slices.Contains(offered, value) {
			return Change{}, &UnknownError{"value of " + id, value, offered}
		}
		return Change{Option: id, Value: value}, nil
	}
	return Change{}, &UnknownError{"option", id, ids}
}

// retired stands for the options that no longer exist.
const retired = "work_mode"

var retiredValues = []string{"", "light", "economy", "eco", "lite", "save", "saving", "low", "minimal", "standard", "normal", "balanced",
	"full", "delivery", "deliver", "quality"}

func optionID(id string) string {
	switch id {
	case "models":
		return ModelOption
	case "reasoning_effort", "thought_level":
		return EffortOption
	case "approval", "approval_mode", "tool_approval_mode":
		return PresetOption
	case "work_mode", "profile", "runtime_profile", "token_mode", "agent_preset", "quality_floor":
		return retired
	}
	return id
}

// currentPreset is the name that a preset has today. No older name ever leads to
// full access.
func currentPreset(value string) string {
	switch strings.ToLower(value) {
	case "ask":
		return string(permission.ReadOnly)
	case "auto", "yolo":
		return string(permission.WorkspaceWrite)
	}
	return value
}

// StoredPreset is the preset that a stored session had: what is not known, or
// missing, is the strictest.
func StoredPreset(value string) permission.Preset {
	switch p := permission.Preset(currentPreset(value)); p {
	case permission.ReadOnly, permission.WorkspaceWrite, permission.FullAccess:
		return p
	}
	return permission.ReadOnly
}

// StoredMode is the mode that a stored session had.
func StoredMode(value string) string {
	if mode, _, ok := ParseMode(value); ok {
		return mode
	}
	return Normal
}

// FitEffort is the effort if the model offers it, else Auto.
func FitEffort(effort string, m Model) string {
	if slices.Contains(m.Efforts, effort) {
		return effort
	}
	return Auto
}
