package session

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/event"
)

func TestSteers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Steers
		if _, ok := q.Offer(); ok {
			t.Error("taken without a turn")
		}
		if left := q.Close(); left != nil {
			t.Errorf("left: %v", left)
		}
		q.Open()
		say := func(text string) func() {
			put, ok := q.Offer()
			if !ok {
				t.Errorf("%q is not taken", text)
				return func() {}
			}
			return func() { put(&event.Steer{Text: text}) }
		}
		say("a")()
		second := say("b")
		expect := func(got []event.Steer, want ...string) {
			t.Helper()
			var texts []string
			for _, s := range got {
				texts = append(texts, s.Text)
			}
			if d := cmp.Diff(want, texts); d != "" {
				t.Errorf("taken (-want +got):\n%s", d)
			}
		}
		expect(q.Take(false), "a")
		expect(q.Take(false)) // b is not there yet, and the turn has other things to do

		// At its end it waits for what is being offered.
		var last []event.Steer
		done := false
		go func() { last, done = q.Take(true), true }()
		synctest.Wait()
		if done {
			t.Error("the end does not wait for the offer")
		}
		second()
		synctest.Wait()
		expect(last, "b")

		put, _ := q.Offer()
		go func() { last = q.Take(true) }()
		synctest.Wait()
		put(nil) // it could not be written down
		synctest.Wait()
		expect(last)
		if _, ok := q.Offer(); ok {
			t.Error("taken although the turn is at its end")
		}

		q.Open()
		say("c")()
		late := say("d")
		go func() { last = q.Close() }()
		synctest.Wait()
		if _, ok := q.Offer(); ok {
			t.Error("taken after Close")
		}
		late()
		synctest.Wait()
		expect(last, "c", "d")
	})
}
