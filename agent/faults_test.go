package agent_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The public faults that concern the agent: cancellation (033-045), permissions
// (052-061), blocks of a prompt (089-092), tokens and cost (129-131), signing in
// (141-144) and odd providers (145-147). TestFaults reads this comment: every test
// named here exists, and its comment names the entry. Where no test stands, the
// entry belongs to another part, named instead with its test.
//
//	BL-010  TestBadProviders
//	BL-022  TestBackgroundOutlivesTheTurn
//	BL-031  TestOutputsOfCommands
//	BL-033  TestCancelMoments
//	BL-034  TestCancelMoments
//	BL-035  TestOneOutcome
//	BL-036  TestCancelWithAQuestion
//	BL-037  TestCancelMoments
//	BL-038  TestNewAndCancel
//	BL-039  TestBackgroundOutlivesTheTurn
//	BL-040  host: TestRejectionIsNoCancel
//	BL-041  host: TestStopWithAnOpenQuestion
//	BL-042  TestCloseEndsTheWork
//	BL-043  TestCancelMoments
//	BL-044  TestCancelMoments
//	BL-045  TestCancelMoments
//	BL-052  TestRefusalHolds
//	BL-053  TestAlwaysIsTheSessions
//	BL-054  cmd/reasonix: TestPick
//	BL-055  cmd/reasonix: TestWhatIsAsked
//	BL-056  cmd/reasonix: TestWhatIsAsked
//	BL-057  TestOddAnswersDeny
//	BL-058  cmd/reasonix: TestWhatIsAsked
//	BL-059  host: TestChoose
//	BL-060  TestQuestionsOfSessions
//	BL-061  cmd/reasonix: run without a terminal refuses and says so (script cli/run_ask)
//	BL-089  TestBlocksReachTheModel
//	BL-090  TestBlocksReachTheModel
//	BL-091  TestBlocksReachTheModel
//	BL-092  TestBlocksReachTheModel
//	BL-129  TestTokensOfTheTurn
//	BL-130  TestTokensOfTheTurn
//	BL-131  cmd/reasonix: shows no cost of its own making
//	BL-141  TestSignIn TestKeyNeverLeaks
//	BL-142  TestSignIn
//	BL-143  TestSignIn
//	BL-144  host: asks nothing a second time
//	BL-145  TestFinishOnEveryChunk
//	BL-146  TestBadCallsPoisonNothing
//	BL-147  TestBadProviders TestBadCallsPoisonNothing
func TestFaults(t *testing.T) {
	comments := map[string]string{} // by package folder and test
	for _, dir := range []string{".", "../host", "../cmd/reasonix"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					comments[strings.TrimPrefix(dir, "../")+": "+f.Name.Name] = f.Doc.Text()
				}
			}
		}
	}
	var entries []string
	for line := range strings.Lines(comments[".: TestFaults"]) {
		entry, rest, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok || !strings.HasPrefix(entry, "BL-") {
			continue
		}
		entries = append(entries, entry)
		part := "."
		if where, _, elsewhere := strings.Cut(rest, ": "); elsewhere {
			part = where
		}
		for _, test := range regexp.MustCompile(`\bTest\w+`).FindAllString(rest, -1) {
			if comment := comments[part+": "+test]; !strings.Contains(comment, entry) {
				t.Errorf("%s: the comment of %s in %s does not name it: %q", entry, test, part, comment)
			}
		}
	}
	if len(entries) != 40 || !slices.IsSorted(entries) {
		t.Errorf("%d entries: %v", len(entries), entries)
	}
}
