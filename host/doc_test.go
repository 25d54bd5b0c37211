package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What this package promises, and the tests that hold it; TestTable reads this
// comment. BL-… are public faults of hosts, classes 1 to 6 and 14 to 16; the
// comment of each test named for one names it. Those that rpc holds stand there.
//
//	an update arrives, in order, at any burst; memory is bounded   TestBurst TestPromptCollectsEverythingInOrder
//	what comes early is not lost                                   TestEarlyUpdates
//	what was never opened leaves nothing behind                    TestUnknownSessions
//	a replay belongs to no turn                                    TestReplayIsNoTurn TestResumeAndClose
//	a refusal is no cancel, and a cancel answers open questions    TestRejectionIsNoCancel TestCancelAnswersOpenQuestions TestPermissionIsRefusedByDefault
//	an agent that does not answer is given up                      TestSilentAgent TestAgentThatDoesNotCancel
//	an agent that dies is told of, with its last words             TestDeathInATurn TestLaunchedAgentFails
//	the end is orderly, and no process remains                     TestLaunch TestTheAgentIsAskedFirst TestTreeIsKilled TestOrphanHoldsThePipes TestContextKillsTheTree TestCloseUnderLoad
//	stderr holds up nobody                                         TestStderrHoldsNobodyUp
//	BL-005  TestNoShell
//	BL-017  TestBurst
//	BL-024  TestEarlyUpdates
//	BL-025  TestEarlyUpdates
//	BL-026  TestReplayIsNoTurn
//	BL-027  TestUnknownSessions
//	BL-028  TestBurst
//	BL-040  TestRejectionIsNoCancel
//	BL-041  TestCancelAnswersOpenQuestions
//	BL-045  TestAgentThatDoesNotCancel
//	BL-051  TestOpenedAtOnce
//	BL-110  TestBadUpdates
//	BL-111  TestBadUpdates
//	BL-112  TestBadUpdates
//	BL-122  TestTreeIsKilled
//	BL-124  TestTreeIsKilled
//	BL-125  TestSilentAgent
func TestTable(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				comments[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	named := 0
	for line := range strings.Lines(comments["TestTable"]) {
		bug := regexp.MustCompile(`BL-\d+`).FindString(line)
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(line, -1) {
			comment, ok := comments[name]
			named++
			if !ok {
				t.Errorf("there is no %s", name)
			} else if bug != "" && strings.HasPrefix(strings.TrimSpace(line), "BL-") && !strings.Contains(comment, bug) {
				t.Errorf("the comment of %s does not name %s", name, bug)
			}
		}
	}
	if named < 30 {
		t.Errorf("only %d tests are named", named)
	}
}
