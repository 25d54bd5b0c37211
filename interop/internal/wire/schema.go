package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a published ACP schema, ready to judge messages. The envelope definitions are not used: they hold branches that
// accept anything. What says something is the definition of the method, found by x-method and x-side.
type Schema struct {
	methods map[methodSide]definitions
	errorOf *jsonschema.Schema
}

type methodSide struct{ method, side string }

// definitions are those of one method; nil is none.
type definitions struct{ request, response, notification *jsonschema.Schema }

// errorDefinition is the error member of a response.
const errorDefinition = "Error"

// LoadSchema reads a schema file.
func LoadSchema(file string) (*Schema, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	root, _ := doc.(map[string]any)
	defs, ok := root["$defs"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: no $defs", file)
	}
	// Without the root schema, whose unions are those of the envelope.
	byTag := map[string]any{"$schema": root["$schema"], "$defs": schemas(defs)}
	c := jsonschema.NewCompiler()
	const url = "acp:///schema.json"
	if err := c.AddResource(url, byTag); err != nil {
		return nil, err
	}
	s := &Schema{methods: map[methodSide]definitions{}}
	for name, def := range defs {
		d, _ := def.(map[string]any)
		method, _ := d["x-method"].(string)
		side, _ := d["x-side"].(string)
		if method == "" && name != errorDefinition {
			continue
		}
		compiled, err := c.Compile(url + "#/$defs/" + name)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		if name == errorDefinition {
			s.errorOf = compiled
			continue
		}
		key := methodSide{method, side}
		m := s.methods[key]
		switch {
		case strings.HasSuffix(name, "Request"):
			m.request = compiled
		case strings.HasSuffix(name, "Response"):
			m.response = compiled
		case strings.HasSuffix(name, "Notification"):
			m.notification = compiled
		default:
			return nil, fmt.Errorf("%s: %s of method %s is no request, response or notification", file, name, method)
		}
		s.methods[key] = m
	}
	if s.errorOf == nil || len(s.methods) == 0 {
		return nil, fmt.Errorf("%s: no methods, or no definition %s", file, errorDefinition)
	}
	return s, nil
}

// find returns the definitions of a method that side handles, and which side does if it is the other one.
func (s *Schema) find(method, side string) (d definitions, ok bool, other string) {
	for _, key := range []methodSide{{method, side}, {method, "protocol"}, {method, "both"}} {
		if d, ok = s.methods[key]; ok {
			return d, true, ""
		}
	}
	for key := range s.methods {
		if key.method == method {
			return d, false, key.side
		}
	}
	return d, false, ""
}

// printer is for the messages of the schema library.
var printer = message.NewPrinter(language.English)

// check returns what is wrong with a value, one entry per place; nothing when it fits.
func check(schema *jsonschema.Schema, value json.RawMessage) []string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return []string{err.Error()}
	}
	err = schema.Validate(v)
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return []string{err.Error()}
	}
	return leaves(invalid, nil)
}

func leaves(e *jsonschema.ValidationError, list []string) []string {
	if len(e.Causes) == 0 {
		return append(list, fmt.Sprintf("at /%s: %s", strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer)))
	}
	for _, c := range e.Causes {
		list = leaves(c, list)
	}
	return list
}
