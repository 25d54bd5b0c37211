package golang

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/acpkit/acpkit/gen/internal/load"
	"github.com/acpkit/acpkit/gen/internal/model"
	"github.com/acpkit/acpkit/gen/internal/overlay"
)

//go:embed dispatch.go.tmpl
var dispatchText string

// The template writes one file per {{define}}: methods, one per side, calls.
var dispatchTemplate = template.Must(template.New("dispatch").Funcs(template.FuncMap{
	"quote": func(s string) string { return fmt.Sprintf("%q", s) },
	"last":  func(rows []methodGo) int { return len(rows) - 1 },
	"article": func(side string) string {
		if strings.ContainsRune("AEIOU", rune(side[0])) {
			return "an " + strings.ToLower(side)
		}
		return "a " + strings.ToLower(side)
	},
	"comment": func(indent, name, verb, method, doc string) string {
		return overlay.Comment(indent, fmt.Sprintf("%s %s %s. %s", name, verb, method, doc))
	},
}).Parse(dispatchText))

type methodGo struct {
	model.Method
	Go             string // SessionNew
	From           string // "acp." when it is another package's
	Params, Result string
}

// Notification helps the template.
func (m methodGo) Notification() bool { return m.Kind == "notification" }

// Handle is the helper that calls the handler.
func (m methodGo) Handle() string {
	switch {
	case m.AlsoRequest:
		return "handleEither"
	case m.Notification():
		return "handleNotification"
	default:
		return "handleRequest"
	}
}

// Verb is what a call does.
func (m methodGo) Verb() string {
	if m.Notification() {
		return "sends"
	}
	return "calls"
}

// Names lists the methods once each, for the constants and the switch.
func (d dispatchData) Names() []methodGo {
	return slices.DeleteFunc(once(d.Methods), func(m methodGo) bool { return m.From != "" })
}

// Cases are the rows that one method name has on this side: one, or a request
// and a notification.
func (d dispatchData) Cases() [][]methodGo {
	var cases [][]methodGo
	for _, m := range once(d.Own) {
		var rows []methodGo
		for _, o := range d.Own {
			if o.Name == m.Name {
				rows = append(rows, o)
			}
		}
		cases = append(cases, rows)
	}
	return cases
}

func once(all []methodGo) []methodGo {
	var list []methodGo
	for _, m := range all {
		if !slices.ContainsFunc(list, func(o methodGo) bool { return o.Name == m.Name }) {
			list = append(list, m)
		}
	}
	return list
}

// Const is the constant with the method's name.
func (m methodGo) Const() string {
	return m.From + "Method" + strings.TrimSuffix(m.Go, "Notification")
}

// Doc is the comment of a handler or call.
func (m methodGo) Doc() string {
	doc := m.Summary
	if m.Gate != "" {
		doc += " Gate: " + m.Gate + "."
	}
	return strings.TrimSpace(doc)
}

type dispatchData struct {
	// Error is the error object, ErrorCode the type of its code, ErrorData the
	// union of its data, "" when that is any JSON.
	Error, ErrorCode, ErrorData string

	// Base is the package whose tables these extend, "acp" for example.
	Base    string
	Methods []methodGo
	Side    string // Agent or Client
	Own     []methodGo
}

// dispatch writes the method table, the handlers of both sides and the calls.
func (g *emitter) dispatch() error {
	if g.pkg.ErrorType == nil {
		return &load.Error{Pos: load.Pos{File: g.Source, Line: 1, Col: 1}, Msg: "methods need an error object, and no envelope names one",
			Mend: "add the envelope definitions (x-docs-ignore) with an error member"}
	}
	data := dispatchData{Error: g.goName(g.pkg.ErrorType)}
	for i := range g.pkg.ErrorType.Fields {
		switch f := &g.pkg.ErrorType.Fields[i]; {
		case f.Name == "code":
			data.ErrorCode = g.typeOf(f.Type)
		case f.Name == "data" && g.form(f) == nilable && g.fieldType(f) != "json.RawMessage":
			data.ErrorData = g.typeOf(f.Type)
		}
	}
	for _, m := range g.pkg.Methods {
		mg := methodGo{Method: m, Go: g.names.word(m.Key), Params: g.message(m.Params)}
		if m.Result != nil {
			mg.Result = g.message(m.Result)
		}
		if m.Pkg != g.pkg {
			data.Base = g.imports[m.Pkg.Folder].Name
			mg.From = data.Base + "."
		}
		data.Methods = append(data.Methods, mg)
	}
	if err := g.template("methods", data); err != nil {
		return err
	}
	for _, side := range g.sides() {
		data.Side, data.Own = g.names.word(side), nil
		for _, m := range data.Methods {
			if m.Method.Side == side || m.Method.Side == "both" {
				data.Own = append(data.Own, m)
			}
		}
		if err := g.template(side, data); err != nil {
			return err
		}
	}
	return g.template("dispatch", data)
}

// message is the Go type of params or a result: raw JSON unless it is an object.
func (g *emitter) message(t *model.Type) string {
	if real(t).Kind != model.Object {
		return "RawJSON"
	}
	return g.goName(t)
}

// sides are those that handle methods. The JSON-RPC peer handles those of the
// side protocol by itself, and a method of both sides stands with each.
func (g *emitter) sides() []string {
	var sides []string
	for _, m := range g.pkg.Methods {
		if m.Side != "both" && m.Side != "protocol" && !slices.Contains(sides, m.Side) {
			sides = append(sides, m.Side)
		}
	}
	slices.Sort(sides)
	return sides
}

func (g *emitter) template(name string, data dispatchData) error {
	define := name
	if name != "methods" && name != "dispatch" {
		define = "side"
	}
	var b strings.Builder
	if err := dispatchTemplate.ExecuteTemplate(&b, define, data); err != nil {
		return err
	}
	g.write(name+"_gen.go", b.String())
	return nil
}
