package openai

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// DeepSeek's markup for calls, when the server passes it on: the attempt fails, and nothing of the markup is shown.
func TestLeakedMarkup(t *testing.T) {
	for _, word := range []string{"tool_calls", "function_calls"} {
		whole := "Let me see.\n\n<｜DSML｜" + word + ">\n<｜DSML｜invoke name=\"f\">"
		for i := range len(whole) + 1 {
			o := decode(t, deepseek, rawText(whole[:i])+rawText(whole[i:])+finish("stop")+end)
			e, ok := o.err.(*model.Error)
			if !ok || !e.Retryable() || !strings.Contains(e.Error(), "markup") || o.text != "Let me see.\n\n" {
				t.Fatalf("cut at %d: %+v", i, o)
			}
		}
	}
	everyCut(t, Config{}, text("a <")+text("｜DSML｜tool_calls>")+finish("stop")+end, func(t *testing.T, o outcome) {
		if o.err == nil || o.text != "a " {
			t.Errorf("%+v", o)
		}
	})
	for _, s := range []string{"a < b <｜DSML｜", "<", "it writes `<｜DSML｜tool_calls>` then", `"<｜DSML｜tool_calls>"`, "<｜DSML｜other>", "<<｜DSML｜tool_call"} {
		for i := range len(s) + 1 {
			if o := decode(t, deepseek, rawText(s[:i])+rawText(s[i:])+finish("stop")); o.err != nil || o.text != s {
				t.Fatalf("%q cut at %d: %+v", s, i, o)
			}
		}
	}
	// What was held back comes before what follows it.
	o := decode(t, plain, text("a<")+delta(`"reasoning":"r"`)+text("b")+finish("stop"))
	if o.err != nil || len(o.deltas) != 4 || o.deltas[1].Text != "<" || o.deltas[2].Thought != "r" {
		t.Errorf("%+v", o)
	}
}

// rawText is a chunk whose content holds the bytes as they are.
func rawText(s string) string {
	return delta(`"content":"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"`)
}

func TestSplitCharacters(t *testing.T) {
	const whole = "é€🔑a"
	for _, member := range []string{"content", "reasoning_content"} {
		for i := range len(whole) + 1 {
			for j := i; j <= len(whole); j++ {
				var script string
				for _, piece := range []string{whole[:i], whole[i:j], whole[j:]} {
					script += delta(`"` + member + `":"` + piece + `"`)
				}
				o := decode(t, deepseek, script+finish("stop"))
				if o.err != nil || o.text+o.thought != whole {
					t.Fatalf("%s cut at %d and %d: %+v", member, i, j, o)
				}
				for _, d := range o.deltas {
					if !utf8.ValidString(d.Text + d.Thought) {
						t.Fatalf("half a character: %q", o.deltas)
					}
				}
			}
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb": "a\uFFFDb", "a\xe2\x82": "a\uFFFD", "\xe2\x82" + "x": "\uFFFDx", "a\xed\xa0\x80b": "a\uFFFDb",
	} {
		if o := decode(t, deepseek, text(in)+finish("stop")); o.err != nil || o.text != want {
			t.Errorf("%q gives %q, want %q", in, o.text, want)
		}
	}
	o := decode(t, deepseek, text("a\xe2")+delta(`"reasoning":"\u0062"`)+text("\x82\xac")+finish("stop"))
	if o.err != nil || !utf8.ValidString(o.text) {
		t.Errorf("%+v", o)
	}
}
