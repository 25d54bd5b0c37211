package acpkit_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/openai"
	"github.com/acpkit/acpkit/generated/reasonix"
	"github.com/acpkit/acpkit/generated/script"
)

// union is the codec of a union, which is a Go interface and so has no methods
// of its own.
type union struct {
	typ    reflect.Type
	decode func([]byte) (any, error)
	encode func([]byte, any) []byte
}

func of[U any](dec func([]byte) (U, error), enc func([]byte, U) []byte) union {
	return union{reflect.TypeFor[U](),
		func(b []byte) (any, error) { v, err := dec(b); return v, err },
		func(b []byte, v any) []byte { u, _ := v.(U); return enc(b, u) }}
}

// unions are all unions that are a value of their own. A union whose members
// stand flat beside others is reached through its object.
var unions = []union{
	of(acp.DecodeAuthMethod, acp.AppendAuthMethod),
	of(acp.DecodeAvailableCommandInput, acp.AppendAvailableCommandInput),
	of(acp.DecodeContentBlock, acp.AppendContentBlock),
	of(acp.DecodeElicitationContentValue, acp.AppendElicitationContentValue),
	of(acp.DecodeElicitationPropertySchema, acp.AppendElicitationPropertySchema),
	of(acp.DecodeEmbeddedResourceResource, acp.AppendEmbeddedResourceResource),
	of(acp.DecodeMCPServer, acp.AppendMCPServer),
	of(acp.DecodeMultiSelectItems, acp.AppendMultiSelectItems),
	of(acp.DecodeRequestID, acp.AppendRequestID),
	of(acp.DecodeRequestPermissionOutcome, acp.AppendRequestPermissionOutcome),
	of(acp.DecodeSessionConfigSelectOptions, acp.AppendSessionConfigSelectOptions),
	of(acp.DecodeSessionUpdate, acp.AppendSessionUpdate),
	of(acp.DecodeToolCallContent, acp.AppendToolCallContent),
	of(openai.DecodeAssistantContent, openai.AppendAssistantContent),
	of(openai.DecodeAssistantPart, openai.AppendAssistantPart),
	of(openai.DecodeDeltaContent, openai.AppendDeltaContent),
	of(openai.DecodeErrorCode, openai.AppendErrorCode),
	of(openai.DecodeErrorValue, openai.AppendErrorValue),
	of(openai.DecodeMessage, openai.AppendMessage),
	of(openai.DecodeThinkingText, openai.AppendThinkingText),
	of(openai.DecodeToolChoice, openai.AppendToolChoice),
	of(openai.DecodeUserContent, openai.AppendUserContent),
	of(openai.DecodeUserPart, openai.AppendUserPart),
	of(reasonix.DecodeMCPServer, reasonix.AppendMCPServer),
}

// roots are the types that no handler leads to: what stands in _meta, what the
// peer owns, and the other packages' messages. TestRegistry names those that are
// missing.
var roots = []codec{
	new(acp.Error), new(acp.CancelRequestNotification),
	new(openai.ChatRequest), new(openai.Chunk), new(openai.ErrorBody), new(openai.ModelList),
	new(reasonix.AgentCapabilitiesMetadata), new(reasonix.ClientCapabilitiesMetadata), new(reasonix.ApprovalMetadata),
	new(reasonix.SessionInfoMetadata), new(reasonix.ResultMetadata), new(reasonix.ExtensionSurfaceUpdate),
	new(script.Reply), new(script.ProviderReply),
}

// unknowns are the variants for tags that a package does not know. They are
// read as part of a union only.
var unknowns = []any{new(acp.Unknown), new(openai.Unknown), new(reasonix.Unknown)}

// handlers are where the types of the methods are found.
var handlers = []any{acp.AgentHandlers{}, acp.ClientHandlers{}, reasonix.AgentHandlers{}, reasonix.ClientHandlers{}}

