package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the package promises, and the tests that hold it. TestTable reads this
// comment: every test named here exists.
//
//	Updates reach the handler in wire order per session,     TestBurst TestInterleavedSessions TestPromptCollectsEverythingInOrder
//	none is lost,                                            TestBurst TestLoadSession TestOversizedCommandList
//	and a slow handler slows the agent down.                 TestSlowHandlerStopsTheAgent TestInterleavedSessions
//	What is kept of them is bounded,                         TestMaxRecord TestMaxRecordOfOneText
//	adjacent pieces of a text are one,                       TestJoining TestBurst TestLoadSession
//	and for sessions nobody opened it is bounded too.        TestUnknownSessionsDoNotGrow TestPermissionOfAnUnknownSession
//	What comes outside a turn is there, and in no turn.      TestUpdatesBeforeTheFirstPrompt TestLoadSession TestCancelIsNotAnswered
//	Sessions are opened, loaded, resumed, listed, closed
//	  and deleted, and what is not open is not known.        TestTwoNewSessions TestLoadSession TestLoadTwice TestResumeSession TestListSessions TestCloseSession TestCloseSessionHere TestDeleteSession
//	One prompt of a session at a time;                       TestTwoPromptsAtOnce
//	the end of its context cancels it,                       TestCancelAnswersOpenQuestions TestStopWithAnOpenQuestion
//	and no later one;                                        TestCancelRacesWithTheAnswer
//	questions are refused unless the handler says so,        TestPermissionIsRefusedByDefault TestPermissionIsTheHandlers TestRejectionIsNoCancel
//	by the kind of an option.                                TestChoose
//	Nothing waits for ever on an agent that hangs:
//	  Initialize,                                            TestInitializeIsNotAnswered TestLaunchedAgentIsSilent
//	  a cancelled prompt,                                    TestCancelIsNotAnswered TestCloseAfterGivingUp TestCancelOfAnAgentThatDoesNotRead
//	  Close.                                                 TestCloseWhileAPromptRuns TestCloseEndsTheTree TestEscapedProcessHoldsThePipes TestStderrWriterHangs
//	When the agent ends, every call fails at once, with the
//	  reason.                                                TestAgentDies TestLaunchedAgentFails TestAgentClosesItsOutput TestLauncherIsKilled
//	Errors of the agent keep their code; another version of
//	  the protocol is an error.                              TestErrorAnswersKeepTheirCode TestOtherVersionIsAnError
//	A bad update, an unknown message or a panic in a handler
//	  ends no turn.                                          TestBadUpdate TestUnknownInATurn TestHandlerPanics
//	Launch starts a program, or says why not;                TestLaunch TestLaunchNothing TestNoShell TestLaunchContextEnds
//	stderr never blocks it.                                  TestStderrNeverBlocks TestStderrWriterHangs
//	Close sends what waits to be sent, and hears the agent
//	  to the end;                                            TestCloseLosesNothing TestEndOfInputMark
//	ends the agent and all that it has started;              TestCloseEndsTheTree TestLauncherIsKilled TestFailedLoadsLeakNoProcess
//	may be called at any time, by anybody, again.            TestCloseTwice TestCloseWhileAPromptRuns TestCloseWhileTheAgentFloods TestCloseRacesWithCalls
//
// The public faults that the table of package rpc gives to host. The comment of
// each test named here names the entry.
//
//	BL-005  TestNoShell
//	BL-017  TestOversizedCommandList
//	BL-024  TestBurst
//	BL-025  TestUpdatesBeforeTheFirstPrompt
//	BL-026  TestLoadSession
//	BL-027  TestUnknownSessionsDoNotGrow
//	BL-028  TestBurst
//	BL-040  TestRejectionIsNoCancel
//	BL-041  TestStopWithAnOpenQuestion TestCancelAnswersOpenQuestions
//	BL-045  TestCancelIsNotAnswered
//	BL-051  TestTwoNewSessions
//	BL-110  TestBadUpdate
//	BL-112  TestUnknownInATurn
//	BL-122  TestCloseEndsTheTree TestLauncherIsKilled
//	BL-124  TestFailedLoadsLeakNoProcess
//	BL-125  TestInitializeIsNotAnswered TestLaunchedAgentIsSilent
func TestTable(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{} // of each test
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				comments[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	tests := regexp.MustCompile(`\bTest[A-Z]\w*`)
	var entries []string
	named := map[string]bool{"TestMain": true, "TestTable": true}
	for line := range strings.Lines(comments["TestTable"]) {
		bug := regexp.MustCompile(`^\s*BL-\d+`).FindString(line)
		bug = strings.TrimSpace(bug)
		found := tests.FindAllString(line, -1)
		if bug != "" {
			entries = append(entries, bug)
			if len(found) == 0 {
				t.Errorf("%s has no test", bug)
			}
		}
		for _, name := range found {
			named[name] = true
			comment, ok := comments[name]
			if !ok {
				t.Errorf("there is no %s", name)
			} else if name != "TestTable" && !strings.Contains(comment, bug) {
				t.Errorf("the comment of %s does not name %s", name, bug)
			}
		}
	}
	for name := range comments {
		if !named[name] {
			t.Errorf("%s holds no promise of the table", name)
		}
	}

	source, err := os.ReadFile("../rpc/doc_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(BL-\d+)  .*\bhost\b`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, line[1])
	}
	if len(want) < 16 || !slices.Equal(entries, want) {
		t.Errorf("the entries are %v, those of host in the table of rpc %v", entries, want)
	}
}
