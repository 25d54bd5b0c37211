package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// In a case, what is to be hidden stands between « and ».
var hidden = []string{
	// Keys of known shape.
	"«sk-0123456789abcdef0123456789abcdef»", "key «sk-proj-aB3_xY-T3BlbkFJzZ09» here", "«sk-ant-api03-AbCdEfGh-12345678»",
	"«sk-or-v1-0123456789abcdef0123456789abcdef»", "(«sk-abcdefghABCDEFGHijkl»)", "x=«sk-0123456789abcdef0123456789abcdef_tail-tail»",
	"«gsk_abcdefghijklMNOPQ1234567»", "«AIzaSyA0123456789abcdefghijklmnopqrstuv»", "«hf_abcdefghijklmnopqrstuvwxyzABCDEFGH»",
	"«ghp_0123456789abcdefghijABCDEFGHIJ012345»", "«gho_16C7e42F292c6912E7»", "«ghs_abcdefghi0123456789»", "«github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789»",
	"«glpat-abcdefgh12345678-_ab»", "«xoxb-123456789012-abcdefABCDEF»", "«xapp-1-A0123-456-abcdef»",
	"«AKIAIOSFODNN7EXAMPLE»", "«ASIAIOSFODNN7EXAMPLE»", "«sk_live_0123456789abcdef»", "«rk_test_0123456789abcdef»",
	"«pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4»", "«xai-0123456789abcdefABCDEF0123»", "«npm_0123456789abcdefghijABCDEFGHIJ012345»", "«tgp_v1_0123456789abcdefghijkl»",
	"«0123456789abcdef0123456789abcdef.AbCdEf0123456789»",
	`{\"a\":\"x\n«sk-0123456789abcdef0123456789abcdef»\n\"}`, `\u0022«sk-0123456789abcdef0123456789abcdef»\u0022`, "%22«sk-0123456789abcdef0123456789abcdef»%22",
	"\x1b[31m«sk-0123456789abcdef0123456789abcdef»\x1b[0m", "key_«sk-0123456789abcdef0123456789abcdef»", "Schlüssel:«sk-0123456789abcdef0123456789abcdef»…",

	// Web tokens.
	"«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»", "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0».",

	// Headers.
	"Authorization: Bearer «abc»", "authorization:bearer «abc.def~x/y+z==»", "Authorization: Basic «dXNlcjpwYXNz»", "Authorization: «raw-value»",
	"curl -H 'Authorization: Bearer «abcdef»' https://h", `curl -H "Authorization: Bearer «abcdef»" https://h`,
	`{"Authorization":"Bearer «abcdef»","a":1}`, `{\"authorization\":\"Bearer «abcdef»\"}`, "Authorization: Bearer «abcdef»\r\nAccept: */*",
	"Proxy-Authorization: Basic «dXNlcjpwYXNz»", `Authorization: Digest «username="me", response="0123"»`, `["Authorization"] = "Bearer «abcdef»"`,
	"Cookie: «session=abc; theme=dark»", "Set-Cookie: «id=abc; HttpOnly»\nX: y", "x-api-key: «abcdefgh»", "api-key: «abcdefgh»", `"x-api-key": "«abcdefgh»"`, "X-Auth-Token: «abcdefgh»",
	"sent Bearer «mysecretvalue» to", "bearer «0a1b2c3d4e5f»", "Basic «dXNlcjpwYXNzMTIz»",

	// Pairs.
	"token=«abc123»", "token=«abcdef»,x", "api_key=«secretvalue»", "apikey: «abcdef12»", "API-KEY=«v»", `{"api_key":"«abc»"}`, `{"api_key": "«a\"b\\»", "x": 1}`, `{\"token\": \"«abc»\", \"x\":1}`,
	"OPENAI_API_KEY=«abc;&def»", "export DB_PASSWORD=«p@ss,w&rd»", "A=1\nMY_SECRET='«two words»'\nB=2", "password: «hunter2»", "password: «hunter»", "password = «hunter22»", "password=«hunter»",
	"passwd='«x y»'", "secret := \"«abc»\"", "client_secret=«abcdef»&grant=x", "?access_token=«abc»#frag", "https://h/p?key=«abc»&x=1", "https://h/p?a=b&sig=«abc%2Fdef»", "https://h/?x=1&amp;token=«abc»",
	"aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»", "AccountKey=«abcd==»;Endpoint", "accessToken: '«abc»'", `token: "«abc»"`, "token: «0123456789abcdef»", "refresh_token = «Zm9vYmFyYmF6cXV4»",
	"csrf_token%3D«abcdef»", "pwd=«abc123»", `<token value="x"/> secret="«y»"`, "password=«🔑🔑»",
	"Incorrect API key provided: «abcd12345678»", "API key: «abcdef»", "Your api key: «****ae54» is invalid", "invalid credential «a8f3k2b9c1»", "credentials: «a8f3k2b9c1d»", "bad token «0a1b2c3d4e5f6a7b8c9d»",

	// URLs.
	"https://«user:pass»@host/path", "postgres://«u:p%40ss@w»@db:5432/x", "https://«0a1b2c3d4e5f»@github.com/x.git", "redis://«:secret»@h",

	// Masked keys.
	"key «****ae54»", "«sk-ab****************ae54»", "«abcd****ef12» is wrong", "«sk-...ae54»", "«sk-proj-…ae54»", "«******************ae54».",

	// Private keys.
	"a\n«-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----»\nb", "«-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END PRIVATE KEY-----»\\n",
	"«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nthe end is missing", "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nabc\n-----END RSA PRIVATE KEY-----»", "x--«-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAabcdef\n-----END EC PRIVATE KEY-----»",
}

