package permission

import (
	"sync"
	"testing"
)

func TestPresets(t *testing.T) {
	tests := []struct {
		preset           Preset
		none, read, edit Decision
	}{
		{ReadOnly, Allow, Allow, Ask},
		{WorkspaceWrite, Allow, Allow, Allow},
		{FullAccess, Allow, Allow, Allow},
		{"", Allow, Allow, Ask},
		{"full", Allow, Allow, Ask},
	}
	for _, test := range tests {
		var p Policy
		p.SetPreset(test.preset)
		for access, want := range map[Access]Decision{None: test.none, Read: test.read, Edit: test.edit, Edit + 1: Ask, -1: Ask} {
			if got := p.Decide("some_tool", access); got != want {
				t.Errorf("%q, access %d: decision %d, want %d", test.preset, access, got, want)
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
		if got := p.Settle("write_file", Edit, test.answer); got != test.approved {
			t.Errorf("%q: approved %t, want %t", test.answer, got, test.approved)
		}
		if got := p.Decide("write_file", Edit); got != test.after {
			t.Errorf("%q: next decision %d, want %d", test.answer, got, test.after)
		}
		if got := p.Decide("edit_file", Edit); got != Ask {
			t.Errorf("%q: decision for another tool %d, want ask", test.answer, got)
		}
		if got := p.Decide("write_file", Edit+1); got != Ask {
			t.Errorf("%q: decision for a wider access %d, want ask", test.answer, got)
		}
	}
}

func TestGrantsAndPresetChanges(t *testing.T) {
	var p Policy
	p.Settle("write_file", Edit, RejectAlways)
	p.SetPreset(FullAccess)
	if got := p.Decide("write_file", Edit); got != Deny {
		t.Errorf("rejected for the session, then full access: decision %d, want deny", got)
	}
	p.Settle("write_file", Edit, AllowAlways)
	p.SetPreset(ReadOnly)
	if got := p.Decide("write_file", Edit); got != Allow {
		t.Errorf("a later grant replaces the earlier one: decision %d, want allow", got)
	}
}

func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	var p Policy
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p.SetPreset(WorkspaceWrite)
			p.Decide("write_file", Edit)
			p.Settle("write_file", Edit, AllowAlways)
		})
	}
	wg.Wait()
}
