package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// methodRow is a row of methods.json as written.
type methodRow struct {
	Key     string `json:"key"`
	Method  string `json:"method"`
	Side    string `json:"side"`
	Kind    string `json:"kind"`
	Params  string `json:"params"`
	Result  string `json:"result,omitempty"`
	Gate    string `json:"gate,omitempty"`
	Since   string `json:"since,omitempty"`
	Summary string `json:"summary"`
}

// methods fills the method table: from methods.json, or from the envelopes of a
// schema that comes without one.
func (b *builder) methods() error {
	if f := b.set.MethodsFile; f != nil {
		return b.pkg.addMethods(f.Name, f.Data)
	}
	return b.pkg.methodsFromEnvelopes(b.set)
}

// addMethods reads methods.json and links each row to its types. Types and
// methods must agree both ways through x-method and x-side.
func (p *Package) addMethods(file string, data []byte) error {
	var doc struct {
		Methods []methodRow `json:"methods"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return jsonError(file, data, dec.InputOffset(), err)
	}
	var errs []error
	at := func(r methodRow) load.Pos { return find(file, data, `"`+r.Method+`"`) }
	named := map[*Type]bool{}
	for i, r := range doc.Methods {
		m, err := p.method(r, at(r))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, old := range doc.Methods[:i] {
			if old.Key == r.Key || old.Method == r.Method {
				errs = append(errs, load.Errorf(at(r), "method %s (%s) stands twice", r.Method, r.Key))
			}
		}
		named[m.Params], named[m.Result] = true, true
		p.Methods = append(p.Methods, m)
	}
	for _, t := range p.Types {
		if t.Method != "" && !named[t] && t.Extends == nil {
			errs = append(errs, &load.Error{Pos: t.Pos, Msg: fmt.Sprintf("%s says x-method %q, but no row of %s has it as params or result", t.Name, t.Method, file),
				Mend: "add the row or remove the keyword"})
		}
	}
	return errors.Join(errs...)
}

func (p *Package) method(r methodRow, at load.Pos) (Method, error) {
	m := Method{Pkg: p, Key: r.Key, Name: r.Method, Side: r.Side, Kind: r.Kind, Gate: r.Gate, Since: r.Since, Summary: r.Summary}
	switch {
	case r.Key == "" || r.Method == "" || r.Summary == "" || r.Params == "":
		return m, &load.Error{Pos: at, Msg: fmt.Sprintf("method %q lacks a key, a method, params or a summary", r.Method), Mend: "fill all four"}
	case !slices.Contains([]string{"agent", "client", "protocol"}, r.Side):
		return m, &load.Error{Pos: at, Msg: fmt.Sprintf("side %q of %s", r.Side, r.Method), Mend: "a side is agent, client or protocol"}
	case r.Kind != "request" && r.Kind != "notification":
		return m, &load.Error{Pos: at, Msg: fmt.Sprintf("kind %q of %s", r.Kind, r.Method), Mend: "a kind is request or notification"}
	case (r.Kind == "request") != (r.Result != ""):
		return m, &load.Error{Pos: at, Msg: r.Method + ": a request has a result and a notification has none"}
	}
	link := func(name string) (*Type, error) {
		t := p.byName[name]
		switch {
		case t == nil:
			return nil, &load.Error{Pos: at, Msg: fmt.Sprintf("%s names %q, which is not defined", r.Method, name), Mend: "define it or correct the name"}
		case t.Method != r.Method || t.Side != r.Side:
			return nil, &load.Error{Pos: t.Pos, Msg: fmt.Sprintf("%s says x-method %q, x-side %q, but methods.json says %q, %q", name, t.Method, t.Side, r.Method, r.Side),
				Mend: "make both say the same"}
		}
		return t, nil
	}
	var err error
	if m.Params, err = link(r.Params); err != nil {
		return m, err
	}
	if r.Result != "" {
		m.Result, err = link(r.Result)
	}
	return m, err
}

// find gives the position of the first occurrence of text.
func find(file string, data []byte, text string) load.Pos {
	return load.At(file, data, bytes.Index(data, []byte(text)))
}

func jsonError(file string, data []byte, at int64, err error) error {
	var se *json.SyntaxError
	if errors.As(err, &se) {
		at = se.Offset
	}
	return &load.Error{Pos: load.At(file, data, int(at)), Msg: err.Error()}
}
