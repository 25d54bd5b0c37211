package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acpkit/acpkit/generated/acp"
)

func questionOptions(kinds ...acp.PermissionOptionKind) (list []acp.PermissionOption) {
	for i, k := range kinds {
		list = append(list, acp.PermissionOption{OptionID: acp.PermissionOptionID(fmt.Sprint("q:", i+1)), Name: fmt.Sprint("Option ", i+1), Kind: k})
	}
	return list
}

// TestPick: BL-054. Numbers and letters as they are shown; an id counts only where it is
// none of them.
func TestPick(t *testing.T) {
	const once, always, no, never = acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways
	tricky := questionOptions(once, once)
	tricky[0].OptionID, tricky[1].OptionID = "2", "a"
	for _, c := range []struct {
		options []acp.PermissionOption
		answer  string
		want    int
	}{
		{questionOptions(once, always, no, never), "y", 0},
		{questionOptions(once, always, no, never), "A", 1},
		{questionOptions(once, always, no, never), "n", 2},
		{questionOptions(once, always, no, never), "4", 3},
		{questionOptions(once, always, no, never), "5", -1},
		{questionOptions(once, always, no, never), "", -1},
		{questionOptions(once, once, once, no), "y", -1},
		{questionOptions(once, once, once, no), "c", 2},
		{questionOptions(once, once, once, no), "d", 3},
		{questionOptions(once, once, once, no), "q:2", 1},
		{questionOptions("of_tomorrow", no), "a", 0},
		{tricky, "2", 1},
		{tricky, "a", 0},
	} {
		if got := pick(letters(c.options), c.answer); got != c.want {
			t.Errorf("%v: %q picks %d, want %d", c.options, c.answer, got, c.want)
		}
	}
}

// TestQuestion: what a question is about is shown, cleaned and shortened, and in
// full when that is asked for.
func TestQuestion(t *testing.T) {
	var out strings.Builder
	answers := []int{2, 1} // all of it, then the second option
	s := &screen{out: &out, bol: true, maxDiff: 2, live: func() int { return 40 }, titles: map[acp.ToolCallID]string{}, diffs: map[acp.ToolCallID]string{},
		choose: func(_ context.Context, _ []choice, invite func()) int {
			i := answers[0]
			answers = answers[1:]
			invite()
			return i
		}}
	title := "Leave plan mode\x1b[2J\nreally"
	res, err := s.permission("ask")(t.Context(), &acp.RequestPermissionRequest{
		ToolCall: acp.ToolCallUpdate{ToolCallID: "c", Title: &title, Content: []acp.ToolCallContent{&acp.Content{Content: &acp.TextContent{Text: "one\ntwo\x1b[2J\nthree\n"}}}},
		Options:  questionOptions(acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindRejectOnce),
	})
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); !ok || o.OptionID != "q:2" {
		t.Errorf("%+v", res.Outcome)
	}
	const question = "  ? Leave plan mode\uFFFD[2J\uFFFDreally\n    1  Option 1 (y)\n    2  Option 2 (n)\n"
	want := "  one\n  two\uFFFD[2J\n  … 1 more lines\n" + question + "    v  show all of it\n    choose: v\n" +
		"  one\n  two\uFFFD[2J\n  three\n" + question + "    choose: Option 2\n"
	if out.String() != want {
		t.Errorf("shown is\n%s\nwant\n%s", out.String(), want)
	}
}

// TestWhatIsAsked: BL-055, BL-056, BL-058. All that a call would change is shown
// before it is asked about, text beside it, too; and a question about a call that
// has no title has a headline all the same.
func TestWhatIsAsked(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, bol: true, cwd: "/w", titles: map[acp.ToolCallID]string{}, diffs: map[acp.ToolCallID]string{},
		choose: func(_ context.Context, _ []choice, invite func()) int { invite(); return -1 }}
	content := []acp.ToolCallContent{&acp.Content{Content: &acp.TextContent{Text: "why it is done"}}}
	for _, name := range []string{"a", "b", "c"} {
		content = append(content, &acp.Diff{Path: "/w/" + name + ".txt", OldText: new("old " + name + "\n"), NewText: "new " + name + "\n"})
	}
	options := questionOptions(acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindRejectOnce)
	ask := func(call acp.ToolCallUpdate) {
		if _, err := s.permission("ask")(t.Context(), &acp.RequestPermissionRequest{ToolCall: call, Options: options}); err != nil {
			t.Fatal(err)
		}
	}
	ask(acp.ToolCallUpdate{ToolCallID: "c1", Title: new("Change three"), Content: content})
	for _, part := range []string{"why it is done", "a.txt", "-old a", "+new a", "b.txt", "-old b", "+new b", "c.txt", "-old c", "+new c"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not shown:\n%s", part, out.String())
		}
	}
	ask(acp.ToolCallUpdate{ToolCallID: "c1"})
	ask(acp.ToolCallUpdate{ToolCallID: "c2", Kind: new(acp.ToolKindExecute)})
	ask(acp.ToolCallUpdate{ToolCallID: "c3"})
	for _, headline := range []string{"? Change three\n", "? execute\n", "? tool call c3\n"} {
		if !strings.Contains(out.String(), headline) {
			t.Errorf("no %q:\n%s", headline, out.String())
		}
	}
}

// TestInvitation: nothing invites an answer before the keys go to the question.
func TestInvitation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &console{asks: make(chan ask)}
		invited, chosen := false, -1
		go func() { chosen = c.choose(t.Context(), nil, func() { invited = true }) }()
		synctest.Wait()
		if invited {
			t.Error("invited while nobody takes an answer")
		}
		open := <-c.asks
		synctest.Wait()
		if !invited {
			t.Error("not invited")
		}
		open.answer <- 3
		synctest.Wait()
		if chosen != 3 {
			t.Errorf("chosen %d", chosen)
		}
	})
}
