package acpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/gen"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// everything is a set of handlers in which every method exists and succeeds.
func everything() *reasonix.AgentHandlers {
	h := &reasonix.AgentHandlers{}
	v := reflect.ValueOf(h).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, f.Type().NumOut())
			for j := range out {
				out[j] = reflect.Zero(f.Type().Out(j))
			}
			return out
		}))
	}
	return h
}

// TestParamsOfEveryMethod walks every method that the agent handles, the vendor's
// included, with params absent, null, [], a scalar, and each required member
// left out or of the wrong type. The answer is -32602, starts with the method
// and points at the member, unless the schema is lenient there.
func TestParamsOfEveryMethod(t *testing.T) {
	model, err := gen.Load(os.DirFS("."), "schema/reasonix/v1")
	if err != nil {
		t.Fatal(err)
	}
	h := everything()
	cases := 0
	for _, m := range model.Methods {
		if m.Side != "agent" {
			continue
		}
		refused := func(what, params, pointer string) {
			t.Helper()
			cases++
			_, err := h.Handle(context.Background(), m.Name, m.Kind == "notification", json.RawMessage(params))
			var e *acp.Error
			switch {
			case !errors.As(err, &e):
				t.Errorf("%s with %s is accepted: %v", m.Name, what, err)
			case e.Code != acp.ErrorCodeInvalidParams || !strings.HasPrefix(e.Message, m.Name+": "):
				t.Errorf("%s with %s: %v", m.Name, what, e)
			case pointer != "" && string(e.Data) != fmt.Sprintf(`{"pointer":%q}`, pointer):
				t.Errorf("%s with %s points at %s, want %s", m.Name, what, e.Data, pointer)
			}
		}
		required := false
		for _, f := range m.Params.Fields {
			required = required || f.Required
		}
		for _, scalar := range []string{"5", `"x"`, "true", "[1]"} {
			refused("params "+scalar, scalar, "")
		}
		for _, none := range []string{"", "null", "[]", "{}"} {
			if required {
				refused("params "+none, none, "")
			} else if _, err := h.Handle(context.Background(), m.Name, m.Kind == "notification", json.RawMessage(none)); err != nil {
				t.Errorf("%s needs no params, but answers %v to %q", m.Name, err, none)
			}
		}
		var good map[string]json.RawMessage
		if err := json.Unmarshal(valueOf(m.Params), &good); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Handle(context.Background(), m.Name, m.Kind == "notification", object(good)); err != nil {
			t.Errorf("%s: %s is refused: %v", m.Name, object(good), err)
		}
		for _, f := range m.Params.Fields {
			if !f.Required {
				continue
			}
			refused("no "+f.Name, string(object(without(good, f.Name))), "/"+f.Name)
			if !f.DefaultOnError {
				refused(f.Name+" of the wrong type", string(object(with(good, f.Name, wrong(f)))), "/"+f.Name)
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

// sample is the smallest object with all required members.
func sample(fields []gen.Field) map[string]json.RawMessage {
	o := map[string]json.RawMessage{}
	for _, f := range fields {
		if f.Required {
			o[f.Name] = value(f.Type)
		}
	}
	return o
}

// value is the smallest value of a type.
func value(r gen.Ref) json.RawMessage {
	switch r.Kind {
	case gen.ToArray:
		return json.RawMessage("[]")
	case gen.ToMap, gen.ToObject:
		return json.RawMessage("{}")
	case gen.ToBase:
		switch r.Base {
		case gen.String:
			return json.RawMessage(`"x"`)
		case gen.Bool:
			return json.RawMessage("true")
		}
		return json.RawMessage("1")
	case gen.ToType:
		return valueOf(r.Type)
	}
	return json.RawMessage("null")
}

func valueOf(t *gen.Type) json.RawMessage {
	switch t.Kind {
	case gen.Alias:
		return valueOf(t.Target)
	case gen.Enum:
		return t.Enum.Values[0].Const
	case gen.Scalar:
		return value(gen.Ref{Kind: gen.ToBase, Base: t.Scalar})
	case gen.Object, gen.Union:
		o := sample(t.Fields)
		if t.Union == nil {
			return object(o)
		}
		b := t.Union.Branches[0]
		if b.Ref != nil {
			return value(*b.Ref)
		}
		if b.Type != nil {
			for k, v := range sample(b.Type.Fields) {
				o[k] = v
			}
		}
		if t.Union.Tag != "" && !b.Implicit {
			o[t.Union.Tag], _ = json.Marshal(b.Tag)
		}
		return object(o)
	}
	return json.RawMessage("null")
}

func object(o map[string]json.RawMessage) json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // raw messages of our own
	}
	return b
}

func without(o map[string]json.RawMessage, name string) map[string]json.RawMessage {
	c := maps.Clone(o)
	delete(c, name)
	return c
}

func with(o map[string]json.RawMessage, name string, v json.RawMessage) map[string]json.RawMessage {
	c := maps.Clone(o)
	c[name] = v
	return c
}

// wrong is a value that no member of the type's JSON kind takes.
func wrong(f gen.Field) json.RawMessage {
	if v := value(f.Type); v[0] == '"' || v[0] == '[' || v[0] == '{' {
		return json.RawMessage("7")
	}
	return json.RawMessage(`"seven"`)
}