func TestHidden(t *testing.T) {
	var r Redactor
	for _, test := range hidden {
		in := strings.NewReplacer("«", "", "»", "").Replace(test)
		want := ""
		for rest := test; ; {
			before, after, ok := strings.Cut(rest, "«")
			want += before
			if !ok {
				break
			}
			want += Mark
			_, rest, _ = strings.Cut(after, "»")
			if !strings.Contains(after, "»") {
				break
			}
		}
		if got := r.Text(in); got != want {
			t.Errorf("%s\ngives %s\nwant  %s", in, got, want)
		}
	}
}

// What looks a little like a secret and is none.
var shown = []string{
	"", "a", "-", "---", "***", "://", "=", "token=", "token", "sk-", "eyJ", "password:", "-----BEGIN ",
	"pip install scikit-learn sk-learn", "sk-learn-contrib-some-more-things", "task-management-0123456789abcdef", "disk-0123456789abcdef0123", "risk-assessment",
	"max_tokens=4096", `"max_tokens":8192`, "prompt_tokens: 12345678", "tokenizer=abc12345", "tokens=[1,2]", "token_type=bearer", `"token_type":"bearer"`, "eos_token=<eos>", "pad_token_id=12345678",
	"token = next()", "token := lexer.next()", "token = self.token", "token=self.token,", "token=token", "api_key=api_key", "apiKey: api_key", "token: string;", "password: str = None", "token: Token", "token == other1234567", "Token::new12345678", "secret => null",
	"unexpected token: identifier", "Unexpected token } in JSON at position 5", "unexpected token 12", "invalid token: }", "the token is expired", "password: required", "Password must contain", "forgot password?", "a secret garden", "token: 7",
	"api_key=$API_KEY", "password=${PASSWORD}", "token=<your token>", `"token":"{{ token }}"`, `"api_key": ""`, `"token": null`, `{"token":true}`, `"password":"****"`, "password=xxxxxxxx", "OPENAI_API_KEY=...", "sk-...", "token=%s",
	"Bearer token", "Bearer authentication is required", "the bearer of news", "Bearer $TOKEN", "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "authorization: required", "basic usage", "Basic Configuration", "Basic information", "authorization failed", "cookie: a small file",
	"https://host/path@v1", "https://host/@user", "ssh://git@github.com/x", "git@github.com:x/y", "https://example.com/?monkey=abc&keyboard=1", "mailto:me@example.com", "http://localhost:8080/x", "https://$USER:$PASS@host", "key=value", "primary_key=12345678", "sig=abc", "https://h/path?page=2",
	"/**** comment1 ****/", "/****************", "**bold**", "***word***", "a ** b", "**** ", "char ****argv_pointer_name;",
	"d41d8cd98f00b204e9800998ecf8427e.jpg", "commit 0123456789abcdef0123456789abcdef01234567", "hf_hub_download", "npm_config_registry", "npm_package_version_0123456789", "github_pat", "AKIA", "eyJ.x.y",
	"-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----", "grep '-----BEGIN PRIVATE KEY-----' file",
	"credential helper", "no credentials found", "credentials: none", "credential error occurred", "API keys are secret", "API key provided by you", "api key missing",
	"[redacted]", "token=[redacted]", "Authorization: Bearer [redacted]", `"api_key":"[redacted]"`, "https://[redacted]@host", "credential [redacted]", "Cookie: [redacted]", "Bearer [redacted]",
	"Grüße, 世界 🔑", "\xff\xfe",
}

