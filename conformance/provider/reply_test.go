package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRefused: a script that would not do what it seems to say.
func TestRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"texts":"a"}`:                                `unknown member "texts"`,
		`{"tools":[{"name":"f","arg":{}}]}`:            `tool 1: unknown member "arg"`,
		`{"tools":[{}]}`:                               "name",
		`{"framing":{"crlf":true}}`:                    `framing: unknown member "crlf"`,
		`{"usage":{"prompt_tokens":1}}`:                `usage: unknown member "prompt_tokens"`,
		`{"at":"middle","cut":true}`:                   "at",
		`{"at":"json"}`:                                "at needs cut or hang",
		`{"cutBy":"reset"}`:                            "cutBy needs cut",
		`{"cut":true,"hang":true}`:                     "cut excludes",
		`{"cut":true,"error":{}}`:                      "cut excludes",
		`{"cut":true,"at":"connection","cutBy":"end"}`: "no body",
		`{"cut":true,"at":"character","text":"abc"}`:   "more than one byte",
		`{"status":99}`:                                "not between",
		`{"status":204}`:                               "no body",
		`{"status":429,"text":"a"}`:                    "exclude one another",
		`{"status":429,"error":{}}`:                    "write it into body",
		`{"raw":"a","events":[]}`:                      "exclude one another",
		`{"body":"a"}`:                                 "body needs status",
		`{"usage":{},"usageRaw":{}}`:                   "exclude each other",
		`{"usageOn":"last"}`:                           "need usage",
		`{"thinkAs":"tag"}`:                            "needs think",
		`{"extra":[]}`:                                 "extra",
		`[]`:                                           "object",
		`{`:                                            "unexpected end",
	} {
		if r, err := ParseReply([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q (%v)", line, err, want, r)
		}
	}
}

// TestScriptsOfTheScriptedModel are scripts of this server too.
func TestScriptsOfTheScriptedModel(t *testing.T) {
	files, err := filepath.Glob("../../cmd/reasonix/testdata/script/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			if f.Name != "model.jsonl" {
				continue
			}
			replies, err := ParseScript(f.Data)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			n += len(replies)
		}
	}
	if n < 20 {
		t.Errorf("only %d replies found", n)
	}
}
