package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Args are the arguments of a call: an object whose members are still raw. Member names are matched exactly, null counts
// as absent, and members that the tool does not know are ignored. The getters' errors name the member.
type Args map[string]json.RawMessage

// ParseArgs reads the arguments as the model sent them. Nothing at all counts as an empty object, as some providers send.
func ParseArgs(raw json.RawMessage) (Args, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return Args{}, nil
	}
	var args Args
	err := json.Unmarshal(raw, &args)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return nil, errors.New("the arguments are not a JSON object")
	case err != nil:
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	return args, nil
}

// Has reports whether the member is there and not null.
func (a Args) Has(name string) bool {
	raw := a[name]
	return raw != nil && string(raw) != "null"
}

// String is a required string; it may be empty.
func (a Args) String(name string) (string, error) {
	var s string
	if !a.Has(name) {
		return "", fmt.Errorf("%s is missing", name)
	}
	if json.Unmarshal(a[name], &s) != nil {
		return "", fmt.Errorf("%s must be a string", name)
	}
	return s, nil
}

// Int is an optional whole number that is at least min; 10.0 counts as 10, for models that count in floats.
func (a Args) Int(name string, absent, min int) (int, error) {
	if !a.Has(name) {
		return absent, nil
	}
	var n float64
	if json.Unmarshal(a[name], &n) != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		return 0, fmt.Errorf("%s must be a whole number", name)
	}
	if n < float64(min) {
		return 0, fmt.Errorf("%s must be at least %d", name, min)
	}
	return int(n), nil
}

// Bool is an optional truth value, false when absent.
func (a Args) Bool(name string) (bool, error) {
	var b bool
	if a.Has(name) && json.Unmarshal(a[name], &b) != nil {
		return false, fmt.Errorf("%s must be true or false", name)
	}
	return b, nil
}

// Objects is a required array of objects that is not empty.
func (a Args) Objects(name string) ([]Args, error) {
	if !a.Has(name) {
		return nil, fmt.Errorf("%s is missing", name)
	}
	var list []Args
	if json.Unmarshal(a[name], &list) != nil {
		return nil, fmt.Errorf("%s must be an array of objects", name)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	return list, nil
}
