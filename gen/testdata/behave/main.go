// Command behave runs the behaviour lines of the generator's cases against the
// generated code. TestCasesBehave compiles it with a file that fills checks and
// compares what it prints: one answer a line, as a JSON array.
//
//	decode TYPE JSON => JSON                         decoded and encoded again; the type by its Go name
//	decode TYPE JSON => error POINTER: MSG           a *DecodeError; the pointer to the whole value is empty
//	handle SIDE KIND METHOD JSON => NAME JSON JSON   the handler called, its params, the empty result
//	handle SIDE KIND METHOD JSON => error CODE: MSG DATA
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
)

func main() {
	out := []string{}
	for _, check := range checks {
		out = append(out, check())
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		panic(err)
	}
}

// object decodes and encodes a type with members.
func object[T any, P interface {
	*T
	json.Unmarshaler
	AppendJSON(b []byte) []byte
}](data string) func() string {
	return union(data, func(data []byte) (*T, error) {
		v := new(T)
		return v, P(v).UnmarshalJSON(data)
	}, func(b []byte, v *T) []byte { return P(v).AppendJSON(b) })
}

// union decodes and encodes a type by its two functions.
func union[T any](data string, dec func([]byte) (T, error), app func([]byte, T) []byte) func() string {
	return func() string {
		v, err := dec([]byte(data))
		if err != nil {
			return fault(err)
		}
		once := app(nil, v)
		if !json.Valid(once) {
			return "not JSON: " + string(once)
		}
		if v, err = dec(once); err != nil {
			return string(once) + ", which is refused: " + fault(err)
		}
		if twice := app(nil, v); string(twice) != string(once) {
			return string(once) + ", which becomes " + string(twice)
		}
		return string(once)
	}
}

// fault prints a *DecodeError of whichever package.
func fault(err error) string {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Pointer || v.Elem().Type().Name() != "DecodeError" {
		return fmt.Sprintf("error that is no *DecodeError: %v", err)
	}
	return fmt.Sprintf("error %s: %s", v.Elem().FieldByName("Pointer"), v.Elem().FieldByName("Msg"))
}

// handle calls a method on handlers that all return nothing.
func handle[H any, P interface {
	*H
	Handle(ctx context.Context, method string, notification bool, params json.RawMessage) (interface{ AppendJSON(b []byte) []byte }, error)
}](kind, method, params string) func() string {
	return func() string {
		h, called := new(H), ""
		for i := range reflect.TypeFor[H]().NumField() {
			field := reflect.TypeFor[H]().Field(i)
			reflect.ValueOf(h).Elem().Field(i).Set(reflect.MakeFunc(field.Type, func(args []reflect.Value) (zero []reflect.Value) {
				called = field.Name + " " + string(args[1].Interface().(interface{ AppendJSON(b []byte) []byte }).AppendJSON(nil))
				for i := range field.Type.NumOut() {
					zero = append(zero, reflect.Zero(field.Type.Out(i)))
				}
				return zero
			}))
		}
		result, err := P(h).Handle(context.Background(), method, kind == "notification", json.RawMessage(params))
		var re interface {
			RPCError() (code int, message string, data json.RawMessage)
		}
		switch {
		case errors.As(err, &re):
			code, message, data := re.RPCError()
			return strings.TrimSpace(fmt.Sprintf("error %d: %s %s", code, message, data))
		case err != nil:
			return err.Error()
		case result == nil:
			return called
		}
		return called + " " + string(result.AppendJSON(nil))
	}
}
