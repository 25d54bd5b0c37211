package golang

import (
	_ "embed"
	"fmt"
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
	"comment": func(indent, name, verb, method, doc string) string {
		return overlay.Comment(indent, fmt.Sprintf("%s %s %s. %s", name, verb, method, doc))
	},
}).Parse(dispatchText))

type methodGo struct {
	model.Method
	Go             string // SessionNew
	Params, Result string
}

// Notification helps the template.
func (m methodGo) Notification() bool { return m.Kind == "notification" }

// Verb is what a call does.
func (m methodGo) Verb() string {
	if m.Notification() {
		return "sends"
	}
	return "calls"
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
	Error   string
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
	for _, m := range g.pkg.Methods {
		mg := methodGo{Method: m, Go: g.names.word(m.Key), Params: g.goName(m.Params)}
		if m.Result != nil {
			mg.Result = g.goName(m.Result)
		}
		data.Methods = append(data.Methods, mg)
	}
	if err := g.template("methods", data); err != nil {
		return err
	}
	for _, side := range []string{"agent", "client"} {
		data.Side, data.Own = strings.ToUpper(side[:1])+side[1:], nil
		for _, m := range data.Methods {
			if m.Method.Side == side {
				data.Own = append(data.Own, m)
			}
		}
		if len(data.Own) > 0 {
			if err := g.template(side, data); err != nil {
				return err
			}
		}
	}
	return g.template("dispatch", data)
}

func (g *emitter) template(name string, data dispatchData) error {
	define := name
	if name == "agent" || name == "client" {
		define = "side"
	}
	var b strings.Builder
	if err := dispatchTemplate.ExecuteTemplate(&b, define, data); err != nil {
		return err
	}
	g.write(name+"_gen.go", b.String())
	return nil
}
