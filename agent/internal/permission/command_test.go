package permission

import (
	"slices"
	"strings"
	"testing"
)

func TestHarmless(t *testing.T) {
	p := policy(t, ReadOnly, Options{})
	for _, command := range []string{
		"ls", "ls -la src", "cat a.txt b.txt", "git status", "git diff --stat HEAD~1 -- a.go", "git log --oneline -5", "git show HEAD:a.go",
		"grep -rn 'a b' src | sort | uniq -c | head -3", "find . -name '*.go' -type f", "cat a 2>/dev/null || echo none", "cat a 2>&1", "pwd && ls",
		"cd src && ls", "echo \"it's\"", `echo a\ b`, "[ -f a ] && cat a", "for i in 1 2; do ls; done", "git branch -a", "wc -l <<< text", "rg -n foo src",
		"! ls", "(ls; pwd)", "{ ls; }", "time ls", "cat <<'E'\n$(rm x)\nE\n", "test -d src", "which go", "ls # rm x",
	} {
		if c := p.parse(command); !p.harmless(c) {
			t.Errorf("%s: not harmless: %+v", command, c)
		}
	}
	for _, command := range []string{
		"", " ", "# ls", "rm a", "cat /etc/passwd", "cat ../x", "ls ~", "ls $HOME", "cat $(echo a)", "cat `echo a`", "ls > a", "ls >> a", "ls >| a", "ls &> a", "cat < a", "cat <> a",
		"cat link", "cd link && ls", "cd src && cat ../../x", "cd && ls", "cd - && ls", "cd / && cat etc/passwd", "pushd src; ls", "while true; do cat x; cd src; done",
		"X=1 ls", "PATH=/x ls", "LD_PRELOAD=x cat a", "X=1", "export X=1", "ls; rm a", "ls && rm a", "ls | sh", "ls & rm a", "echo $(rm a)", "echo <(rm a)",
		"find . -delete", "find . -exec rm {} +", "find . -name x -execdir rm {} \\;", "find . -fprintf x y", "find -L . -name x",
		"sort -o a b", "sort -uo a b", "sort --output=a b", "sort --outp=a b", "sort --compress-program=x a", "sort -k -- -o a", "uniq a b", "tail -f a", "tail -nF a",
		"git -c core.pager=x log", "git -C /x status", "git push", "git log --output=x", "git log --outp=x", "git diff --no-index a b", "git diff --ext-diff", "git branch x", "git branch -D x",
		"git config user.name", "git stash", "git grep -Orm x", "git tag v1", "git remote add x y", "git --exec-path=x status",
		"rg --pre x y", "rg -z y", "grep -R x .", "date -s x", "date 0101", "date --se=x", "test -v 'a[$(rm x)]'", "printf -v a x", "[[ 'a[$(rm x)]' -eq 1 ]]", "echo $((x))", "(( x ))", "let x=1",
		"echo ${x@P}", "echo ${!x}", "${x}", "$x ls", "ls $'a'", "ls *.go", "ls a?", "ls [ab]", "ls {a,b}", "./ls", "/bin/ls", "sudo ls", "env ls", "command ls", "eval ls", "sh -c ls", "exec ls", "xargs ls", "tee a",
		"sed -n p a", "awk 1 a", "python -c 1", "ls 'unclosed", "ls \x00", "grep -f/etc/passwd x", "grep --file=/etc/passwd x a", "ls() { rm x; }; ls", "coproc ls", "cat a > /dev/sda", "file -C -m x",
	} {
		if c := p.parse(command); p.harmless(c) {
			t.Errorf("%s: harmless", command)
		}
	}
}

func TestHarmlessForPOSIX(t *testing.T) {
	p := policy(t, ReadOnly, Options{POSIX: true})
	for _, command := range []string{"((rm -rf x))", "[[ a && rm ]]", "ls &>a", "function ls { rm x; }", "diff <(ls) <(pwd)"} {
		if c := p.parse(command); p.harmless(c) {
			t.Errorf("%s: harmless", command)
		}
	}
}

