package turn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// The first wait is short, so that the user hears of a failure within a second; each further one is twice as long.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 16 * time.Second
)

// retrier decides whether and when a failed model call is made again.
type retrier struct {
	limit time.Duration // since the first failure
	since time.Time     // the first failure
	tries int
}

// next says how long to wait. A provider that asks for more patience than is left gets none: the user is told at once.
func (r *retrier) next(ctx context.Context, err error) (wait time.Duration, again bool) {
	var failed *model.Error
	if ctx.Err() != nil || !errors.As(err, &failed) || !failed.Retryable() {
		return 0, false
	}
	if r.tries == 0 {
		r.since = time.Now()
	}
	wait = min(firstWait<<min(r.tries, 10), longestWait)
	wait += rand.N(wait / 4) // many sessions that failed together do not come back together
	if asked, ok := failed.RetryAfter(); ok {
		wait = max(wait, asked)
	}
	if time.Since(r.since)+wait > r.limit {
		return 0, false
	}
	r.tries++
	return wait, true
}

// explain adds how often the call was made, for the error that ends the turn.
func (r *retrier) explain(err error) error {
	if r.tries == 0 {
		return err
	}
	return fmt.Errorf("%w (tried %d times in %s)", err, r.tries+1, short(time.Since(r.since)))
}

// short is a duration as a person reads it.
func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
