package redact

import (
	"strings"
	"testing"
)

// The text that agents handle most: code, logs and prose without any secret.
const ordinary = "func main() {\n\tfor _, token := range tokens { // the next token is kept\n\t\tslog.Info(\"started\", \"path\", path, \"took\", time.Since(start))\n\t}\n}\n" +
	"2026-11-30T12:00:00Z INFO request done status=200 bytes=5123 url=https://example.com/a/b?page=2 user_agent=\"curl/8\"\nThe quick brown fox jumps over the lazy dog, as it always does.\n"

func BenchmarkText(b *testing.B) {
	r := New("sk-0123456789abcdef0123456789abcdef", "another literal secret")
	clean := strings.Repeat(ordinary, 1<<20/len(ordinary))
	for name, s := range map[string]string{
		"1MB-without": clean,
		"1MB-one":     clean + "sk-0123456789abcdef0123456789abcdef",
		"line":        "cannot reach api.example.com: connection refused",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text(s)
			}
		})
	}
}

// Worst cases: what makes a rule look ahead again and again. They must stay linear.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range []string{"sk-", "sk-a", "token=", "token=$", "token:", "token: token:", "token=token(", "TOKEN=$", "token:',", "token:\"", "token ", "://", "://a:", "-----BEGIN PRIVATE KEY-----\n", "****", "a****bc*", "Authorization: ", "cookie: ", "eyJ.", "credential a1b2c3d4 ", "key ", "api key ", "\\\"", "password='", "a_", "Bearer ", "0123456789abcdef0123456789abcdef."} {
		b.Run(piece, func(b *testing.B) {
			s := strings.Repeat(piece, 256<<10/len(piece))
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				new(Redactor).Text(s)
			}
		})
	}
}
