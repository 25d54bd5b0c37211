package acpkit_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/acpkit/acpkit/gen"
)

// The codec proof (proof_*_test.go) compares three descriptions of the same
// messages: the schema files, read by a foreign validator; the neutral model of
// package gen, from which instances and mutations are made; and the generated Go
// types, seen by reflection only. No table in it names a message: a new
// definition is proved as soon as it is generated.

// The model's types are internal to gen, so the proof holds what it needs of
// them in types of its own, filled by field name.
type (
	mPackage struct {
		Folder  string
		Types   []*mType
		Methods []mMethod
	}
	mType struct {
		Pkg     *mPackage
		Name    string
		Topic   string
		Kind    int
		Fields  []mField
		Union   *mUnion
		Enum    *mEnum
		Scalar  int
		Target  *mType
		Extends *mType
	}
	mField struct {
		Name                                       string
		Type                                       mRef
		Required, Nullable, NullClears             bool
		Default                                    json.RawMessage
		DefaultOnError, DefaultOnNull, SkipInvalid bool
		MinLength, MinItems                        uint64
		Minimum, Maximum                           string
		FromMap                                    bool
	}
	mRef struct {
		Kind int
		Type *mType
		Base int
		Elem *mRef
	}
	mEnum struct {
		Values []struct{ Const json.RawMessage }
		Open   bool
	}
	mUnion struct {
		Tag        string
		Branches   []mBranch
		Open       bool
		Optional   bool
		Aliases    map[string]string
		IgnoreCase bool
	}
	mBranch struct {
		Tag      string
		Implicit bool
		Type     *mType
		Ref      *mRef
		Null     bool
	}
	mMethod struct {
		Key, Name      string
		Params, Result *mType
	}
)

// The kinds and bases of gen/internal/model, in its order.
const (
	kObject = iota
	kEnum
	kUnion
	kScalar
	kRaw
	kAlias
)

const (
	toType = iota
	toBase
	toArray
	toMap
	toRaw
	toObject
)

const (
	bString = iota
	bBool
	bInt32
	bInt64
	bUint16
	bUint32
	bUint64
	bFloat64
)

// mirror copies src into dst, matching struct fields by name.
func mirror(dst, src reflect.Value, done map[any]reflect.Value) {
	switch dst.Kind() {
	case reflect.Pointer:
		if src.IsNil() {
			return
		}
		if old, ok := done[src.Pointer()]; ok && old.Type() == dst.Type() {
			dst.Set(old)
			return
		}
		to := reflect.New(dst.Type().Elem())
		dst.Set(to)
		done[src.Pointer()] = to
		mirror(to.Elem(), src.Elem(), done)
	case reflect.Struct:
		for i := range dst.NumField() {
			mirror(dst.Field(i), src.FieldByName(dst.Type().Field(i).Name), done)
		}
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			mirror(dst.Index(i), src.Index(i), done)
		}
	default:
		dst.Set(src.Convert(dst.Type()))
	}
}

// schemaOf maps a generated package to its schema folder.
var schemaOf = map[string]string{
	"acp": "schema/acp/v1", "reasonix": "schema/reasonix/v1", "openai": "schema/openai/v1", "script": "schema/script/v1",
}

// models are the models of the four packages, by package name.
var models = sync.OnceValue(func() map[string]*mPackage {
	out := map[string]*mPackage{}
	for name, folder := range schemaOf {
		pkg, err := gen.Load(os.DirFS("."), folder)
		if err != nil {
			panic(err)
		}
		m := new(mPackage)
		mirror(reflect.ValueOf(&m).Elem(), reflect.ValueOf(pkg), map[any]reflect.Value{})
		out[name] = m
	}
	return out
})

// real looks through aliases.
func (t *mType) real() *mType {
	for t.Kind == kAlias {
		t = t.Target
	}
	return t
}

// inline reports whether a union branch spells the type out: it has a model
// name with an underscore, and no definition of its own.
func (t *mType) inline() bool { return strings.Contains(t.Name, "_") }

// tags are all spellings of the union's tags.
func (u *mUnion) tags() map[string]bool {
	all := map[string]bool{}
	for _, b := range u.Branches {
		all[b.Tag] = true
	}
	for alias := range u.Aliases {
		all[alias] = true
	}
	return all
}

// TestModelMirror: the constants above are those of the model.
func TestModelMirror(t *testing.T) {
	acp := models()["acp"]
	kinds := map[string]int{"PromptRequest": kObject, "StopReason": kEnum, "SessionUpdate": kUnion, "SessionId": kScalar}
	for _, ty := range acp.Types {
		if want, ok := kinds[ty.Name]; ok && ty.Kind != want {
			t.Errorf("%s has kind %d, want %d", ty.Name, ty.Kind, want)
		}
		for _, f := range ty.Fields {
			if f.Name == "_meta" && f.Type.Kind != toObject || f.Name == "rawInput" && f.Type.Kind != toRaw || f.Name == "text" && f.Type.Base != bString {
				t.Errorf("%s.%s has kind %d", ty.Name, f.Name, f.Type.Kind)
			}
		}
		if ty.Name == "ProtocolVersion" && ty.Scalar != bUint16 {
			t.Errorf("%s is %d", ty.Name, ty.Scalar)
		}
	}
}