func TestShown(t *testing.T) {
	var r Redactor
	for _, s := range shown {
		if got := r.Text(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func TestLiterals(t *testing.T) {
	r := New("plainword", "  with \"quotes\" & more ", "plain", "abc", "", "redact", "aXbXa")
	for in, want := range map[string]string{
		"xplainwordy plain":                   "x[redacted]y [redacted]",
		`say with "quotes" & more.`:           "say [redacted].",
		`{"k":"with \"quotes\" \u0026 more"}`: `{"k":"[redacted]"}`,
		"?q=with+%22quotes%22+%26+more":       "?q=[redacted]",
		"/with%20%22quotes%22%20&%20more":     "/[redacted]",
		"abc redact":                          "abc redact",
		"aXbXaXbXa":                           "[redacted]",
		"token=plainword":                     "token=[redacted]",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	r := New("literally")
	for _, test := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "lo…"}, {"€€€", 8, "€…"}, {"€€€", 9, "€€€"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"€", 2, ""},
		{"xx literally xx", 100, "xx [redacted] xx"}, {"xx literally", 7, "xx […"}, {"token=abcdefghijklmnop", 12, "token=[re…"},
	} {
		if got := r.Clip(test.in, test.max); got != test.want {
			t.Errorf("%q to %d: %q, want %q", test.in, test.max, got, test.want)
		}
	}
}

// pieceOf draws text that is full of the beginnings and ends of secrets.
func pieceOf() *rapid.Generator[string] {
	words := []string{"token", "api_key", "password", "secret", "credential ", "Authorization: ", "Bearer ", "Basic ", "Cookie: ", "key", "sk-", "ghp_", "eyJ", "AKIA", "hf_",
		"://", "@", ":", "=", " ", "\n", `"`, `\"`, "'", "`", "?", "&", ";", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "****", "ae54", "[redacted]", "[", "]", "{", "}", ".", ",", "-", "_", "\\", "\\n", "%3D", "…", "•", "é", "世", "\xe4", "\x1b[3m",
		"0123456789abcdef", "AbCdEf0123456789xYz", "hunter2", "next", "(", ")", "$", "export ", "api ", "provided: "}
	return rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(words), rapid.SampledFrom(words), rapid.StringN(0, 8, -1))
}

func textOf() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(pieceOf(), 0, 30), func(list []string) string { return strings.Join(list, "") })
}

func TestTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New("literally", "AbCdEf")
		s := textOf().Draw(t, "text")
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Fatalf("%q\nonce  %q\ntwice %q", s, once, twice)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Fatalf("%q is no longer UTF-8: %q", s, once)
		}
	})
}

func TestNoLiteralSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.StringMatching(`[!-~]{4,40}|[a-z]{8}`).Filter(func(s string) bool { return !strings.Contains(Mark, s) && !strings.Contains(s, Mark) }).Draw(t, "literal")
		before, after := textOf().Draw(t, "before"), textOf().Draw(t, "after")
		r := New(literal)
		for _, form := range forms(literal) {
			if got := r.Text(before + form + after); strings.Contains(got, literal) {
				t.Fatalf("%q still holds %q", got, literal)
			}
		}
		max := rapid.IntRange(0, 200).Draw(t, "max")
		if got := r.Clip(before+literal+after, max); len(got) > max || strings.Contains(got, literal) {
			t.Fatalf("clipped to %d: %q", max, got)
		}
	})
}

// A JSON text with secrets as values stays one.
func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"token", "api_key", "message", "Authorization", "password", "cookie", "url"}).Draw(t, "key")
		value := strings.ToValidUTF8(textOf().Draw(t, "value"), "")
		in, err := json.Marshal(map[string]any{"error": map[string]string{key: value, "zz": "end"}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(value, "PRIVATE KEY") || strings.Contains(value, "Authorization: ") || strings.Contains(value, "Cookie: ") {
			return // these go to the end of the text or of the line
		}
		if out := new(Redactor).Text(string(in)); !json.Valid([]byte(out)) {
			t.Fatalf("%s\nbecomes %s", in, out)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range hidden {
		f.Add(strings.NewReplacer("«", "", "»", "").Replace(s))
	}
	for _, s := range shown {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := New("literally", "hunter2")
		once := r.Text(s)
		if strings.Contains(once, "literally") || strings.Contains(once, "hunter2") {
			t.Errorf("%q still holds a literal", once)
		}
		if r.Text(once) != once {
			t.Errorf("%q gives %q, then %q", s, once, r.Text(once))
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("%q is no longer UTF-8", once)
		}
	})
}
