package permission

import (
	"sync"
	"testing"
)

var (
	inside = Access{Kind: Edit, Paths: []string{"/w/a"}}
	wider  = Access{Kind: Edit, Paths: []string{"/a"}, Outside: []string{"/a"}}
)

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
			if got := p.Decide("some_tool", Access{Kind: kind}); got != want {
				t.Errorf("%q, access %d: decision %d, want %d", test.preset, kind, got, want)
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
		if got := p.Settle("write_file", inside, test.answer); got != test.approved {
			t.Errorf("%q: approved %t, want %t", test.answer, got, test.approved)
		}
		if got := p.Decide("write_file", inside); got != test.after {
			t.Errorf("%q: next decision %d, want %d", test.answer, got, test.after)
		}
		if got := p.Decide("edit_file", inside); got != Ask {
			t.Errorf("%q: decision for another tool %d, want ask", test.answer, got)
		}
		if got := p.Decide("write_file", wider); got != Ask {
			t.Errorf("%q: decision for a wider access %d, want ask", test.answer, got)
		}
	}
}

func TestGrantsAndPresetChanges(t *testing.T) {
	var p Policy
	p.Settle("write_file", inside, RejectAlways)
	p.SetPreset(FullAccess)
	if got := p.Decide("write_file", inside); got != Deny {
		t.Errorf("rejected for the session, then full access: decision %d, want deny", got)
	}
	p.Settle("write_file", inside, AllowAlways)
	p.SetPreset(ReadOnly)
	if got := p.Decide("write_file", inside); got != Allow {
		t.Errorf("a later grant replaces the earlier one: decision %d, want allow", got)
	}
}

func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	var p Policy
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p.SetPreset(WorkspaceWrite)
			p.Decide("write_file", inside)
			p.Settle("write_file", inside, AllowAlways)
		})
	}
	wg.Wait()
}
