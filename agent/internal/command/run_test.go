package command

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite testdata/run.txtar")

// TestRun compares each section of testdata/run.txtar: "full /status" is the
// output of /status in the session called full.
func TestRun(t *testing.T) {
	const golden = "testdata/run.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, map[string]string{
		"project/commands/review.md":  "---\ndescription: Review a file\nargument-hint: file\n---\nReview $1.",
		"project/commands/sheets.md":  "A command.",
		"project/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Read PDF files\n---\n# PDF\n\nUse  pdftotext.\n",
		"home/skills/sheets/SKILL.md": "Work with sheets.",
		"home/agents/tester.md":       "---\nname: tester\ndescription: Runs tests\nmodel: deepseek/flash\n---\nRun\n\nthe tests.\n",
		"project/agents/Reviewer.md":  "Review what changed.",
	})
	envs := map[string]Env{"full": full(&calls{}), "empty": empty(), "nothing": {}, "broken": broken()}
	sets := map[string]*Set{"full": h.load(), "empty": build(t, nil).load(), "nothing": Load(Options{}), "broken": h.load()}
	h.warned()
	shown := map[string]bool{}
	for i, f := range archive.Files {
		world, text, _ := strings.Cut(f.Name, " ")
		c, ok := sets[world].Find(text)
		if !ok || !c.Local {
			t.Fatalf("%q is no local command", text)
		}
		shown[world+" "+c.Name] = true
		t.Run(f.Name, func(t *testing.T) {
			got := sets[world].Run(t.Context(), envs[world], c)
			for _, f := range sets[world].folders {
				got = strings.ReplaceAll(got, f.Dir, "$"+strings.ToUpper(f.Origin))
			}
			if strings.Contains(got, "SECRET") {
				t.Error("a secret is shown")
			}
			if strings.TrimSpace(got) != got || !strings.HasPrefix(got, c.Name+":\n- ") {
				t.Errorf("badly framed: %q", got)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(f.Data)), got); diff != "" && !*update {
				t.Errorf("(-want +got)\n%s", diff)
			}
			archive.Files[i].Data = []byte(got + "\n\n")
		})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s updated", golden)
	}
	for _, e := range locals {
		for _, world := range []string{"full", "empty", "nothing"} {
			if !shown[world+" "+e.Name] {
				t.Errorf("no section %s /%s", world, e.Name)
			}
		}
	}
}

