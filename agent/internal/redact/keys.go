package redact

import "strings"

// word looks at the word s[from:end], whose beginning may be within a longer run: is it a key, does it begin a token of several
// parts, or does it name a secret that follows? It gives what to hide, or 0, 0.
func word(s string, from, end int) (int, int) {
	for p := from; p < end; p++ {
		if p > from && s[p-1] != '_' && s[p-1] != '-' {
			continue
		}
		if to := key(s, p, end); to > 0 {
			return p, to
		}
	}
	if to := zhipu(s, from, end); to > 0 {
		return from, to
	}
	return named(s, from, end)
}

// shape is the beginning of a family of keys and what must follow.
type shape struct {
	prefix string
	min    int  // bytes behind the prefix
	plain  bool // letters and digits only: with others it is a name, like hf_hub_download
}

// shapes are the families of keys.
var shapes = []shape{
	{"sk-", 16, false}, {"sk_live_", 10, false}, {"sk_test_", 10, false}, {"sk_prod_", 10, false},
	{"rk_live_", 10, false}, {"rk_test_", 10, false}, {"rk_prod_", 10, false},
	{"ghp_", 10, true}, {"gho_", 10, true}, {"ghu_", 10, true}, {"ghs_", 10, true}, {"ghr_", 10, true},
	{"github_pat_", 20, false}, {"glpat-", 16, false}, {"gsk_", 16, true},
	{"hf_", 20, true},
	{"xoxb-", 10, false}, {"xoxp-", 10, false}, {"xoxe-", 10, false}, {"xoxo-", 10, false}, {"xoxs-", 10, false}, {"xoxa-", 10, false},
	{"xapp-", 10, false}, {"xai-", 16, true},
	{"pypi-AgE", 16, false}, {"npm_", 20, true}, {"tgp_", 16, false}, {"AIza", 30, false},
}

// looked bounds how far into a word a rule looks before it decides.
const looked = 64

// key is the end of the key that begins at p, else 0.
func key(s string, p, end int) int {
	switch s[p] {
	case 's', 'r', 'g', 'h', 'x', 'p', 'n', 't', 'A':
	case 'e':
		return jwt(s, p, end)
	default:
		return 0
	}
	if to := aws(s, p, end); to > 0 {
		return to
	}
	for i := range shapes {
		f := &shapes[i]
		if f.prefix[0] != s[p] || !strings.HasPrefix(s[p:end], f.prefix) {
			continue
		}
		tail := s[p+len(f.prefix) : end]
		if to := mask(s, end); to > 0 {
			return to
		}
		head := tail[:min(len(tail), looked)]
		if len(tail) < f.min || f.plain && strings.ContainsAny(head, "_-") || !random(head) {
			continue
		}
		return end
	}
	return 0
}

// random tells a key from a name such as sk-learn-contrib-examples: it has digits, or letters of both cases within its parts.
func random(s string) bool {
	mixed := false
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
		if i > 0 && isLetter(s[i]) && isLetter(s[i-1]) && s[i]&0x20 != s[i-1]&0x20 {
			mixed = true
		}
	}
	return mixed || len(s) >= 30 && !strings.ContainsAny(s, "-_")
}

// mask is the end of a masked rest of a key that continues at i: sk-ab***ae54 or sk-…ae54. 0: none.
func mask(s string, i int) int {
	end := i
	for end < len(s) && end < i+256 && strings.IndexByte("*.", s[end]) >= 0 {
		end++
	}
	dots := strings.IndexByte(s[i:end], '.') >= 0
	if end-i < 3 {
		for _, sign := range [...]string{"…", "•"} {
			for strings.HasPrefix(s[end:], sign) && end < i+256 {
				end += len(sign)
			}
		}
		dots = end > i
	}
	if end-i < 3 {
		return 0
	}
	tail := end
	for tail < len(s) && (isWord(s[tail]) || s[tail] == '-') {
		tail++
	}
	if dots && tail == end { // sk-... in a manual
		return 0
	}
	return tail
}

// aws is the end of the id of an access key at p.
func aws(s string, p, end int) int {
	if end-p < 20 {
		return 0
	}
	switch s[p : p+4] {
	case "AKIA", "ASIA", "ABIA", "ACCA":
	default:
		if s[p:p+3] != "A3T" {
			return 0
		}
	}
	for _, c := range []byte(s[p+4 : p+20]) {
		if !(c >= 'A' && c <= 'Z' || isDigit(c)) {
			return 0
		}
	}
	return end
}

// jwt is the end of the web token at p: parts of base64 with dots between them.
func jwt(s string, p, end int) int {
	if end-p < 10 || s[p:p+3] != "eyJ" || end+1 >= len(s) || s[end] != '.' {
		return 0
	}
	next := wordEnd(s, end+1)
	if next-end-1 < 4 {
		return 0
	}
	for next+1 < len(s) && s[next] == '.' && isWord(s[next+1]) {
		next = wordEnd(s, next+1)
	}
	return next
}

// zhipu is the end of a key of the form id.secret: 32 hexadecimal digits, a dot, 16 or more letters and digits.
func zhipu(s string, from, end int) int {
	if end-from != 32 || end >= len(s) || s[end] != '.' || strings.Trim(s[from:end], "0123456789abcdef") != "" {
		return 0
	}
	next := wordEnd(s, end+1)
	if next-end-1 < 16 || !random(s[end+1:min(next, end+1+looked)]) {
		return 0
	}
	return next
}

// opaque tells a value that somebody generated from a word that somebody chose.
func opaque(s string) bool {
	s = s[:min(len(s), 256)]
	var digits, letters, turns int
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			digits++
		case isLetter(s[i]):
			letters++
			if i > 0 && isLetter(s[i-1]) && s[i]&0x20 != s[i-1]&0x20 {
				turns++
			}
		}
	}
	switch {
	case letters == 0:
		return digits >= 6
	case digits > 0 && len(s) >= 6:
		// Not a name with a number behind it: token1, sha256.
		return len(s) >= 12 || strings.Trim(strings.TrimRight(s, "0123456789"), lowers) != "" || digits > 3
	case len(s) >= 16 && turns*5 >= len(s)*2:
		return true
	}
	return len(s) >= 24 && letters == len(s) && turns*5 < len(s) && turns == 0
}

const lowers = "abcdefghijklmnopqrstuvwxyz"
