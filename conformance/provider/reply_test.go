package provider

import (
	"os"
	"path/filepath"
	"regexp"
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

// TestPage: every script on the page is one, and its Go stands in a test that runs.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/provider.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(json|text|go)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	seen := map[string]int{}
	for _, block := range blocks {
		seen[block[1]]++
		switch block[1] {
		case "json":
			replies, err := ParseScript([]byte(block[2]))
			if err != nil {
				t.Errorf("%v in\n%s", err, block[2])
			}
			for i := range replies {
				answerTo(chat{}, &call{stream: true}, &replies[i])
			}
		case "text":
			if _, err := promptScript(block[2]); err != nil {
				t.Errorf("%v in\n%s", err, block[2])
			}
		case "go":
			example, err := os.ReadFile("example_test.go")
			plain := strings.ReplaceAll(string(example), "\n\t", "\n")
			if err != nil || !strings.Contains(plain, block[2]) {
				t.Errorf("%v: not in example_test.go:\n%s", err, block[2])
			}
		}
	}
	if seen["json"] < 3 || seen["text"] != 1 || seen["go"] != 1 {
		t.Errorf("blocks: %v", seen)
	}
}
