package provider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/acpkit/acpkit/generated/script"
)

// errGone is a client that has closed its end, or a server that is being closed.
var errGone = errors.New("the client is gone")

// delivery is one answer on its way.
type delivery struct {
	*answer
	ctx   context.Context // ends with the client
	w     http.ResponseWriter
	flush func() error
	let   chan struct{} // closed when the request is released
	state func(State)   // says how it goes
}

// run sends the answer. What it returns is for the record; the connection is as the reply wants it.
func (d *delivery) run() State {
	err := d.send()
	switch {
	case errors.Is(err, errCut):
		return StateCut
	case err != nil:
		return StateGone
	}
	return StateDone
}

// errCut ends an answer that the script cuts.
var errCut = errors.New("cut")

func (d *delivery) send() error {
	if err := d.stopAt(script.PlaceConnection); err != nil {
		return err
	}
	for name, value := range d.header {
		d.w.Header().Set(name, value)
	}
	d.w.WriteHeader(d.status)
	if d.comment != nil || d.stop || d.wait > 0 {
		if err := d.flush(); err != nil {
			return errGone
		}
	}
	if err := d.stopAt(script.PlaceHead); err != nil {
		return err
	}
	if err := d.pause(d.wait, true); err != nil {
		return err
	}
	return d.sendBody()
}

func (d *delivery) sendBody() error {
	stop := -1
	if d.stop && d.place != script.PlaceConnection && d.place != script.PlaceHead {
		stop = d.at
	}
	offset := 0
	for _, s := range d.body {
		if s.paced {
			if err := d.pause(d.delay, true); err != nil {
				return err
			}
		}
		data := s.data
		if stop >= offset && stop <= offset+len(data) {
			before := stop - offset
			if err := d.write(data[:before]); err != nil {
				return err
			}
			if err := d.halt(before == len(data)); err != nil {
				return err
			}
			data, stop = data[before:], -1
			offset += before
		}
		if err := d.write(data); err != nil && !s.end {
			return err
		}
		offset += len(data)
	}
	if stop >= 0 { // there is no body
		return d.halt(true)
	}
	return nil
}

// stopAt cuts or hangs if that is to happen at place.
func (d *delivery) stopAt(place script.Place) error {
	if !d.stop || d.place != place {
		return nil
	}
	return d.halt(place == script.PlaceHead)
}

// halt is the cut or the hang. Comments may come in between only where no line is begun.
func (d *delivery) halt(between bool) error {
	if !d.hang {
		d.cut()
		return errCut
	}
	d.state(StateHanging)
	if err := d.idle(nil, between); err != nil {
		return err
	}
	d.state(StateOpen)
	return nil
}

// cut ends the connection, unless the end of the body is to look like a proper one.
func (d *delivery) cut() {
	d.state(StateCut)
	if d.cutBy == script.CutByEnd {
		return
	}
	conn, _, err := http.NewResponseController(d.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes it too
	}
	if tcp, ok := conn.(*net.TCPConn); ok && d.cutBy == script.CutByReset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// pause waits, with comments if they are wanted.
func (d *delivery) pause(wait time.Duration, between bool) error {
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	return d.idle(timer.C, between)
}

// idle waits until over, or without that until the request is released.
func (d *delivery) idle(over <-chan time.Time, between bool) error {
	let := d.let
	if over != nil {
		let = nil
	}
	var alive <-chan time.Time
	if d.keepAlive > 0 && between && d.comment != nil {
		ticker := time.NewTicker(d.keepAlive)
		defer ticker.Stop()
		alive = ticker.C
	}
	for {
		select {
		case <-over:
			return nil
		case <-let:
			return nil
		case <-alive:
			if err := d.write(d.comment); err != nil {
				return err
			}
		case <-d.ctx.Done():
			return errGone
		}
	}
}

// write sends data, in as many pieces as the reply wants.
func (d *delivery) write(data []byte) error {
	for len(data) > 0 {
		if d.ctx.Err() != nil {
			return errGone
		}
		n := len(data)
		if d.split > 0 {
			n = min(n, d.split)
		}
		if _, err := d.w.Write(data[:n]); err != nil {
			return errGone
		}
		if d.comment != nil || d.split > 0 || d.stop {
			if err := d.flush(); err != nil {
				return errGone
			}
		}
		data = data[n:]
	}
	return nil
}