// TestChanges: what reaches the session.
func TestChanges(t *testing.T) {
	var done calls
	env, set := full(&done), Load(Options{})
	for text, want := range map[string]string{
		"/compacts":                   "compacts 12",
		"/events 7":                   "events 7",
		"/history":                    "history 12",
		"/history 5000":               "history 1000",
		"/experimental Other ON":      "other true",
		"/experimental fast_edit off": "fast_edit false",
		"/model plain/one":            `model "plain/one"`,
		"/MODEL Reset":                `model ""`,
		"/provider deepseek":          `model "deepseek/flash"`,
		"/provider LOCAL":             `model "Local"`,
		"/provider plain":             `model "plain/one"`,
		"/process stop 1":             "stop 1",
		"/process STOP 7":             "stop 7",
		"/save":                       "save",
		"/provider":                   "",
		"/model":                      "",
		"/experimental":               "",
		"/process 1":                  "",
	} {
		done = nil
		c, _ := set.Find(text)
		set.Run(t.Context(), env, c)
		if got := strings.Join(done, ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestWrongArguments: each gives the usage line, and nothing is changed.
func TestWrongArguments(t *testing.T) {
	wrong := map[string][]string{
		"agents":       {"a b"},
		"compacts":     {"0", "-1", "+1", "x", "1.5", "1 2", "0x10", "１"},
		"events":       {"0", "-1", "x", "1 2"},
		"experimental": {"fast_edit", "fast_edit maybe", "fast_edit on now", "nobody on"},
		"history":      {"0", "-1", "x", "1 2"},
		"model":        {"a b", "reset now"},
		"process":      {"", "stop", "STOP", "1 2", "stop 1 2", "start 1"},
		"provider":     {"a b", "nobody"},
		"skills":       {"a b", "nobody"},
	}
	wrong["agents"] = append(wrong["agents"], "nobody")
	set := build(t, map[string]string{"home/skills/pdf/SKILL.md": "x", "home/agents/a.md": "x"}).load()
	for _, e := range locals {
		args, takes := wrong[e.Name]
		if takes != (e.Hint != "") {
			t.Errorf("/%s has the hint %q", e.Name, e.Hint)
		}
		if !takes {
			args = []string{"x", "1", "help"}
		}
		for _, a := range args {
			var done calls
			c, _ := set.Find("/" + e.Name + " " + a)
			got := set.Run(t.Context(), full(&done), c)
			usage := strings.TrimSpace("- usage: /" + e.Name + " " + e.Hint)
			if lines := strings.Split(got, "\n"); lines[0] != e.Name+":" || lines[len(lines)-1] != usage || len(lines) > 3 {
				t.Errorf("/%s %s:\n%s", e.Name, a, got)
			}
			if len(done) > 0 {
				t.Errorf("/%s %s has done %q", e.Name, a, done)
			}
		}
	}
}

func TestRunOfNoLocalCommand(t *testing.T) {
	s := build(t, map[string]string{"home/commands/x.md": "x"}).load()
	for _, name := range []string{"x", "nobody\n"} {
		got := s.Run(t.Context(), Env{}, Call{Name: name})
		if !strings.HasPrefix(got, strings.TrimSpace(name)+":\n- is no command that runs here") {
			t.Errorf("%q", got)
		}
	}
	if got := s.Run(t.Context(), Env{}, Call{Name: "HELP"}); !strings.HasPrefix(got, "help:\n- /agents [name]: ") {
		t.Errorf("names are not case-insensitive: %q", got)
	}
}

// TestCounts: a list is as long as was asked for, whatever the session returns.
func TestCounts(t *testing.T) {
	s := Load(Options{})
	many := func(n int) ([]Event, error) {
		var list []Event
		for i := range 5000 {
			list = append(list, Event{Seq: uint64(i + 1), Kind: "x"})
		}
		return list, nil
	}
	for args, want := range map[string]int{"": 12, "1": 1, "12": 12, "999": 999, "4000": 1000, "99999999999999999999999": 1000} {
		got := s.Run(t.Context(), Env{Events: many}, Call{Name: "events", Args: args})
		lines := strings.Split(got, "\n")[1:]
		if len(lines) != want || !strings.HasPrefix(lines[len(lines)-1], "- 5000, ") {
			t.Errorf("%q gives %d lines, the last is %q", args, len(lines), lines[len(lines)-1])
		}
	}
}

func TestBigLists(t *testing.T) {
	s := Load(Options{})
	env := Env{
		Sessions: func() (list []StoredSession, _ error) {
			for i := range 1000 {
				list = append(list, StoredSession{fmt.Sprint("s", i), strings.Repeat("t", 1<<10), noon.Add(time.Duration(i) * time.Second)})
			}
			return list, nil
		},
		Tree: func() (list []Turn, _ error) {
			for i := range 1000 {
				list = append(list, Turn{Prompt: fmt.Sprint("p", i+1), Outcome: "end_turn"})
			}
			list[999].Steps = make([]Step, 500)
			return list, nil
		},
		Processes: func() []Process { return make([]Process, 300) },
		History: func(int) ([]Message, error) {
			return slices.Repeat([]Message{{"user", strings.Repeat("ä ", 1<<20)}}, 12), nil
		},
		Models: func() (list []string, _ error) {
			for i := range 2000 {
				list = append(list, fmt.Sprint("p/m", i))
			}
			return list, nil
		},
	}
	run := func(name string) []string {
		out := s.Run(t.Context(), env, Call{Name: name})
		for line := range strings.Lines(out) {
			if utf8.RuneCountInString(line) > 300 {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
		return strings.Split(out, "\n")[1:]
	}
	if l := run("sessions"); len(l) != 201 || !strings.HasPrefix(l[0], "- s999,") || l[200] != "- and 800 older" {
		t.Errorf("sessions: %d, %q, %q", len(l), l[0], l[len(l)-1])
	}
	if l := run("tree"); len(l) != 402 || l[0] != "- 800 earlier turns" || l[1] != "- 801. p801 [end_turn]" || l[401] != "  - and 300 more" {
		t.Errorf("tree: %d, %q, %q", len(l), l[:2], l[len(l)-1])
	}
	if l := run("processes"); len(l) != 201 || l[200] != "- and 100 more" {
		t.Errorf("processes: %d, %q", len(l), l[len(l)-1])
	}
	if l := run("history"); len(l) != 12 || !strings.HasSuffix(l[0], "ä…") {
		t.Errorf("history: %d, %q", len(l), l[0])
	}
	if l := run("model"); len(l) != 2000 {
		t.Errorf("model: %d, all are wanted", len(l))
	}
}

func TestProcessOutputIsCutBetweenCharacters(t *testing.T) {
	s := Load(Options{})
	for name, tt := range map[string]struct{ output, want string }{
		"short":      {"a\nb\n", "- output:\n\na\nb"},
		"exact":      {strings.Repeat("x", 800), "- output:\n\n" + strings.Repeat("x", 800)},
		"one more":   {"y" + strings.Repeat("x", 800) + "\r\n", "- output, the last 800 characters:\n\n" + strings.Repeat("x", 800)},
		"characters": {strings.Repeat("€", 900), "- output, the last 800 characters:\n\n" + strings.Repeat("€", 800)},
		"four bytes": {"a" + strings.Repeat("𝄞", 800), "- output, the last 800 characters:\n\n" + strings.Repeat("𝄞", 800)},
		"no UTF-8":   {"a\xff\xfeb", "- output:\n\na\ufffdb"},
	} {
		env := Env{Process: func(string) (Process, string, error) { return Process{}, tt.output, nil }}
		got := s.Run(t.Context(), env, Call{Name: "process", Args: "1"})
		if !strings.HasSuffix(got, tt.want) || !utf8.ValidString(got) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestFileGoneSinceLoad(t *testing.T) {
	h := build(t, map[string]string{"home/skills/pdf/SKILL.md": "x", "home/agents/a.md": "x"})
	s := h.load()
	if err := os.RemoveAll(h.home); err != nil {
		t.Fatal(err)
	}
	for name, arg := range map[string]string{"skills": "pdf", "agents": "a"} {
		got := s.Run(t.Context(), Env{}, Call{Name: name, Args: arg})
		if !strings.Contains(got, "\n- failed: "+h.home) {
			t.Error(got)
		}
	}
}
