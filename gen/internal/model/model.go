// Package model is the neutral picture of a schema folder: objects, enums,
// unions, scalars, methods. It knows kinds, never a particular type or method,
// and no Go syntax; every emitter (Go, Markdown) reads this and nothing else.
package model

import (
	"encoding/json"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// Package is one schema folder.
type Package struct {
	// Folder is the path of the schema folder or file.
	Folder  string
	Imports []*Package
	Topics  []load.Topic
	Types   []*Type // in the order of the files
	Methods []Method
	// Contract is what contract.json promises, empty when there is none.
	Contract []ContractRow
	// ErrorType is the object that the envelopes carry in their `error`
	// member, nil when the folder has no envelopes.
	ErrorType *Type
	byName    map[string]*Type
}

// Type returns the type of this schema name, or nil.
func (p *Package) Type(name string) *Type { return p.byName[name] }

// Kind is what a definition is.
type Kind int

// The kinds of definition.
const (
	Object Kind = iota // members; perhaps a union beside them
	Enum               // string or integer constants, closed or open
	Union              // one of several shapes
	Scalar             // a named string, number or boolean
	Raw                // any JSON
	Alias              // another name of Target
)

// Type is a definition, or an object that a union branch spells out inline.
type Type struct {
	Pkg   *Package
	Name  string // the schema's word
	Topic string
	Doc   string
	Pos   load.Pos
	Kind  Kind

	Fields []Field // Object
	// Union is set for Kind Union, and for an Object whose branch members are
	// written flat beside its own.
	Union *UnionOf
	Enum  *EnumOf
	// Scalar is the base of Kind Scalar and Enum.
	Scalar Base
	Target *Type // Alias

	// Extends is the imported type that this one is an extended copy of.
	Extends *Type

	Method, Side string // x-method, x-side
}

// Base is a JSON scalar with its width.
type Base int

// The scalar bases.
const (
	String Base = iota
	Bool
	Int32
	Int64
	Uint16
	Uint32
	Uint64
	Float64
)

// Field is a member of an object.
type Field struct {
	Name string // wire name
	Doc  string
	Pos  load.Pos
	Type Ref

	Required bool
	// Nullable: null is allowed and means absent, unless NullClears.
	Nullable   bool
	NullClears bool
	// Default is the JSON text that absent stands for, nil when there is none.
	Default json.RawMessage
	// The three leniency keywords: a bad value, or null, becomes the default
	// or absent; bad items of an array are dropped.
	DefaultOnError, DefaultOnNull, SkipInvalid bool

	MinLength        uint64
	MinItems         uint64
	Minimum, Maximum string // number tokens beyond what the base's width says
	// FromMap: an array of name and value may also come as an object.
	FromMap bool
}

// RefKind says what a Ref refers to.
type RefKind int

// The kinds of reference.
const (
	ToType   RefKind = iota // a named type
	ToBase                  // a scalar
	ToArray                 // of Elem
	ToMap                   // string keys, values of Elem
	ToRaw                   // any JSON
	ToObject                // any JSON object
)

// Ref is the type of a member, an item or a map value.
type Ref struct {
	Kind RefKind
	Type *Type
	Base Base
	Elem *Ref
}

// EnumOf holds the constants of an enum.
type EnumOf struct {
	Values []EnumValue
	Open   bool // any other value is allowed
}

// EnumValue is one constant; Const is its JSON text.
type EnumValue struct {
	Const json.RawMessage
	Title string
	Doc   string
}

// UnionOf holds the branches of a union.
type UnionOf struct {
	// Tag is the member that tells the branches apart, "" for an untagged
	// union (told apart by JSON type or by required members).
	Tag      string
	Branches []Branch
	// Open: a tag that no branch has is allowed by the schema. Readers keep
	// unknown tags either way, because the peer may be newer.
	Open bool
	Pos  load.Pos
	// Optional: the tag may be absent, and there is no variant then.
	Optional bool
	// Aliases are other spellings of tags; IgnoreCase takes any case of them.
	Aliases    map[string]string
	IgnoreCase bool
}

// Branch is one shape of a union.
type Branch struct {
	// Tag is the value of the tag member. For the branch without a tag it is
	// the branch's title, and Implicit is set: it is taken when the tag is
	// absent or says so.
	Tag      string
	Implicit bool
	Title    string
	Doc      string
	// Type is the object behind the branch; nil for a tag without members, or
	// for a scalar, array or null branch.
	Type *Type
	// Ref is the shape of a branch that is not an object.
	Ref  *Ref
	Null bool
	// Inline: Type was spelled out in the branch and belongs to it alone.
	Inline bool
}

// Method is one row of methods.json.
type Method struct {
	Pkg       *Package // whose table it is in
	Key, Name string
	Side      string // agent, client, protocol: who handles it
	Kind      string // request or notification
	// AlsoRequest: a notification that is answered when it comes as a request.
	AlsoRequest bool
	Params      *Type
	Result      *Type // nil for a notification
	Gate        string
	Since       string
	Summary     string
}
