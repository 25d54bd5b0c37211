package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
)

// lineChat takes each line of input as a prompt.
type lineChat struct {
	*chat
	in      *lineReader
	err     io.Writer
	person  bool // types the lines
	signals chan os.Signal
}

func newLineChat(c *chat, sio stdio) *lineChat {
	l := &lineChat{chat: c, in: newLineReader(sio.in), err: sio.err, signals: make(chan os.Signal, 1)}
	l.person = l.in.echoes
	c.screen.choose = nil
	if l.person {
		c.screen.choose = c.screen.byLine(l.in)
	}
	return l
}

func (l *lineChat) opening(cancel func()) (stop func()) {
	ctx, unnotify := signal.NotifyContext(context.Background(), os.Interrupt)
	unwatch := context.AfterFunc(ctx, cancel)
	return func() { unwatch(); unnotify() }
}

func (l *lineChat) opened(resumed string) {
	if l.person {
		l.screen.note("", l.header(resumed))
	}
}

func (l *lineChat) talk(ctx context.Context) error {
	signal.Notify(l.signals, os.Interrupt)
	defer signal.Stop(l.signals)
	var last error
	for {
		text, ok := l.read(ctx)
		if !ok || ctx.Err() != nil {
			return last
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		done, leave := l.local(text, "")
		if leave {
			return last
		}
		if done {
			continue
		}
		var interrupted bool
		last, interrupted = l.turn(ctx, text)
		if lost := l.lost(); lost != nil {
			return lost
		}
		if interrupted && !l.person {
			return last
		}
	}
}

// read is the next prompt; a line that ends in a backslash goes on in the next one.
// Ctrl-C ends the input, where nothing runs that it could cancel.
func (l *lineChat) read(ctx context.Context) (text string, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := make(chan struct{})
	defer close(idle)
	go func() {
		select {
		case <-l.signals:
			cancel()
		case <-l.host.Done():
			cancel()
		case <-idle:
		}
	}()
	mark := promptMark
	for {
		if l.person {
			l.screen.ask(mark)
		}
		line, more := l.in.next(ctx)
		if !more {
			return text, text != "" && ctx.Err() == nil
		}
		before, goesOn := strings.CutSuffix(line, `\`)
		if !goesOn {
			return text + line, true
		}
		text += before + "\n"
		mark = "  "
	}
}

// ask shows the mark behind which a line is typed.
func (s *screen) ask(mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin("prompt")
	s.write(mark)
	s.bol, s.last = true, "" // the user ends the line
}

func (l *lineChat) turn(ctx context.Context, text string) (end error, interrupted bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := l.prompt(ctx, text)
	for {
		select {
		case r := <-done:
			if r.err != nil && !l.person {
				l.screen.end()
				fmt.Fprintln(l.err, "reasonix:", terminal.Clean(plainError(r.err).Error()))
				return exitCode(1), interrupted
			}
			return l.show(r), interrupted
		case <-l.signals:
			interrupted = true
			cancel()
		}
	}
}
