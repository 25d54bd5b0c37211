package gen

import (
	"github.com/acpkit/acpkit/gen/internal/markdown"
	"github.com/acpkit/acpkit/gen/internal/model"
)

// The neutral picture of a schema, for tools and tests beside the generator.
type (
	Package = model.Package
	Type    = model.Type
	Field   = model.Field
	Ref     = model.Ref
	Method  = model.Method
)

// The kinds of Type and Ref.
const (
	Object = model.Object
	Enum   = model.Enum
	Union  = model.Union
	Scalar = model.Scalar
	Alias  = model.Alias

	ToType   = model.ToType
	ToBase   = model.ToBase
	ToArray  = model.ToArray
	ToMap    = model.ToMap
	ToObject = model.ToObject

	String = model.String
	Bool   = model.Bool
)

// Instances returns example values of an object or a union as compact JSON: one
// with the members it must have, one with all, and for a union some per branch.
func Instances(t *Type) []string { return markdown.Instances(t) }