// registry is every generated type that has a codec.
type registry struct {
	structs  map[string]reflect.Type         // by package.Name
	variants map[reflect.Type][]reflect.Type // of each union, flat ones included
	model    map[reflect.Type]*mType         // of structs and unions
	union    map[reflect.Type]union
}

// types finds them: the parameters and results of the methods, the roots, what
// their members hold, and the variants that come out of decoding one value per
// branch of each union.
var types = sync.OnceValue(func() *registry {
	r := &registry{map[string]reflect.Type{}, map[reflect.Type][]reflect.Type{}, map[reflect.Type]*mType{}, map[reflect.Type]union{}}
	for _, u := range unions {
		r.union[u.typ] = u
		r.model[u.typ] = definition(u.typ)
	}
	for _, h := range handlers {
		t := reflect.TypeOf(h)
		for i := range t.NumField() {
			f := t.Field(i).Type
			r.add(f.In(1))
			for j := range f.NumOut() - 1 {
				r.add(f.Out(j))
			}
		}
	}
	for _, v := range roots {
		r.add(reflect.TypeOf(v))
	}
	for _, u := range unions {
		for _, in := range instances(r.model[u.typ]) {
			if v, err := u.decode([]byte(in.root.String())); err == nil {
				r.variant(u.typ, reflect.ValueOf(v))
			}
		}
	}
	return r
})

func goName(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// definition finds the model of a Go type: its name is the schema's word but
// for case and separators.
func definition(t reflect.Type) *mType {
	pkg := models()[path.Base(t.PkgPath())]
	if pkg == nil {
		return nil
	}
	for _, d := range pkg.Types {
		if strings.EqualFold(strings.ReplaceAll(d.Name, "_", ""), t.Name()) {
			return d
		}
	}
	return nil
}

// add registers what a static type leads to.
func (r *registry) add(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		r.add(t.Elem())
	case reflect.Struct:
		if r.structs[goName(t)] != nil {
			return
		}
		ours := models()[path.Base(t.PkgPath())] != nil
		if ours && reflect.PointerTo(t).Implements(reflect.TypeFor[codec]()) {
			r.structs[goName(t)] = t
		}
		for i := range t.NumField() {
			r.add(t.Field(i).Type)
		}
		if d := definition(t); ours && d != nil {
			r.model[t] = d
			for _, in := range instances(d) {
				v := reflect.New(t)
				if v.Interface().(codec).UnmarshalJSON([]byte(in.root.String())) == nil {
					r.walk(v.Elem())
				}
			}
		}
	}
}

// walk registers the variants that stand in a value.
func (r *registry) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.walk(v.Elem())
		}
	case reflect.Interface:
		r.variant(v.Type(), v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			r.walk(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	}
}

func (r *registry) variant(union reflect.Type, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	if t := v.Type(); !slices.Contains(r.variants[union], t) {
		r.variants[union] = append(r.variants[union], t)
		r.add(t)
	}
	r.walk(v)
}

// declared is what the source of a generated package declares.
type declared struct {
	types    map[string]ast.Expr
	variants map[string][]string // of a union, as its comment lists them, by package.Name
	methods  map[string]bool     // Type.Method
	decoders []string            // the X of each DecodeX
}

func declarations(t *testing.T, pkg string) declared {
	t.Helper()
	d := declared{map[string]ast.Expr{}, map[string][]string{}, map[string]bool{}, nil}
	files, err := filepath.Glob(filepath.Join("generated", pkg, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files in generated/"+pkg, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			d.add(decl)
		}
	}
	return d
}

func (d *declared) add(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if x, ok := strings.CutPrefix(decl.Name.Name, "Decode"); ok && decl.Recv == nil {
			d.decoders = append(d.decoders, x)
		}
		if decl.Recv != nil {
			recv := decl.Recv.List[0].Type
			if star, ok := recv.(*ast.StarExpr); ok {
				recv = star.X
			}
			if id, ok := recv.(*ast.Ident); ok {
				d.methods[id.Name+"."+decl.Name.Name] = true
			}
		}
	case *ast.GenDecl:
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() || spec.TypeParams != nil {
				continue
			}
			d.types[spec.Name.Name] = spec.Type
			for line := range strings.Lines(decl.Doc.Text()) {
				if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
					name, _, _ := strings.Cut(strings.TrimSpace(item), ",")
					d.variants[spec.Name.Name] = append(d.variants[spec.Name.Name], name)
				}
			}
		}
	}
}

