package tool

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCapture: whatever the pieces, what is kept is the beginning and the end of all, and the marker counts the rest.
func TestCapture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &capture{headMax: rapid.IntRange(0, 9).Draw(t, "head"), tailMax: rapid.IntRange(1, 9).Draw(t, "tail")}
		var all []byte
		for _, s := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,12}`)).Draw(t, "pieces") {
			all = append(all, s...)
			if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		want := string(all)
		if len(all) > c.headMax+c.tailMax {
			want = fmt.Sprintf("\n[%d bytes left out]\n", len(all)-c.headMax-c.tailMax) + want[len(all)-c.tailMax:]
			if want = string(all[:c.headMax]) + want; c.headMax == 0 {
				want = want[1:]
			}
		}
		if got := c.text(); got != want {
			t.Fatalf("%q gives %q, want %q", all, got, want)
		}
	})
}

func TestCaptureCharacters(t *testing.T) {
	for headMax := range 8 {
		for tailMax := 1; tailMax < 8; tailMax++ {
			c := &capture{headMax: headMax, tailMax: tailMax}
			fmt.Fprint(c, strings.Repeat("é漢😀", 9))
			if got := c.text(); strings.Contains(got, "\uFFFD") {
				t.Errorf("%d, %d: %q", headMax, tailMax, got)
			}
		}
	}
}

func TestCaptureSince(t *testing.T) {
	c := &capture{tailMax: 10}
	step := func(write string, more bool, offset int64, limit int, want string, next int64) {
		t.Helper()
		fmt.Fprint(c, write)
		if got, n := c.since(offset, limit, more); got != want || n != next {
			t.Errorf("%q, %d; want %q, %d", got, n, want, next)
		}
	}
	step("abc", true, 0, 99, "abc", 3)
	step("", true, 3, 99, "", 3)
	step("d\xc3", true, 3, 99, "d", 4)
	step("\xa9", true, 4, 99, "é", 6)
	step("\xc3", false, 6, 99, "\uFFFD", 7)
	step("0123456789", true, 7, 99, "0123456789", 17)
	step("0123456789AB", true, 17, 99, "[2 bytes left out]\n23456789AB", 29)
	step("", true, 19, 6, "23\n[4 bytes left out]\n89AB", 29)
	step("", true, 0, 6, "[23 bytes left out]\n6789AB", 29)
}
