package turn

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stamped is an event with the milliseconds at which it went out.
type stamped struct {
	At    int64
	Event Event
}

func record(events *[]stamped) func(Event) error {
	start := time.Now()
	return func(e Event) error {
		*events = append(*events, stamped{time.Since(start).Milliseconds(), e})
		return nil
	}
}

func TestCoalesce(t *testing.T) {
	sleep := func(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }
	big := strings.Repeat("x", maxJoined)
	tests := []struct {
		name string
		each bool
		run  func(c *coalescer)
		want []stamped
	}{
		{"joined within the window", false, func(c *coalescer) {
			for _, s := range []string{"a", "b", "c", "d"} {
				c.add(kindText, s)
				sleep(20)
			}
			sleep(100)
		}, []stamped{{50, Text{Text: "abc"}}, {110, Text{Text: "d"}}}},
		{"a stalled model", false, func(c *coalescer) { c.add(kindText, "mid"); sleep(1000); c.add(kindText, "word"); c.flush() },
			[]stamped{{50, Text{Text: "mid"}}, {1000, Text{Text: "word"}}}},
		{"the size bound", false, func(c *coalescer) { c.add(kindText, "a"); c.add(kindText, big); c.add(kindText, "b"); sleep(100) },
			[]stamped{{0, Text{Text: "a" + big}}, {50, Text{Text: "b"}}}},
		{"another kind", false, func(c *coalescer) { c.add(kindThought, "t"); c.add(kindText, "u"); c.add(kindThought, "v"); sleep(100) },
			[]stamped{{0, Thought{Text: "t"}}, {0, Text{Text: "u"}}, {50, Thought{Text: "v"}}}},
		{"before another event", false, func(c *coalescer) { c.add(kindText, "a"); sleep(10); c.event(ToolStart{ID: "x"}); sleep(100) },
			[]stamped{{10, Text{Text: "a"}}, {10, ToolStart{ID: "x"}}}},
		{"each", true, func(c *coalescer) { c.add(kindText, "a"); c.add(kindText, "b"); sleep(100) },
			[]stamped{{0, Text{Text: "a"}}, {0, Text{Text: "b"}}}},
		{"closed", false, func(c *coalescer) { c.add(kindText, "a"); c.close(); sleep(100) }, nil},
		{"a timer that fires while it is closed", false, func(c *coalescer) { c.add(kindText, "a"); c.close(); c.flush() }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var events []stamped
				c := &coalescer{emit: record(&events), each: test.each}
				test.run(c)
				synctest.Wait()
				if d := cmp.Diff(test.want, events); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
			})
		})
	}
}

// A failure in the timer is seen by whoever comes next, and nothing goes out after it.
func TestCoalesceError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		calls := 0
		c := &coalescer{emit: func(Event) error { calls++; return gone }}
		if err := c.add(kindText, "a"); err != nil {
			t.Errorf("first piece: %v", err)
		}
		time.Sleep(time.Second)
		for n, err := range []error{c.add(kindText, "b"), c.event(ToolStart{}), c.flush()} {
			if err != gone {
				t.Errorf("step %d: %v", n, err)
			}
		}
		if calls != 1 {
			t.Errorf("emitted %d times", calls)
		}
	})
}

// 20,000 one-token deltas in a burst come out as few updates with the same text.
func TestBurst(t *testing.T) {
	var pieces []stamped
	c := &coalescer{emit: record(&pieces)}
	for range 20_000 {
		c.add(kindText, "word ")
	}
	c.flush()
	var all strings.Builder
	for _, p := range pieces {
		all.WriteString(p.Event.(Text).Text)
	}
	if all.String() != strings.Repeat("word ", 20_000) {
		t.Error("the text has changed")
	}
	if len(pieces) > 200 {
		t.Errorf("%d updates", len(pieces))
	}
}
