package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func stream(r *Redactor, pieces ...string) string {
	s := r.NewStream()
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(s.Write(piece))
	}
	return b.String() + s.Flush()
}

func TestStreamAtEachByte(t *testing.T) {
	r := New("several\nlines\nhere", "plainly")
	for _, test := range append(hidden, "say plainly\nseveral\nlines\nhere and several\nlines") {
		whole := "first\n" + strings.NewReplacer("«", "", "»", "").Replace(test) + "\nlast\n"
		want := r.Text(whole)
		if got := stream(r, strings.Split(whole, "")...); got != want {
			t.Errorf("character by character: %q, want %q", got, want)
		}
		for i := range whole {
			if got := stream(r, whole[:i], whole[i:]); got != want {
				t.Fatalf("%q cut at %d: %q, want %q", whole, i, got, want)
			}
		}
	}
}

func TestStreamIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New("literally", "two\nlines")
		pieces := rapid.SliceOf(rapid.OneOf(textOf(), rapid.SampledFrom([]string{"\n", "two", "two\nli", "nes", "lit", "erally", "-----BEGIN PRIV", "ATE KEY-----", "MIIEpAIBAAKCAQEA"}))).Draw(t, "pieces")
		want := r.Text(strings.Join(pieces, ""))
		if got := stream(r, pieces...); got != want {
			t.Fatalf("%q\nwant %q", got, want)
		}
	})
}

func TestStreamGivesLinesOut(t *testing.T) {
	s := New().NewStream()
	if got := s.Write("one\ntwo"); got != "one\n" {
		t.Errorf("%q", got)
	}
	if got := s.Write("\n"); got != "two\n" {
		t.Errorf("%q", got)
	}
	if got := s.Write("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n"); got != "" {
		t.Errorf("%q", got)
	}
	if got := s.Write("x\n-----END PRIVATE KEY-----\nthree"); got != Mark+"\n" {
		t.Errorf("%q", got)
	}
	if got := s.Flush(); got != "three" {
		t.Errorf("%q", got)
	}
	if got := s.Write("four\n") + s.Flush(); got != "four\n" {
		t.Errorf("%q", got)
	}
}

// A line that never ends is neither kept in memory nor a hole.
func TestStreamIsBounded(t *testing.T) {
	const secret = "literally-secret"
	for name, unit := range map[string]string{
		"words":        "some words of a long line ",
		"no space":     "abcdefgh,",
		"characters":   "€",
		"keys":         "sk-0123456789abcdef0123456789abcdef ",
		"one value":    "0123456789abcdef",
		"literal":      secret,
		"literal, cut": secret[:9] + secret,
	} {
		t.Run(name, func(t *testing.T) {
			r := New(secret)
			s := r.NewStream()
			in, out, most := "token="+strings.Repeat(unit, 512<<10/len(unit)), "", 0
			for i := 0; i < len(in); i += 1009 {
				out += s.Write(in[i:min(i+1009, len(in))])
				most = max(most, len(s.held))
			}
			out += s.Write(secret) + s.Flush()
			if most > maxHeld+2048 {
				t.Errorf("%d bytes were held", most)
			}
			if strings.Contains(out, secret) || strings.Contains(out, "0123456789abcdef0123") || !utf8.ValidString(out) || !strings.Contains(out, Mark) {
				t.Errorf("%d bytes came out, such as %.200q", len(out), out)
			}
		})
	}
}
