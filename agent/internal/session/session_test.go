package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestOneTurnAtATime(t *testing.T) {
	s := &Session{}
	ctx, end, err := s.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Begin(context.Background()); !errors.Is(err, ErrBusy) {
		t.Fatalf("a second turn: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatal("the refused turn has harmed the running one")
	}
	s.End(end)
	if _, _, err := s.Begin(context.Background()); err != nil {
		t.Fatalf("after the end: %v", err)
	}
}

func TestACancelledTurnIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{}
		s.Cancel() // nothing runs: nothing happens
		ctx, end, err := s.Begin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		s.Cancel()
		if ctx.Err() == nil {
			t.Fatal("the turn was not cancelled")
		}
		began := make(chan error)
		go func() {
			next, endNext, err := s.Begin(context.Background())
			if err == nil {
				defer s.End(endNext)
				err = next.Err() // the old cancel must not reach it
			}
			began <- err
		}()
		synctest.Wait()
		select {
		case err := <-began:
			t.Fatalf("the next turn did not wait: %v", err)
		default:
		}
		s.End(end)
		end.Answered()
		if err := <-began; err != nil {
			t.Fatal(err)
		}
	})
}

func TestRegistry(t *testing.T) {
	var r Registry
	if r.Find("a") != nil {
		t.Fatal("found in nothing")
	}
	a := &Session{ID: "a"}
	r.Add(a)
	if r.Find("a") != a || r.Find("b") != nil {
		t.Fatal("not found, or too much")
	}
}
