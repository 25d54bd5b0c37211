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

// Object is the kind of a Type that has members of its own.
const Object = model.Object

// Instances returns example values of an object or a union as compact JSON: one
// with the members it must have, one with all, and for a union some per branch.
func Instances(t *Type) []string { return markdown.Instances(t) }
