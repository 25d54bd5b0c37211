package gen_test

import (
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestExtendsHasItsForm: extends.json is valid by the schema of such files.
func TestExtendsHasItsForm(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("../schema/extends.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := readJSON(t, "../schema/reasonix/v1/extends.json")
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	doc.(map[string]any)["extend"] = []any{}
	if schema.Validate(doc) == nil {
		t.Error("an unknown member is accepted")
	}
}

func readJSON(t *testing.T, name string) any {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
