package axes

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

var (
	thinker = Model{Ref: "p/thinker", Provider: "p", Efforts: []string{"low", "high"}}
	plain   = Model{Ref: "p/plain", Provider: "p"}
	models  = []Model{thinker, plain}
)

func ids(list []Option) (ids []string) {
	for _, o := range list {
		ids = append(ids, o.ID)
	}
	return ids
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		current Model
		want    []string
		models  int
	}{
		{thinker, []string{"model", "effort", "tool_approval"}, 2},
		{plain, []string{"model", "tool_approval"}, 2},
		{Model{Ref: "gone/x", Provider: "gone"}, []string{"model", "tool_approval"}, 3},
	} {
		list := Options(models, Current{c.current, Auto, permission.WorkspaceWrite})
		if d := cmp.Diff(c.want, ids(list)); d != "" || len(list[0].Values) != c.models {
			t.Errorf("%s: %s, %d models", c.current.Ref, d, len(list[0].Values))
		}
		for _, o := range list { // CFG-04: the current value is one of those on offer
			found := false
			for _, v := range o.Values {
				found = found || v.Value == o.Current
			}
			if !found {
				t.Errorf("%s: current %q is not on offer", o.ID, o.Current)
			}
		}
	}
}

func TestParseChange(t *testing.T) {
	options := Options(models, Current{thinker, Auto, permission.WorkspaceWrite})
	for _, c := range []struct {
		id, value string
		want      Change // the zero value: refused
	}{
		{"model", "p/plain", Change{Option: "model", Value: "p/plain"}},
		{" models ", " p/plain ", Change{Option: "model", Value: "p/plain"}},
		{"model", "plain", Change{}},
		{"effort", "high", Change{Option: "effort", Value: "high"}},
		{"reasoning_effort", "auto", Change{Option: "effort", Value: "auto"}},
		{"thought_level", "low", Change{Option: "effort", Value: "low"}},
		{"effort", "max", Change{}},
		{"tool_approval", "read-only", Change{Option: "tool_approval", Value: "read-only"}},
		{"tool_approval", "danger-full-access", Change{Option: "tool_approval", Value: "danger-full-access"}},
		{"approval", "ask", Change{Option: "tool_approval", Value: "read-only"}},
		{"approval_mode", "AUTO", Change{Option: "tool_approval", Value: "workspace-write"}},
		{"tool_approval_mode", "yolo", Change{Option: "tool_approval", Value: "workspace-write"}},
		{"tool_approval", "Danger-Full-Access", Change{}},
		{"tool_approval", "full", Change{}},
		{"tool_approval", "", Change{}},
		{"mode", "plan", Change{}},
		{"", "x", Change{}},
		{"work_mode", "turbo", Change{}},
	} {
		got, err := ParseChange(c.id, c.value, options)
		var unknown *UnknownError
		if got != c.want || (err != nil) != (c.want == Change{}) || err != nil && !errors.As(err, &unknown) {
			t.Errorf("%s=%q: %+v, %v", c.id, c.value, got, err)
		}
	}
	for _, id := range []string{"work_mode", "profile", "runtime_profile", "token_mode", "agent_preset", "quality_floor"} {
		for _, value := range append(retiredValues, "Economy") {
			if got, err := ParseChange(id, value, options); err != nil || got.Notice == "" || got.Option != "" {
				t.Errorf("%s=%q: %+v, %v", id, value, got, err)
			}
		}
	}
}

func TestModes(t *testing.T) {
	for id, want := range map[string][2]string{
		"normal": {"normal", ""}, "plan": {"plan", ""}, "goal": {"goal", ""},
		"default": {"normal", "read-only"}, "auto": {"normal", "workspace-write"},
	} {
		if mode, preset, ok := ParseMode(id); !ok || mode != want[0] || string(preset) != want[1] {
			t.Errorf("%s: %s %s %v", id, mode, preset, ok)
		}
	}
	for _, id := range []string{"", "Plan", "yolo", "manual", "danger-full-access"} {
		if _, _, ok := ParseMode(id); ok {
			t.Errorf("%q is taken for a mode", id)
		}
		if StoredMode(id) != Normal {
			t.Errorf("stored %q", id)
		}
	}
}

// Only the exact word leads to full access.
func FuzzPreset(f *testing.F) {
	f.Add("danger-full-access")
	f.Add("DANGER-FULL-ACCESS")
	f.Add("yolo")
	f.Fuzz(func(t *testing.T, value string) {
		if StoredPreset(value) == permission.FullAccess && value != "danger-full-access" {
			t.Errorf("%q is full access", value)
		}
	})
}

func TestFitEffort(t *testing.T) {
	for _, c := range []struct {
		effort string
		m      Model
		want   string
	}{{"high", thinker, "high"}, {"high", plain, "auto"}, {"", thinker, "auto"}, {"max", thinker, "auto"}} {
		if got := FitEffort(c.effort, c.m); got != c.want {
			t.Errorf("%s on %s: %s", c.effort, c.m.Ref, got)
		}
	}
}
