package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// serve starts a site on 127.0.0.1 and gives its address.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func get(t *testing.T, address string, o Options) (Page, error) {
	t.Helper()
	u, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Get(t.Context(), u, o)
}

func local() Options {
	return Options{AllowPrivate: []string{"127.0.0.1", "localhost"}, UserAgent: "reasonix/1.2.3"}
}

func TestParse(t *testing.T) {
	good := map[string]string{
		"https://Example.com./a?b#c":  "example.com",
		"http://example.com:80/":      "example.com",
		"https://example.com:443":     "example.com",
		"https://example.com:80/":     "example.com:80",
		" http://[2001:DB8::1]:8080/": "[2001:db8::1]:8080",
		"HTTP://example.com":          "example.com",
	}
	for text, host := range good {
		if u, err := Parse(text); err != nil || Host(u) != host || u.Fragment != "" {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
	bad := map[string]string{
		"":                                     "url must begin with https:// or http://",
		"example.com/x":                        "url must begin with https:// or http://",
		"//example.com":                        "url must begin with https:// or http://",
		"file:///etc/passwd":                   `url has the scheme "file"; only http and https can be fetched`,
		"ftp://example.com":                    `url has the scheme "ftp"; only http and https can be fetched`,
		"http:///x":                            "url has no host",
		"https://me:secret@x.com":              "url must not contain a user name or password",
		"https://x.com:port":                   "url is malformed",
		"https://" + strings.Repeat("x", 9000): "url is longer than 8000 bytes",
	}
	for text, want := range bad {
		if u, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, %v; want %s", text, u, err, want)
		}
	}
}

func TestGet(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, strings.Repeat("0123456789", maxBody/10+100))
	w.Close()
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		switch r.URL.Path {
		case "/text":
			head.Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprint(w, "<b>é</b>\n")
		case "/latin":
			head.Set("Content-Type", "text/plain; charset=ISO-8859-1")
			fmt.Fprint(w, "caf\xe9")
		case "/meta":
			head.Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><head><meta http-equiv=Content-Type content='text/html; charset=windows-1251'><title>\xcf</title></head><p>\xcf\xf0\xe8\xe2\xe5\xf2")
		case "/meta5":
			head.Set("Content-Type", "text/html")
			fmt.Fprint(w, "<meta charset=\"gbk\"><p>\xc4\xe3\xba\xc3")
		case "/json":
			head.Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"a": 1}`)
		case "/untyped":
			head.Set("Content-Type", "")
			fmt.Fprint(w, "just words")
		case "/svg":
			head.Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, "<svg/>")
		case "/gzip":
			head.Set("Content-Type", "text/plain")
			head.Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
		case "/png":
			head.Set("Content-Type", "image/png")
		case "/binary":
			head.Set("Content-Type", "application/octet-stream")
			fmt.Fprint(w, "a\x00b")
		case "/head":
			fmt.Fprint(w, r.UserAgent(), " ", r.Header["Cookie"], r.Header["Referer"], r.Header["Authorization"])
		case "/cookie":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
			http.Redirect(w, r, "/head", http.StatusFound)
		default:
			http.Error(w, "none", http.StatusNotFound)
		}
	})
	tests := []struct{ path, text, err string }{
		{"/text", "<b>é</b>\n", ""},
		{"/latin", "café", ""},
		{"/meta", "Привет", ""},
		{"/meta5", "你好", ""},
		{"/json", `{"a": 1}`, ""},
		{"/untyped", "just words", ""},
		{"/svg", "<svg/>", ""},
		{"/head", "reasonix/1.2.3 [] [] []", ""},
		{"/cookie", "reasonix/1.2.3 [] [] []", ""},
		{"/png", "", site + "/png is image/png, not text"},
		{"/binary", "", site + "/binary is not text (application/octet-stream)"},
		{"/none", "", strings.TrimPrefix(site, "http://") + " answers 404 Not Found"},
	}
	for _, test := range tests {
		page, err := get(t, site+test.path, local())
		if test.err == "" && (err != nil || page.Text != test.text || page.Cut) || test.err != "" && (err == nil || err.Error() != test.err) {
			t.Errorf("%s: %+v, %v", test.path, page, err)
		}
	}
	if page, err := get(t, site+"/gzip", local()); err != nil || len(page.Text) != maxBody || !page.Cut {
		t.Errorf("a large packed page: %d bytes, cut %t, %v", len(page.Text), page.Cut, err)
	}
	if page, err := get(t, site+"/cookie", local()); err != nil || page.URL != site+"/head" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestRedirects(t *testing.T) {
	asked := 0
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { asked++; fmt.Fprint(w, "there") })
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		switch _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); {
		case err == nil && n > 0:
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusMovedPermanently)
		case err == nil:
			fmt.Fprint(w, "end")
		case r.URL.Path == "/other":
			http.Redirect(w, r, other, http.StatusFound)
		case r.URL.Path == "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case r.URL.Path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/private":
			http.Redirect(w, r, "http://[::1]:1/", http.StatusFound)
		}
	})
	host, otherHost := strings.TrimPrefix(site, "http://"), strings.TrimPrefix(other, "http://")
	if page, err := get(t, site+"/10", local()); err != nil || page.Text != "end" {
		t.Errorf("ten: %+v, %v", page, err)
	}
	if _, err := get(t, site+"/11", local()); err == nil || err.Error() != "there are more than 10 redirects" {
		t.Errorf("eleven: %v", err)
	}
	if _, err := get(t, site+"/other", local()); err == nil || err.Error() != host+" redirects to another host: fetch "+other || asked != 0 {
		t.Errorf("without Approve: %v, asked %d times", err, asked)
	}
	o := local()
	o.Approve = func(_ context.Context, h string) error { return errors.New("no to " + h) }
	if _, err := get(t, site+"/other", o); err == nil || err.Error() != host+" redirects to "+otherHost+": no to "+otherHost || asked != 0 {
		t.Errorf("refused: %v, asked %d times", err, asked)
	}
	o.Approve = func(context.Context, string) error { return nil }
	if page, err := get(t, site+"/other", o); err != nil || page.Text != "there" || asked != 1 {
		t.Errorf("approved: %+v, %v", page, err)
	}
	if _, err := get(t, site+"/private", o); err == nil || err.Error() != "[::1]:1 has the address ::1, which is not public; it is not fetched" {
		t.Errorf("private in spite of Approve: %v", err)
	}
	for path, want := range map[string]string{"/file": "only http and https", "/nowhere": "redirects to nowhere"} {
		if _, err := get(t, site+path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A name is judged by what it resolves to, when it is dialled.
func TestPrivateIsRefused(t *testing.T) {
	asked := 0
	site := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	port := site[strings.LastIndex(site, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "localhost.", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "127.1"} {
		if _, err := get(t, "http://"+host+port, Options{}); err == nil {
			t.Errorf("%s: fetched", host)
		}
	}
	if asked != 0 {
		t.Errorf("the server was asked %d times", asked)
	}
	if _, err := get(t, "http://localhost"+port, Options{AllowPrivate: []string{"127.0.0.1"}}); err == nil || !strings.Contains(err.Error(), "which is not public") {
		t.Errorf("another name of an allowed host: %v", err)
	}
	if _, err := get(t, site, Options{AllowPrivate: []string{"127.0.0.1"}}); err != nil || asked != 1 {
		t.Errorf("allowed: %v", err)
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "192.0.1.1": true, "100.128.0.1": true, "172.32.0.1": true, "2606:4700::1111": true, "64:ff9b::8.8.8.8": true, "2002:808:808::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.1": false, "127.0.0.1": false, "127.9.9.9": false, "169.254.169.254": false, "172.16.0.1": false,
		"192.168.1.1": false, "198.18.0.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:10.0.0.1": false, "::ffff:8.8.8.8": true, "::10.0.0.1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false,
		"fec0::1": false, "ff02::1": false, "64:ff9b::10.0.0.1": false, "2002:a00:1::1": false, "2001::1": false, "2001:db8::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	site := serve(t, func(http.ResponseWriter, *http.Request) { cancel(); <-release })
	defer close(release)
	u, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Get(ctx, u, local()); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
