package overlay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeclareKeepsOrderNamesAndTypes(t *testing.T) {
	got, err := Declare([]Struct{
		{Name: "MCPServerHTTP", Doc: "A server.", Fields: []Field{
			{Name: "URL", Type: "string", Wire: "url", Doc: "Where it is."},
			{Name: "Headers", Type: "[]HTTPHeader", Wire: "headers"},
			{Name: "Meta", Type: "json.RawMessage", Wire: "_meta", Omit: true, Doc: "Free."},
			{Name: "Arg", Type: "*SessionID", Wire: "arg", Omit: true},
			{Name: "U", Type: "Nullable[string]", Wire: "u", Omit: true},
			{Name: "N", Type: "map[string]string", Wire: "n", Omit: true},
		}},
		{Name: "Empty", Doc: "Nothing in it."},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"MCPServerHTTP": "// A server.\ntype MCPServerHTTP struct {\n\t// Where it is.\n\tURL string `json:\"url\"`\n\n\tHeaders []HTTPHeader `json:\"headers\"`\n\n" +
			"\t// Free.\n\tMeta json.RawMessage `json:\"_meta,omitempty\"`\n\n\tArg *SessionID `json:\"arg,omitempty\"`\n\n" +
			"\tU Nullable[string] `json:\"u,omitempty\"`\n\n\tN map[string]string `json:\"n,omitempty\"`\n}\n",
		"Empty": "// Nothing in it.\ntype Empty struct {\n}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
