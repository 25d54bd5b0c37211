package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/fetch"
	"github.com/acpkit/acpkit/agent/internal/permission"
)

// FetchOptions is how web_fetch fetches.
type FetchOptions = fetch.Options

// WebFetch is the tool web_fetch.
func WebFetch(o FetchOptions) Tool {
	return Tool{
		Name:        "web_fetch",
		Description: "Fetch a page from the web as text; HTML is turned into plain text with the links behind their words. Only public addresses, without signing in.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"url":{"type":"string","description":"The address, with https:// or http:// in front."}},` +
			`"required":["url"]}`),
		Kind: KindFetch,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			text, err := args.String("url")
			if err != nil {
				return Invocation{Title: "Fetch a page"}, err
			}
			u, err := fetch.Parse(text)
			if err != nil {
				return Invocation{Title: "Fetch a page"}, err
			}
			inv := Invocation{
				Title:  "Fetch " + label(fetch.Host(u)+strings.TrimSuffix(u.EscapedPath(), "/")),
				Access: permission.Access{Kind: permission.Fetch, Host: fetch.Host(u)},
			}
			inv.Run = func(ctx context.Context) (Output, error) {
				page, err := fetch.Get(ctx, u, o)
				if err != nil {
					return Output{}, err
				}
				return Output{Text: showPage(page)}, nil
			}
			return inv, nil
		},
	}
}

// showPage is a page as the model reads it.
func showPage(p fetch.Page) string {
	var b strings.Builder
	b.WriteString(p.URL + "\n")
	if p.Title != "" {
		b.WriteString(p.Title + "\n")
	}
	b.WriteString("\n")
	switch shown := shorten(p.Text, maxRead); {
	case strings.TrimSpace(p.Text) == "":
		b.WriteString("(the page has no text)")
	case len(shown) < len(p.Text):
		fmt.Fprintf(&b, "%s\n(the page goes on: %d of %d bytes are shown)", shown, maxRead, len(p.Text))
	default:
		b.WriteString(strings.TrimRight(shown, "\n"))
	}
	if p.Cut {
		b.WriteString("\n(only the first 5 MiB were read)")
	}
	return b.String()
}
