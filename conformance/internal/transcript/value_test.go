package transcript

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever is valid must come out as json.Compact has it: same order, same spelling, duplicates kept.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"b":1,"a":[true,null,-1.5e3,""],"b":{}}`, ` [ ] `, `"\ud83d\ude00\"\\"`, `{"":{"":[[{}],"{,]"]}}`, `12`, `{"a":"b\\","c":"\/"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		v, err := parseValue([]byte(src))
		if err != nil {
			if json.Valid([]byte(src)) {
				t.Fatalf("valid JSON refused: %v", err)
			}
			return
		}
		want := compact(src)
		if got := v.String(); got != want {
			t.Errorf("%q printed as %q", want, got)
		}
		var b strings.Builder
		v.print(&b, "", "", rewrite{str: func(_, _, s string) string { return s }})
		if b.String() != want {
			t.Errorf("%q rewritten to %q by a function that changes nothing", want, b.String())
		}
	})
}

// compact leaves out the white space of valid JSON.
func compact(src string) string {
	var b strings.Builder
	inString, escaped := false, false
	for i := 0; i < len(src); i++ {
		c := src[i]
		if !inString && strings.IndexByte(" \t\r\n", c) >= 0 {
			continue
		}
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		}
	}
	return b.String()
}

func TestDepth(t *testing.T) {
	deep := strings.Repeat("[", 9999) + strings.Repeat("]", 9999)
	if v, err := parseValue([]byte(deep)); err != nil || v.String() != deep {
		t.Errorf("9,999 levels: %v", err)
	}
	if _, err := parseValue([]byte("[" + deep + "]" + "]")); err == nil {
		t.Error("an unbalanced bracket is accepted")
	}
	if _, err := parseValue([]byte("[[" + deep + "]]")); err == nil {
		t.Error("more levels than encoding/json allows are accepted")
	}
}
