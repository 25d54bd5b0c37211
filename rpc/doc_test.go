package rpc_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each sentence of DESIGN section 6, and the tests that hold it. TestTable
// reads this comment: every test named here exists.
//
//	One Conn over a reader and a writer.                     Example TestPeersCallEachOther TestSendBeforeRun
//	NDJSON,                                                  TestDelivery TestFramesStayWhole TestSlowPipe FuzzLines
//	UTF-8 checked;                                           TestLadder TestFramesStayWhole TestErrorsOnTheWire
//	line limit 64 MiB by default (a longer line is drained,
//	  answered -32700 and survived);                         TestDefaultLineLimit TestLineLimit TestOversizeLineIsOneSessions
//	blank and white-space lines ignored;                     TestLadder TestBlankLines
//	ids kept as raw tokens (1 and "1" differ; 2.5 and
//	  2^53+1 come back unharmed).                            TestIDsComeBackUnharmed TestIDsInFlight TestResponseIDsAreExact TestSameIDBothDirections
//	Junk: not JSON → -32700 with id null;                    TestLadder TestJunkThenARequest TestEndInTheMiddleOfALine FuzzEnvelope
//	array, scalar, no method and no result, jsonrpc missing
//	  or not "2.0" → -32600 (its id, else null);             TestLadder TestTolerated FuzzEnvelope
//	an error response with null id is only logged, so two
//	  peers never ping-pong;                                 TestLadder TestNoPingPong
//	responses to unknown ids are dropped;                    TestLadder TestCallIsNotTakenIn TestResponseIDsAreExact
//	unknown notifications are silent;                        TestLadder TestUnknownInTheMiddle
//	everything odd is one line on stderr.                    TestLadder TestJunkThenARequest TestNoPingPong
//	Order: requests are admitted on the read loop in wire
//	  order (so that a session/cancel right behind its
//	  prompt always ends that prompt),                       TestCancelRightBehindItsPrompt TestCancelRequestRightBehind TestInlineComesBeforeWhatIsBehindIt
//	then run concurrently;                                   TestRequestsRunConcurrently TestParkedSessionHoldsUpNobody
//	notifications with the same key keep their order;        TestKeysKeepOrder TestChunksKeepTheirOrder TestReplayInOneBurst
//	a response is delivered after what was sent before it.   TestResponseComesAfterNotifications TestResponseBeforeEndOfInput TestReplayInOneBurst TestHandlersFramesKeepTheirOrder
//	A Call made from inside a handler is delivered at once,  TestHandlersCallIsDeliveredAtOnce
//	and while any Call is pending reading goes on past the
//	  queue bound, so handlers that call back cannot
//	  deadlock. (While only Calls from outside are pending,
//	  notifications still count: their response waits for
//	  those anyway.)                                         TestCallFromHandlerWithFullQueue TestCallElsewhereWithFullQueue TestCallsFromAFullQueue TestPeersCallEachOther TestBoundComesBack
//	Slow handlers push back on the pipe;                     TestSlowHandlerBoundsMemory TestBurstLeavesTheHeapFlat TestQueueBoundsBytes TestAdmittedLeavesTheQueue
//	nothing is dropped, no queue limit closes the
//	  connection.                                            TestSlowHandlerBoundsMemory TestReplayInOneBurst TestPeerThatDoesNotRead TestSendersWaitForRoom TestAnswersAfterTheEnd
//	One writer; frames that wait are joined into one write.  TestFramesAreJoined TestFramesDoNotInterleave TestShortWrite
//	$/cancel_request both ways.                              TestCancelFromThePeer TestCancelOfAQueuedRequest TestCancelOfACall TestCancelOfAnAnsweredCall TestManyCancelledCalls TestCancelCascades TestCancelRacesWithTheAnswer TestGivingUpRacesWithTheResponse TestCancelWithAnOpenQuestion TestCancelAtAnyMoment
//	EOF: running handlers are cancelled and awaited,
//	  accepted requests are still answered,                  TestEndOfInput TestEndAtAnyMoment TestAnswersAfterTheEnd
//	everything pending fails at once,                        TestEndOfInput TestCallsRaceWithTheEnd
//	exit 0.                                                  TestEndAtAnyMoment TestEndOfInput
//	A panic in a handler is -32603 for that request only.    TestPanicIsOneRequests TestGoexitIsOneRequests TestInlinePanicsAndExits TestPanicInKey
//	(All ends that are no EOF)                               TestRunsContextEnds TestReadFails TestBrokenPipe TestHalfOpen TestPeerThatNeverCloses TestPeerThatDoesNotReadOSPipe
//	(All of it at once, in any order)                        FuzzConn
//
// The public faults of spec/bug-log.md, classes 1 to 6 and 14 to 16. The comment
// of each test named here names the entry. Where no test stands, the entry
// belongs to another part, named instead.
//
//	BL-001  cmd: nothing but the Conn writes to stdout
//	BL-002  cmd: the same
//	BL-003  TestJunkThenARequest
//	BL-004  TestCallIsNotTakenIn
//	BL-005  TestJunkThenARequest; host: how it launches
//	BL-006  TestJunkThenARequest TestNoPingPong
//	BL-007  cmd: frames go to stdout
//	BL-008  TestJunkThenARequest
//	BL-009  TestEndInTheMiddleOfALine TestResponseBeforeEndOfInput
//	BL-010  agent: a backend that is dead
//	BL-011  TestSizesBothWays
//	BL-012  TestDefaultLineLimit
//	BL-013  TestSizesBothWays
//	BL-014  TestSizesBothWays
//	BL-015  TestOversizeLineIsOneSessions
//	BL-016  TestSizesBothWays; agent: load
//	BL-017  TestSizesBothWays; host
//	BL-018  TestReplayInOneBurst
//	BL-019  TestSizesBothWays; conformance: oversize is no parse fault
//	BL-020  TestChunksKeepTheirOrder
//	BL-021  TestReplayInOneBurst TestSlowHandlerBoundsMemory TestBurstLeavesTheHeapFlat
//	BL-022  TestHandlersFramesKeepTheirOrder; agent: background work
//	BL-023  agent: session/new and what follows
//	BL-024  host: updates before the id is known
//	BL-025  host: updates before the first prompt
//	BL-026  agent and host: load is answered last
//	BL-027  agent and host
//	BL-028  agent: coalescing; host
//	BL-029  TestCallsRaceWithTheEnd TestEndOfInput
//	BL-030  TestDelivery TestSlowPipe; agent: the provider's stream
//	BL-031  TestFramesStayWhole; agent: command output
//	BL-032  TestSlowPipe; agent: edits
//	BL-033  TestCancelRequestRightBehind TestCancelRightBehindItsPrompt; agent
//	BL-034  agent: usage of a cancelled turn
//	BL-035  TestCancelAtAnyMoment; agent: one outcome
//	BL-036  TestCancelWithAnOpenQuestion; agent
//	BL-037  TestCancelAtAnyMoment; agent
//	BL-038  TestCancelRequestRightBehind; agent
//	BL-039  agent: background work
//	BL-040  host: a rejection is no cancel
//	BL-041  host: cancel answers open questions
//	BL-042  agent: session/close
//	BL-043  TestCancelWithAnOpenQuestion; agent
//	BL-044  TestCancelWithAnOpenQuestion; agent
//	BL-045  TestCancelOfACall; host: recovery
//	BL-046  TestParkedSessionHoldsUpNobody; agent: history
//	BL-047  TestParkedSessionHoldsUpNobody; agent
//	BL-048  TestCancelWithAnOpenQuestion TestCancelFromThePeer; agent
//	BL-049  TestParkedSessionHoldsUpNobody; agent
//	BL-050  agent: sessions own their backends
//	BL-051  host: one session/new
//	BL-110  generated, host: a bad update
//	BL-111  generated: unknown variants
//	BL-112  TestUnknownInTheMiddle; host
//	BL-113  generated, conformance: every variant
//	BL-114  TestReplayInOneBurst
//	BL-115  agent: protocol versions
//	BL-116  generated: nothing is lost
//	BL-117  TestUnknownInTheMiddle; schema: names
//	BL-118  agent: its name and version
//	BL-119  TestResponseIDsAreExact TestIDsInFlight
//	BL-120  TestResponseIDsAreExact TestIDsComeBackUnharmed
//	BL-121  TestEndAtAnyMoment; cmd: exit 0
//	BL-122  host: the tree of processes
//	BL-123  TestHalfOpen TestBrokenPipe; agent: tool processes, cmd: SIGPIPE
//	BL-124  host: one process
//	BL-125  TestCancelOfACall; agent: its start, host: its patience
//	BL-126  TestPeerThatNeverCloses; cmd: a parent that is gone
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
			if f, ok := decl.(*ast.FuncDecl); ok {
				comments[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	tests := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	var entries []string
	for line := range strings.Lines(comments["TestTable"]) {
		line = strings.TrimSpace(line)
		bug, isBug := "", strings.HasPrefix(line, "BL-")
		if isBug {
			bug = line[:len("BL-000")]
			entries = append(entries, bug)
			if line == bug {
				t.Errorf("%s: neither a test nor another part", bug)
			}
		}
		for _, name := range tests.FindAllString(line, -1) {
			comment, ok := comments[name]
			switch {
			case name == "TestTable":
			case !ok:
				t.Errorf("there is no %s", name)
			case isBug && !strings.Contains(comment, bug):
				t.Errorf("the comment of %s does not name %s", name, bug)
			}
		}
	}
	var want []string // classes 1 to 6 and 14 to 16
	for n := 1; n <= 126; n++ {
		if n <= 51 || n >= 110 {
			want = append(want, fmt.Sprintf("BL-%03d", n))
		}
	}
	if !slices.Equal(entries, want) {
		t.Errorf("entries %v", entries)
	}
}
