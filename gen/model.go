package gen

import "github.com/acpkit/acpkit/gen/internal/model"

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
