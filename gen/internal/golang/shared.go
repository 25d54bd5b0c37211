package golang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// namedDec is the function that reads a named scalar. The values of an enum are
// constants of the program: reading one need not allocate it.
func (g *emitter) namedDec(t *model.Type, name string) string {
	if t.Kind != model.Enum || t.Scalar != model.String {
		return scalarDec(t.Scalar, name)
	}
	for _, v := range t.Enum.Values {
		g.words[string(v.Const)] = true
	}
	return "decWord[" + name + "]"
}

// readStruct is the function that reads a struct as a value. Each struct has its
// own: a generic one would find the method at run time, so the compiler could
// not see that the value stays on the stack.
func (g *emitter) readStruct(name string) string {
	g.reads[name] = fmt.Sprintf("func read%[1]s(d *jx.Decoder) (v %[1]s, err error) {\n\terr = v.decode(d, \"\")\n\treturn v, err\n}\n\n", name)
	return "read" + name
}

// shared writes what the decoders of many types call: the functions of
// readStruct, and the words that decWord knows.
func (g *emitter) shared() {
	var b strings.Builder
	if len(g.words) > 0 {
		b.WriteString("// word is the value of an enum without allocating it; any other is copied.\nfunc word(b []byte) string {\n\tswitch string(b) {\n")
		for _, w := range slices.Sorted(maps.Keys(g.words)) {
			fmt.Fprintf(&b, "\tcase %[1]s:\n\t\treturn %[1]s\n", w)
		}
		b.WriteString("\t}\n\treturn string(b)\n}\n\n")
	}
	for _, name := range slices.Sorted(maps.Keys(g.reads)) {
		b.WriteString(g.reads[name])
	}
	if b.Len() > 0 {
		g.write("shared_codec_gen.go", b.String())
	}
}