// TestRegistry: the proof reaches every generated type that has a codec, every
// union, and every variant that a union's comment lists, in that order.
func TestRegistry(t *testing.T) {
	r := types()
	entries, err := os.ReadDir("generated")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "docs" && schemaOf[e.Name()] == "" {
			t.Errorf("generated/%s is not proved; add it to schemaOf", e.Name())
		}
	}
	for pkg := range schemaOf {
		d := declarations(t, pkg)
		for name, expr := range d.types {
			if _, ok := expr.(*ast.StructType); ok && d.methods[name+".UnmarshalJSON"] && r.structs[pkg+"."+name] == nil {
				t.Errorf("%s.%s is not reached; add new(%[1]s.%[2]s) to roots, or a union that holds it to unions", pkg, name)
			}
		}
		if d.types["Unknown"] != nil && !slices.ContainsFunc(unknowns, func(v any) bool { return reflect.TypeOf(v).Elem().PkgPath() == module+"generated/"+pkg }) {
			t.Errorf("new(%s.Unknown) is missing in unknowns", pkg)
		}
		for _, x := range d.decoders {
			if !slices.ContainsFunc(unions, func(u union) bool { return goName(u.typ) == pkg+"."+x }) {
				t.Errorf("a union is missing; add to unions\n\tof(%[1]s.Decode%[2]s, %[1]s.Append%[2]s),", pkg, x)
			}
		}
		for u, want := range d.variants {
			for i, name := range want {
				want[i] = strings.Replace(pkg+"."+name, pkg+".*", "*"+pkg+".", 1)
			}
			want = slices.DeleteFunc(want, func(n string) bool { return n == "*"+pkg+".Unknown" })
			var got []string
			for it, list := range r.variants {
				if goName(it) == pkg+"."+u {
					for _, v := range list {
						got = append(got, v.String())
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s.%s: variants %v come out of decoding, the comment lists %v", pkg, u, got, want)
			}
		}
		for _, m := range models()[pkg].Types {
			if m.Kind == kObject || m.Kind == kUnion {
				if goTypeOf(m) == nil {
					t.Errorf("%s.%s is a definition without a Go type", pkg, m.Name)
				}
			}
		}
	}
	t.Logf("%d types with a codec, %d unions, %d of them flat", len(r.structs), len(r.variants), len(r.variants)-len(unions))
}

// goTypes is registry.model the other way round.
var goTypes = sync.OnceValue(func() map[*mType]reflect.Type {
	out := map[*mType]reflect.Type{}
	for t, m := range types().model {
		out[m] = t
	}
	return out
})

func goTypeOf(m *mType) reflect.Type { return goTypes()[m.real()] }

// box holds a value of any registered type, object or union, behind one door.
type box struct {
	v any // a pointer to the struct, or the variant
	u *union
}

func boxOf(t reflect.Type) *box {
	if u, ok := types().union[t]; ok {
		return &box{u: &u}
	}
	return &box{v: reflect.New(t).Interface()}
}

func (b *box) UnmarshalJSON(data []byte) (err error) {
	if b.u != nil {
		b.v, err = b.u.decode(data)
		return err
	}
	return b.v.(json.Unmarshaler).UnmarshalJSON(data)
}

func (b *box) AppendJSON(to []byte) []byte {
	if b.u != nil {
		return b.u.encode(to, b.v)
	}
	return b.v.(codec).AppendJSON(to)
}

func (b *box) String() string { return fmt.Sprintf("%T %s", b.v, b.AppendJSON(nil)) }
