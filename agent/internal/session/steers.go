package session

import (
	"sync"

	"github.com/acpkit/acpkit/agent/internal/event"
)

// Steers is what the user says to a running turn, until that takes it in. The zero
// value takes nothing. Its methods may be called at the same time.
type Steers struct {
	mu     sync.Mutex
	came   sync.Cond // an offer was put or withdrawn
	open   bool
	offers int // begun, and neither put nor withdrawn
	list   []event.Steer
}

// Open begins to take: a turn runs.
func (q *Steers) Open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.came.L = &q.mu
	q.open = true
}

// Offer asks whether the running turn still takes something. If so, the turn does
// not end before put is called, once: with what is said, or with nil for nothing.
func (q *Steers) Offer() (put func(*event.Steer), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return nil, false
	}
	q.offers++
	return func(s *event.Steer) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.offers--
		if s != nil {
			q.list = append(q.list, *s)
		}
		q.came.Broadcast()
	}, true
}

// Take gives the turn what there is. With last set it waits for what is being
// offered, and when there is nothing, no more is taken.
func (q *Steers) Take(last bool) []event.Steer {
	q.mu.Lock()
	defer q.mu.Unlock()
	for last && q.offers > 0 && len(q.list) == 0 {
		q.came.Wait()
	}
	list := q.list
	q.list = nil
	if last && len(list) == 0 {
		q.open = false
	}
	return list
}

// Close takes no more, and gives what no turn has taken.
func (q *Steers) Close() (left []event.Steer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = false
	for q.offers > 0 {
		q.came.Wait()
	}
	left, q.list = q.list, nil
	return left
}
