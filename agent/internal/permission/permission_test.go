package permission

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	inside = Access{Kind: Edit, Paths: []string{"/w/a"}}
	wider  = Access{Kind: Edit, Paths: []string{"/x/a"}, Outside: []string{"/x/a"}}
)

// policy makes one with the workspace /w, in which nothing is a symlink.
func policy(t *testing.T, preset Preset, o Options) *Policy {
	t.Helper()
	o.Root, o.Home = "/w", "/home/me"
	o.Resolve = func(name string) (string, bool, error) {
		if !filepath.IsAbs(name) {
			name = "/w/" + name
		}
		abs := filepath.Clean(name)
		if abs == "/w/link" { // but this one
			abs = "/etc"
		}
		return abs, abs == "/w" || strings.HasPrefix(abs, "/w/"), nil
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p.SetPreset(preset)
	return p
}

func confined() bool { return true }

func TestPresets(t *testing.T) {
	tests := []struct {
		preset                  Preset
		none, read, edit, other Decision
	}{
		{ReadOnly, Allow, Allow, Ask, Ask},
		{WorkspaceWrite, Allow, Allow, Allow, Ask},
		{FullAccess, Allow, Allow, Allow, Allow},
		{"", Allow, Allow, Ask, Ask},
		{"full", Allow, Allow, Ask, Ask},
	}
	for _, test := range tests {
		var p Policy
		p.SetPreset(test.preset)
		for kind, want := range map[Kind]Decision{None: test.none, Read: test.read, Edit: test.edit, Execute: test.other, Fetch: test.other, -1: test.other} {
			if got := p.Decide("some_tool", Access{Kind: kind}).Decision; got != want {
				t.Errorf("%q, access %d: decision %v, want %v", test.preset, kind, got, want)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		answer   Answer
		approved bool
		after    Decision // of the next call of the same tool
	}{
		{AllowOnce, true, Ask},
		{AllowAlways, true, Allow},
		{RejectOnce, false, Ask},
		{RejectAlways, false, Deny},
		{Cancelled, false, Ask},
		{"", false, Ask},
		{"ALLOW_ONCE", false, Ask},
		{"yes", false, Ask},
	}
	for _, test := range tests {
		var p Policy
		if got := p.Settle(p.Decide("write_file", inside), test.answer); got != test.approved {
			t.Errorf("%q: approved %t, want %t", test.answer, got, test.approved)
		}
		if got := p.Decide("write_file", inside).Decision; got != test.after {
			t.Errorf("%q: next decision %v, want %v", test.answer, got, test.after)
		}
		if got := p.Decide("edit_file", inside).Decision; got != Ask {
			t.Errorf("%q: decision for another tool %v, want ask", test.answer, got)
		}
		if got := p.Decide("write_file", wider).Decision; got != Ask {
			t.Errorf("%q: decision for a wider access %v, want ask", test.answer, got)
		}
	}
}

func TestGrantsAndPresetChanges(t *testing.T) {
	var p Policy
	question := p.Decide("write_file", inside)
	p.Settle(question, RejectAlways)
	p.SetPreset(FullAccess)
	if got := p.Decide("write_file", inside).Decision; got != Deny {
		t.Errorf("rejected for the session, then full access: decision %v, want deny", got)
	}
	p.Settle(question, AllowAlways)
	p.SetPreset(ReadOnly)
	if got := p.Decide("write_file", inside).Decision; got != Allow {
		t.Errorf("a later grant replaces the earlier one: decision %v, want allow", got)
	}
}

// A grant outside covers its directory and no other, and nothing wider than that.
func TestGrantsOutside(t *testing.T) {
	outside := func(kind Kind, paths ...string) Access { return Access{Kind: kind, Paths: paths, Outside: paths} }
	p := policy(t, WorkspaceWrite, Options{})
	v := p.Decide("write_file", outside(Edit, "/x/y/a"))
	if v.Decision != Ask || v.Reason == "" || v.Options[1].Name != "Allow changes below /x/y in this session" {
		t.Fatalf("%+v", v)
	}
	p.Settle(v, AllowAlways)
	for path, want := range map[string]Decision{"/x/y/b": Allow, "/x/y/z/c": Allow, "/x/yy": Ask, "/x/a": Ask, "/x/y": Allow} {
		if got := p.Decide("write_file", outside(Edit, path)).Decision; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := p.Decide("read_file", outside(Read, "/x/y/a")).Decision; got != Ask {
		t.Errorf("a grant for changes covers reading: %v", got)
	}
	if got := p.Decide("move_file", outside(Edit, "/x/y/a", "/q/a")).Decision; got != Ask {
		t.Errorf("a move to elsewhere: %v", got)
	}
	if got := p.Decide("move_file", Access{Kind: Edit, Paths: []string{"/x/y/a", "/w/a"}, Outside: []string{"/x/y/a"}}).Decision; got != Allow {
		t.Errorf("a move into the workspace: %v", got)
	}
	p.SetPreset(ReadOnly)
	if got := p.Decide("move_file", Access{Kind: Edit, Paths: []string{"/x/y/a", "/w/a"}, Outside: []string{"/x/y/a"}}).Decision; got != Ask {
		t.Errorf("a move into the read-only workspace: %v", got)
	}
	// Not the whole home, not what holds the workspace, not all there is.
	for path, next := range map[string]string{"/home/me/.bashrc": "/home/me/.profile", "/home/x": "/home/y", "/a": "/b"} {
		p := policy(t, WorkspaceWrite, Options{})
		p.Settle(p.Decide("write_file", outside(Edit, path)), AllowAlways)
		if got := p.Decide("write_file", outside(Edit, path)).Decision; got != Allow {
			t.Errorf("%s: %v", path, got)
		}
		if got := p.Decide("write_file", outside(Edit, next)).Decision; got != Ask {
			t.Errorf("a grant for %s covers %s", path, next)
		}
	}
}

func TestFresh(t *testing.T) {
	for _, preset := range []Preset{ReadOnly, WorkspaceWrite, FullAccess} {
		p := policy(t, preset, Options{Rules: Rules{Allow: []string{"*", "Bash"}}, Confined: confined})
		for _, a := range []Access{{Fresh: true}, {Kind: Execute, Command: "go test", Unconfined: true}} {
			v := p.Decide("x", a)
			var answers []Answer
			for _, o := range v.Options {
				answers = append(answers, o.Answer)
			}
			if v.Decision != Ask || !v.Fresh || !slices.Equal(answers, []Answer{AllowOnce, RejectOnce}) {
				t.Errorf("%s: %+v", preset, v)
			}
			if p.Settle(v, AllowAlways) {
				t.Errorf("%s: an answer that was not on offer approves", preset)
			}
			if !p.Settle(v, AllowOnce) || p.Decide("x", a).Decision != Ask {
				t.Errorf("%s: the next one is not asked about", preset)
			}
		}
	}
}

func TestRules(t *testing.T) {
	fetch := func(h string) Access { return Access{Kind: Fetch, Host: h} }
	edit := func(p ...string) Access { return Access{Kind: Edit, Paths: p} }
	read := func(p ...string) Access { return Access{Kind: Read, Paths: p} }
	tests := []struct {
		deny, ask, allow string // comma-separated
		tool             string
		access           Access
		want             Decision
	}{
		{"", "", "Edit(src/**)", "write_file", edit("/w/src/a/b.go"), Allow},
		{"", "", "edit(./src/**)", "write_file", edit("/w/src/a.go"), Allow},
		{"", "", "Edit(src/**)", "write_file", edit("/w/srcs/a.go"), Ask},
		{"", "", "Edit(src/**)", "move_file", edit("/w/src/a.go", "/w/a.go"), Ask},
		{"", "", "Edit(src/**),Edit(/w/*.go)", "move_file", edit("/w/src/a.go", "/w/a.go"), Allow},
		{"", "", "Edit(*.go)", "write_file", edit("/w/src/a.go"), Ask},
		{"", "", "Read(src/**)", "write_file", edit("/w/src/a.go"), Ask},
		{"", "", "write_file", "write_file", edit("/w/a"), Allow},
		{"", "", "write_*", "write_file", edit("/w/a"), Allow},
		{"", "", "write", "write_file", edit("/w/a"), Ask},
		{"", "", "EDIT", "write_file", edit("/w/a"), Allow},
		{"", "", "Edit(~/x/**)", "write_file", edit("/home/me/x/a"), Allow},
		{"", "", "Edit(~/x/**)", "write_file", edit("/home/you/x/a"), Ask},
		{"Read(**/.env)", "", "Read", "read_file", read("/w/a/.env"), Deny},
		{"Read(**/.env)", "", "Read", "read_file", read("/w/.env"), Deny},
		{"Read(**/.env)", "", "Read", "read_file", read("/w/.envrc"), Allow},
		{"Edit", "", "write_file", "write_file", edit("/w/a"), Deny},
		{"", "Edit(go.mod)", "Edit", "write_file", edit("/w/go.mod"), Ask},
		{"", "Read(/etc/**)", "", "read_file", read("/etc/hosts"), Ask},
		{"Edit(/etc/**)", "", "", "move_file", edit("/w/a", "/etc/a"), Deny},
		{"", "", "web_fetch(example.com)", "web_fetch", fetch("Example.com"), Allow},
		{"", "", "web_fetch(example.com)", "web_fetch", fetch("example.com:8080"), Ask},
		{"", "", "web_fetch(example.com:8080)", "web_fetch", fetch("example.com:8080"), Allow},
		{"", "", "web_fetch(example.com)", "web_fetch", fetch("a.example.com"), Ask},
		{"", "", "web_fetch(*.example.com)", "web_fetch", fetch("a.b.example.com"), Allow},
		{"", "", "web_fetch(*.example.com)", "web_fetch", fetch("example.com"), Ask},
		{"", "", "web_fetch(*.example.com)", "web_fetch", fetch("badexample.com"), Ask},
		{"web_fetch(example.com)", "", "web_fetch", "web_fetch", fetch("example.com:8080"), Deny},
		{"web_fetch(example.com)", "", "web_fetch", "web_fetch", fetch("example.com."), Deny},
		{"", "", "mcp__notes__*", "mcp__notes__read", Access{Kind: -1}, Allow},
		{"", "", "mcp__notes__*", "mcp__other__read", Access{Kind: -1}, Ask},
		{"mcp__*__delete", "", "mcp__*", "mcp__notes__delete", Access{Kind: -1}, Deny},
		{"", "todo_write", "", "todo_write", Access{}, Ask},
	}
	list := func(s string) []string {
		return slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" })
	}
	for _, test := range tests {
		p := policy(t, ReadOnly, Options{Rules: Rules{list(test.deny), list(test.ask), list(test.allow)}})
		if got := p.Decide(test.tool, test.access); got.Decision != test.want {
			t.Errorf("deny %q ask %q allow %q: %s %+v: %v (%s), want %v", test.deny, test.ask, test.allow, test.tool, test.access, got.Decision, got.Reason, test.want)
		}
	}
}

func TestBadRules(t *testing.T) {
	for text, want := range map[string]string{
		"": "expected Tool", "(x)": "expected Tool", "Edit(": "parenthesis", "Edit(x": "parenthesis", "Edit()": "empty", "Edit( )": "empty",
		"Edit([a)": "malformed", "Edit({a)": "malformed", "mcp__[ab]": "wildcard", "a b": "expected Tool",
	} {
		if err := (Rules{Ask: []string{text}}).Check(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ask rule") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A pattern is compared with resolved paths, so the folder that it starts from is resolved too, and no character of its
// name is a wildcard.
func TestRulesAndOddFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a[b]{c}*")
	p, err := New(Options{Root: root, Rules: Rules{Allow: []string{"Edit(src/*)"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Decide("write_file", Access{Kind: Edit, Paths: []string{filepath.Join(root, "src", "x")}}).Decision; got != Allow {
		t.Error(got)
	}
	if got := p.Decide("write_file", Access{Kind: Edit, Paths: []string{filepath.Join(filepath.Dir(root), "ab", "src", "x")}}).Decision; got != Ask {
		t.Error(got)
	}
}

func TestGuardedFiles(t *testing.T) {
	p := policy(t, WorkspaceWrite, Options{})
	for path, want := range map[string]Decision{
		"/w/a": Allow, "/w/.gitignore": Allow, "/w/.git/config": Ask, "/w/sub/.git/hooks/pre-commit": Ask, "/w/.GIT/config": Ask,
		"/w/reasonix.toml": Ask, "/w/.reasonix/commands/x.md": Ask,
	} {
		if got := p.Decide("write_file", Access{Kind: Edit, Paths: []string{path}}).Decision; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, preset := range []Preset{ReadOnly, WorkspaceWrite, FullAccess} {
		p := policy(t, preset, Options{Confined: confined, Rules: Rules{Allow: []string{"Edit", "Bash(go test *)", "*"}}})
		p.SetPlan(true)
		got := map[string]Decision{
			"edit": p.Decide("write_file", inside).Decision, "read": p.Decide("read_file", Access{Kind: Read, Paths: []string{"/w/a"}}).Decision,
			"harmless": p.Decide("bash", Access{Kind: Execute, Command: "git status | head -3"}).Decision,
			"command":  p.Decide("bash", Access{Kind: Execute, Command: "go test ./..."}).Decision,
			"free":     p.Decide("bash", Access{Kind: Execute, Command: "ls", Unconfined: true}).Decision,
			"other":    p.Decide("mcp__x", Access{Kind: -1}).Decision, "plan": p.Decide("exit_plan_mode", Access{Fresh: true}).Decision,
		}
		want := map[string]Decision{"edit": Deny, "read": Allow, "harmless": Allow, "command": Deny, "free": Deny, "other": Deny, "plan": Ask}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", preset, d)
		}
		if got := p.Confinement(Access{Kind: Execute, Command: "git status"}); got != ConfineRead {
			t.Errorf("%s: confinement %d", preset, got)
		}
	}
}

func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	p := policy(t, ReadOnly, Options{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p.SetPreset(WorkspaceWrite)
			p.SetPlan(false)
			p.Settle(p.Decide("write_file", inside), AllowAlways)
			p.Settle(p.Decide("bash", Access{Kind: Execute, Command: "go test"}), AllowAlways)
			p.Confinement(Access{Kind: Execute, Command: "ls"})
		})
	}
	wg.Wait()
}
