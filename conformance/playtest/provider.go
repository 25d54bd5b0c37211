package playtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acpkit/acpkit/conformance/provider"
)

// The variables by which a testscript knows its model server. A play shows their values as $PROVIDER_URL and
// $PROVIDER_ADDR, so that the port, which differs from run to run, stays out of transcripts.
const (
	providerURL  = "PROVIDER_URL"  // http://127.0.0.1:41234
	providerAddr = "PROVIDER_ADDR" // 127.0.0.1:41234
)

// Provider is the testscript command
//
//	provider [-script file] [file…]
//
// It starts a fake model server (package conformance/provider), which ends with the testscript, and sets $PROVIDER_URL and
// $PROVIDER_ADDR. The script is the file $WORK/provider.jsonl unless another is named; without any, scripts ride in prompts.
// Testscript does not expand what stands in an archive, so in each file that is named as an argument, such as an agent's
// configuration, the command puts the values in place of ${PROVIDER_URL} and ${PROVIDER_ADDR}, with or without braces:
//
//	provider home/config.toml
//	play reasonix acp
//	cmp stdout transcript
//	requests
//	stdout '^1 POST /v1/chat/completions done \{"model":"m",'
//	-- home/config.toml --
//	[[providers]]
//	name = "fake"
//	kind = "openai"
//	base_url = "$PROVIDER_URL/v1"
//	-- provider.jsonl --
//	{"text":"Hello."}
func Provider(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	file := flags.String("script", "", "")
	if err := flags.Parse(args); err != nil || neg {
		ts.Fatalf("usage: provider [-script file] [file…] (%v)", err)
	}
	var cfg provider.Config
	if *file != "" {
		cfg.Script = []byte(ts.ReadFile(*file))
	} else if data, err := os.ReadFile(filepath.Join(ts.Getenv("WORK"), "provider.jsonl")); err == nil {
		cfg.Script = data
	}
	s, err := provider.Start(cfg)
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv(providerURL, s.URL())
	ts.Setenv(providerAddr, strings.TrimPrefix(s.URL(), "http://"))
	names := providerNames(ts)
	for _, name := range flags.Args() {
		before := ts.ReadFile(name)
		after := before
		for _, v := range []string{providerURL, providerAddr} {
			after = strings.NewReplacer("${"+v+"}", names[v], "$"+v, names[v]).Replace(after)
		}
		if after == before {
			ts.Fatalf("provider: %s has no $%s", name, providerURL)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(after), 0o600))
	}
}

// providerNames are the values that a play gives names to; nil without a server.
func providerNames(ts *testscript.TestScript) map[string]string {
	if ts.Getenv(providerURL) == "" {
		return nil
	}
	return map[string]string{providerURL: ts.Getenv(providerURL), providerAddr: ts.Getenv(providerAddr)}
}

// Requests is the testscript command
//
//	requests
//
// It leaves as stdout what the model server has got, one line per request: number, method, path, state, body. The body is
// as it was sent, or a Go string if it is not one line of UTF-8; $WORK, $PROVIDER_URL and $PROVIDER_ADDR stand for their
// values. What else is recorded is for GET /_requests.
func Requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 || ts.Getenv(providerURL) == "" {
		ts.Fatalf("usage: requests, after provider")
	}
	resp, err := http.Get(ts.Getenv(providerURL) + "/_requests")
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	var list []struct {
		Number              int
		Method, Path, State string
		Body                string
		BodyBase64          []byte
	}
	ts.Check(json.Unmarshal(data, &list))
	var out strings.Builder
	for _, r := range list {
		body := r.Body + string(r.BodyBase64)
		if strings.ContainsAny(body, "\r\n") || r.BodyBase64 != nil {
			body = fmt.Sprintf("%q", body)
		}
		fmt.Fprintf(&out, "%d %s %s %s %s\n", r.Number, r.Method, r.Path, r.State, body)
	}
	text := out.String()
	for _, name := range []string{"WORK", providerURL, providerAddr} {
		text = strings.ReplaceAll(text, ts.Getenv(name), "$"+name)
	}
	io.WriteString(ts.Stdout(), text)
}
