package tool

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

func TestWebFetch(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			fmt.Fprint(w, "<!doctype html><title>T</title><p>Hello <a href=/x>there</a>")
		case "/empty":
			w.Header().Set("Content-Type", "text/plain")
		case "/long":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("é", maxRead))
		}
	}))
	defer site.Close()
	fetch := WebFetch(FetchOptions{AllowPrivate: []string{"127.0.0.1"}, UserAgent: "reasonix/0"})
	host := strings.TrimPrefix(site.URL, "http://")
	inv, err := prepare(t, fetch, `{"url":"`+site.URL+`/page?q=1#top"}`)
	if err != nil {
		t.Fatal(err)
	}
	run1 := inv.Run
	inv.Run = nil
	if d := cmp.Diff(Invocation{Title: "Fetch " + host + "/page", Access: permission.Access{Kind: permission.Fetch, Host: host}}, inv); d != "" {
		t.Error(d)
	}
	if out, err := run1(t.Context()); err != nil || out.Text != site.URL+"/page?q=1\nT\n\nHello there ("+site.URL+"/x)" {
		t.Errorf("%q, %v", out.Text, err)
	}
	if out, err := run(t, fetch, `{"url":"`+site.URL+`/empty"}`); err != nil || out.Text != site.URL+"/empty\n\n(the page has no text)" {
		t.Errorf("%q, %v", out.Text, err)
	}
	out, err := run(t, fetch, `{"url":"`+site.URL+`/long"}`)
	if want := fmt.Sprintf("…\n(the page goes on: %d of %d bytes are shown)", maxRead, 2*maxRead); err != nil || !strings.HasSuffix(out.Text, want) || len(out.Text) > maxRead+200 {
		t.Errorf("%d bytes, %.200q, %v", len(out.Text), out.Text[len(out.Text)-100:], err)
	}
	for args, want := range map[string]string{
		`{}`:                           "url is missing",
		`{"url":7}`:                    "url must be a string",
		`{"url":"file:///etc/passwd"}`: `url has the scheme "file"; only http and https can be fetched`,
	} {
		if inv, err := prepare(t, fetch, args); err == nil || err.Error() != want || inv.Title != "Fetch a page" {
			t.Errorf("%s: %q, %v", args, inv.Title, err)
		}
	}
	if _, err := run(t, WebFetch(FetchOptions{}), `{"url":"`+site.URL+`"}`); err == nil || !strings.Contains(err.Error(), "not public") {
		t.Errorf("a private address: %v", err)
	}
}
