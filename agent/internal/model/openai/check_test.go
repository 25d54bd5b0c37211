package openai

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent/internal/model"
)

func TestCheck(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"b"},{"id":"some-model"},{"no":"id"}]}`
	for name, test := range map[string]struct {
		models, chat int // status
		list         string
		dialect      *Dialect
		want         Checked
		failed       func(*model.Error) bool
	}{
		"listed":             {200, 500, list, nil, Checked{Listed: true, Models: []string{"b", "some-model"}}, nil},
		"not listed":         {200, 500, `{"data":[{"id":"b"}]}`, nil, Checked{Models: []string{"b"}}, nil},
		"none on offer":      {200, 500, `{"data":null}`, nil, Checked{}, nil},
		"key refused":        {401, 200, `{"error":{"message":"no"}}`, nil, Checked{}, (*model.Error).KeyRefused},
		"no balance":         {402, 200, `{}`, nil, Checked{}, (*model.Error).OutOfFunds},
		"busy":               {503, 200, ``, nil, Checked{}, (*model.Error).Retryable},
		"no list, works":     {404, 200, ``, nil, Checked{Asked: true}, nil},
		"no list, key wrong": {404, 401, ``, nil, Checked{Asked: true}, (*model.Error).KeyRefused},
		"nothing there":      {404, 404, ``, nil, Checked{Asked: true}, (*model.Error).NotFound},
		"no list, odd":       {200, 200, `<html>`, nil, Checked{Asked: true}, nil},
		"public list":        {200, 401, list, &openRouter, Checked{Asked: true, Listed: true, Models: []string{"b", "some-model"}}, (*model.Error).KeyRefused},
		"endless list":       {200, 200, `{"data":[` + strings.Repeat(" ", maxList), nil, Checked{}, func(e *model.Error) bool { return e.Cut }},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "GET" && r.URL.Path == "/v1/models" {
					w.WriteHeader(test.models)
					io.WriteString(w, test.list)
					return
				}
				if test.chat != 200 {
					w.WriteHeader(test.chat)
					return
				}
				pieces(text("OK"), finish("stop"), end)(w, r)
			})
			got, err := e.client(t, Config{BaseURL: e.URL + "/v1", Key: withKey, Dialect: test.dialect}).Check(t.Context())
			if got.Asked != test.want.Asked || got.Listed != test.want.Listed || !slices.Equal(got.Models, test.want.Models) {
				t.Errorf("%+v", got)
			}
			if test.failed == nil && err != nil || test.failed != nil && !test.failed(failure(t, err)) {
				t.Error(err)
			}
			for _, r := range e.seen() {
				if r.header.Get("Authorization") != "Bearer "+key {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		e := serve(t, http.NotFound)
		c := e.client(t, Config{})
		e.Close()
		if _, err := c.Check(t.Context()); !failure(t, err).Unreachable {
			t.Error(err)
		}
	})
}
