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
		if err := json.Unmarshal([]byte(gen.Instances(m.Params)[0]), &good); err != nil {
			t.Fatal(err)
		}
		switch result, err := h.Handle(context.Background(), m.Name, m.Kind == "notification", object(good)); {
		case err != nil:
			t.Errorf("%s: %s is refused: %v", m.Name, object(good), err)
		case m.Kind == "notification" && result != nil:
			t.Errorf("%s is a notification, and has the result %s", m.Name, result.AppendJSON(nil))
		}
		for _, f := range m.Params.Fields {
			if !f.Required {
				continue
			}
			refused("no "+f.Name, string(object(without(good, f.Name))), "/"+f.Name)
			if !f.DefaultOnError {
				refused(f.Name+" of the wrong type", string(object(with(good, f.Name, wrong(good[f.Name])))), "/"+f.Name)
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
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

// wrong is a value of another JSON kind.
func wrong(v json.RawMessage) json.RawMessage {
	switch v[0] {
	case '"', '[', '{':
		return json.RawMessage("7")
	}
	return json.RawMessage(`"seven"`)
}