func TestArgv(t *testing.T) {
	p := policy(t, ReadOnly, Options{})
	for command, want := range map[string]string{
		"go test ./...":                   "go|test|./...",
		`git commit -m "a 'b' \"c\" \$d"`: `git|commit|-m|a 'b' "c" $d`,
		`a\ b c'd'"e"`:                    "a b|cde",
		"  ls  # why":                     "ls",
		`printf '%s\n'`:                   `printf|%s\n`,
		`echo "a\nb"`:                     `echo|a\nb`,
		"echo a\\\nb":                     "echo|ab",
		"echo ''":                         "echo|",
		"ls *":                            "", "ls ~": "", "ls $x": "", "ls > a": "", "ls 2>&1": "", "ls; pwd": "", "ls;": "", "ls &": "", "X=1 ls": "", "! ls": "", "time ls": "", "(ls)": "", "ls {a,b}": "", "": "", "ls | wc": "",
	} {
		if got := strings.Join(p.Decide("bash", Access{Kind: Execute, Command: command}).Argv, "|"); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestCommandRules(t *testing.T) {
	tests := []struct {
		deny, ask, allow string // separated by ;
		command          string
		want             Decision // under read-only without a sandbox
	}{
		{"", "", "bash(go test *)", "go test ./...", Allow},
		{"", "", "Bash(go test *)", "go test", Allow},
		{"", "", "bash(go test *)", "go testx", Ask},
		{"", "", "bash(go test *)", "go  \t test -run X", Allow},
		{"", "", "bash(go test *)", "go 'test' $X", Allow},
		{"", "", "bash(go test *)", "go test $(rm x)", Ask},
		{"", "", "bash(go test *)", "go test `rm x`", Ask},
		{"", "", "bash(go test *)", "go test; rm x", Ask},
		{"", "", "bash(go test *)", "go test && go vet", Ask},
		{"", "", "bash(go test *)", "go test | rm x", Ask},
		{"", "", "bash(go test *)", "go test\nrm x", Ask},
		{"", "", "bash(go test *)", "go test & rm x", Ask},
		{"", "", "bash(go test *)", "go test > /etc/x", Ask},
		{"", "", "bash(go test *)", "go test 2>&1 >/dev/null", Allow},
		{"", "", "bash(go test *)", "PATH=. go test", Ask},
		{"", "", "bash(go test *)", "./go test", Ask},
		{"", "", "bash(go test *)", "go $X", Ask},
		{"", "", "bash(go test *)", "$X test", Ask},
		{"", "", "bash(go test *)", "bash -c 'go test'", Ask},
		{"", "", "bash(go test *)", "go test 'unclosed", Ask},
		{"", "", "bash(go test *)", "{ go test; } > x", Ask},
		{"", "", "bash(go test *);bash(tail *)", "go test ./... | tail -5", Allow},
		{"", "", "bash(make test)", "make test", Allow},
		{"", "", "bash(make test)", "make test install", Ask},
		{"", "", "bash", "rm -rf $X", Allow},
		{"", "", "Bash(*)", "rm -rf x", Allow},
		{"bash(rm *)", "", "bash", "rm x", Deny},
		{"bash(rm *)", "", "bash", "ls; rm x", Deny},
		{"bash(rm *)", "", "bash", "echo $(rm x)", Deny},
		{"bash(rm *)", "", "bash", "cat <(rm x)", Deny},
		{"bash(rm *)", "", "bash", "/bin/rm x", Deny},
		{"bash(rm *)", "", "bash", `\rm x`, Deny},
		{"bash(rm *)", "", "bash", `r''m x`, Deny},
		{"bash(rm *)", "", "bash", "sudo -u me rm x", Deny},
		{"bash(rm *)", "", "bash", "env A=1 /bin/rm x", Deny},
		{"bash(rm *)", "", "bash", "ls | xargs -n1 rm", Deny},
		{"bash(rm *)", "", "bash", "find . -exec rm {} +", Deny},
		{"bash(rm *)", "", "bash", "bash -c 'rm x'", Deny},
		{"bash(rm *)", "", "bash", "sudo sh -ec 'true; rm x'", Deny},
		{"bash(rm *)", "", "bash", "eval 'rm x'", Deny},
		{"bash(rm *)", "", "bash", "trap 'rm x' EXIT", Deny},
		{"bash(rm *)", "", "bash", "f() { rm x; }; f", Deny},
		{"bash(rm *)", "", "bash", "if true; then rm x; fi", Deny},
		{"bash(rm *)", "", "bash", "case a in a) rm x;; esac", Deny},
		{"bash(rm *)", "", "bash", "rm x > y", Deny},
		{"bash(rm *)", "", "bash", "X=1 rm x", Deny},
		{"bash(rm *)", "", "bash", "$X x", Ask},
		{"bash(rm *)", "", "bash", "eval $X", Ask},
		{"bash(rm *)", "", "bash", "sh -c $X", Ask},
		{"bash(rm *)", "", "bash", "alias ls=rm", Ask},
		{"bash(rm *)", "", "bash", "echo 'unclosed", Ask},
		{"bash(rm *)", "", "bash", "echo rm", Allow},
		{"bash(rm *)", "", "bash", strings.Repeat("true;", 20000), Ask},
		{"", "bash(git push *)", "bash(git *)", "git push", Ask},
		{"", "bash(git push *)", "bash(git *)", "git pull", Allow},
		{"Read(secret/**)", "", "bash", "cat secret/a", Deny},
		{"Read(secret/**)", "", "bash", "cd secret && cat a", Deny},
		{"Read(secret/**)", "", "bash", "cat < ./secret/a", Deny},
		{"Read(secret/**)", "", "bash", "cat --file=secret/a", Deny},
		{"Read(secret/**)", "", "bash", "cat secrets", Allow},
		{"Edit(a)", "", "bash", "echo > a", Deny},
	}
	list := func(s string) []string {
		return slices.DeleteFunc(strings.Split(s, ";"), func(s string) bool { return s == "" })
	}
	for _, test := range tests {
		p := policy(t, ReadOnly, Options{Rules: Rules{list(test.deny), list(test.ask), list(test.allow)}})
		if got := p.Decide("bash", Access{Kind: Execute, Command: test.command}); got.Decision != test.want {
			t.Errorf("deny %q ask %q allow %q: %.80s: %v (%s), want %v", test.deny, test.ask, test.allow, test.command, got.Decision, got.Reason, test.want)
		}
		// Full access lifts questions, but those of a rule.
		want := test.want
		if want == Ask && test.deny == "" && test.ask == "" {
			want = Allow
		}
		p.SetPreset(FullAccess)
		if got := p.Decide("bash", Access{Kind: Execute, Command: test.command}); got.Decision != want {
			t.Errorf("full access, deny %q ask %q allow %q: %.80s: %v (%s), want %v", test.deny, test.ask, test.allow, test.command, got.Decision, got.Reason, want)
		}
	}
}

func TestCommandsByPreset(t *testing.T) {
	type place struct {
		preset Preset
		boxed  bool
	}
	tests := []struct {
		command string
		at      place
		want    Decision
		confine Confinement
	}{
		{"ls", place{ReadOnly, false}, Ask, ConfineRead},
		{"ls", place{ReadOnly, true}, Allow, ConfineRead},
		{"cat /etc/hosts", place{ReadOnly, true}, Ask, ConfineWrite},
		{"go test", place{ReadOnly, true}, Ask, ConfineWrite},
		{"ls", place{WorkspaceWrite, false}, Allow, ConfineWrite},
		{"cat /etc/hosts", place{WorkspaceWrite, false}, Ask, ConfineWrite},
		{"go test", place{WorkspaceWrite, false}, Ask, ConfineWrite},
		{"go test", place{WorkspaceWrite, true}, Allow, ConfineWrite},
		{"$X", place{WorkspaceWrite, true}, Allow, ConfineWrite},
		{"$X", place{WorkspaceWrite, false}, Ask, ConfineWrite},
		{"rm -rf /", place{FullAccess, false}, Allow, Free},
	}
	for _, test := range tests {
		p := policy(t, test.at.preset, Options{Confined: func() bool { return test.at.boxed }})
		a := Access{Kind: Execute, Command: test.command}
		if got := p.Decide("bash", a); got.Decision != test.want {
			t.Errorf("%s %+v: %v (%s), want %v", test.command, test.at, got.Decision, got.Reason, test.want)
		}
		if got := p.Confinement(a); got != test.confine {
			t.Errorf("%s %+v: confinement %d, want %d", test.command, test.at, got, test.confine)
		}
	}
	p := policy(t, WorkspaceWrite, Options{Required: true})
	if v := p.Decide("bash", Access{Kind: Execute, Command: "ls"}); v.Decision != Deny || !strings.Contains(v.Reason, "require") {
		t.Errorf("required and there is none: %+v", v)
	}
}

func TestCommandGrants(t *testing.T) {
	tests := []struct {
		first, name string
		then        map[string]Decision
	}{
		{"git push origin main", "Allow `git push *` in this session", map[string]Decision{
			"git push": Allow, "git push -f x": Allow, "git pull": Ask, "git push; git pull": Ask, "git push > /etc/x": Ask, "X=1 git push": Ask, "git -c x=y push": Ask, "git push $(rm x)": Ask}},
		{"rm -rf build", "Allow `rm -rf build` in this session", map[string]Decision{
			"rm -rf build": Allow, "rm  -rf 'build'": Allow, "rm -rf build x": Ask, "rm -rf": Ask, "rm": Ask}},
		{"touch 'a b'", "Allow `touch 'a b'` in this session", map[string]Decision{"touch a b": Ask}},
		{"npm run build", "Allow `npm run build *` in this session", map[string]Decision{"npm run build -- -x": Allow, "npm run test": Ask, "npm install": Ask}},
		{"go run ./x", "Allow `go run ./x` in this session", map[string]Decision{"go run ./y": Ask, "go run ./x": Allow}},
		{"python x.py", "Allow `python x.py` in this session", map[string]Decision{"python y.py": Ask}},
		{"go test && go vet", "Allow `go test *`, `go vet *` in this session", map[string]Decision{"go vet": Allow, "go test ./... && go vet": Allow, "go vet; go build": Ask}},
		{"make > log", "Allow exactly this command in this session", map[string]Decision{"make > log": Allow, "make": Ask, "make > other": Ask}},
		{"X=1 make", "Allow exactly this command in this session", map[string]Decision{"X=1 make": Allow, "X=2 make": Ask}},
		{"$X", "Allow exactly this command in this session", map[string]Decision{"$X": Allow, "$X y": Ask}},
		{"make x; echo $Y > z", "Allow exactly this command in this session", map[string]Decision{"make x": Ask}},
	}
	for _, test := range tests {
		p := policy(t, ReadOnly, Options{})
		v := p.Decide("bash", Access{Kind: Execute, Command: test.first})
		if v.Decision != Ask || v.Options[1].Name != test.name {
			t.Errorf("%s: %v, %q; want %q", test.first, v.Decision, v.Options[1].Name, test.name)
			continue
		}
		p.Settle(v, AllowAlways)
		if got := p.Decide("bash", Access{Kind: Execute, Command: test.first}).Decision; got != Allow {
			t.Errorf("%s: again %v", test.first, got)
		}
		for command, want := range test.then {
			if got := p.Decide("bash", Access{Kind: Execute, Command: command}).Decision; got != want {
				t.Errorf("%s granted, %s: %v, want %v", test.first, command, got, want)
			}
		}
		p.Settle(v, RejectAlways)
		p.SetPreset(FullAccess)
		if got := p.Decide("bash", Access{Kind: Execute, Command: test.first}).Decision; got != Deny {
			t.Errorf("%s: rejected, then %v", test.first, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ls | wc; echo $(x) > y")
	f.Add("cd a && bash -c 'eval \"x\"'")
	f.Fuzz(func(t *testing.T, command string) {
		p := policy(t, ReadOnly, Options{Rules: Rules{Deny: []string{"bash(rm *)", "Read(x)"}}})
		v := p.Decide("bash", Access{Kind: Execute, Command: command})
		if v.Decision == Allow {
			t.Errorf("%q is allowed without a sandbox", command)
		}
	})
}
