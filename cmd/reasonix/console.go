package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
)

// console is a chat on a terminal. One goroutine, that of talk, takes all keys:
// for the line that is being written, for an open question, or to cancel the
// turn.
type console struct {
	*chat
	tty    *terminal.Terminal
	editor *terminal.Editor
	asks   chan ask
	ahead  []terminal.Key // typed during a turn, for the next line
	typed  time.Time      // when the last of them was
}

// typingPause is how long somebody who types pauses before a key can be the answer
// to a question that has come up meanwhile.
const typingPause = 500 * time.Millisecond

// ask is an open question.
type ask struct {
	ctx     context.Context // ends when nobody waits any more
	choices []choice
	answer  chan<- int
}

func newConsole(c *chat, tty *terminal.Terminal) *console {
	t := &console{chat: c, tty: tty, editor: &terminal.Editor{}, asks: make(chan ask)}
	t.editor.Complete = c.complete
	s := c.screen
	s.out, s.maxDiff, s.choose, s.said = tty, chatDiffSize, t.choose, t.editor.Remember
	s.live = func() int { wide, _ := tty.Size(); return wide }
	return t
}

const keyHelp = `
  Tab completes a command, Up and Down bring back what you wrote.
  A line that ends in \ goes on in the next one; Alt-Enter breaks the line too.
  Ctrl-C cancels what is running; at the prompt, twice, it leaves, as Ctrl-D does.`

func (c *console) opening(cancel func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case k, ok := <-c.tty.Keys():
				switch {
				case !ok:
					cancel()
					return
				case k.Name == terminal.Interrupt:
					cancel()
				default:
					c.ahead = append(c.ahead, k)
				}
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

func (c *console) opened(resumed string) {
	if resumed != "" {
		c.screen.note("", "")
	}
	c.screen.note(dim, c.header(resumed))
	c.screen.note(dim, "/help lists the commands, Ctrl-D leaves")
}

func (c *console) talk(ctx context.Context) error {
	for {
		text, err := c.read(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		c.editor.Remember(text)
		c.screen.fresh()
		done, leave := c.local(text, keyHelp)
		if leave {
			return nil
		}
		if done {
			continue
		}
		if err := c.turn(ctx, text); err != nil {
			return err
		}
		if err := c.lost(); err != nil {
			return err
		}
	}
}

// read lets the user write a prompt. io.EOF is the wish to leave.
func (c *console) read(ctx context.Context) (string, error) {
	c.editor.Reset()
	c.tty.Begin(promptMark, c.editor)
	defer c.tty.End()
	armed := false // the key before was Ctrl-C on an empty line
	for {
		k, err := c.key(ctx)
		if err != nil {
			return "", err
		}
		switch c.tty.Edit(k) {
		case terminal.Submitted:
			return c.editor.Text(), nil
		case terminal.Ended:
			return "", io.EOF
		case terminal.Interrupted:
			if armed {
				return "", io.EOF
			}
			armed = true
			_, _ = io.WriteString(c.tty, c.screen.style(dim, "Ctrl-C again leaves")+"\n")
			continue
		case terminal.Ambiguous:
			_, _ = io.WriteString(c.tty, c.screen.style(dim, strings.Join(c.editor.Candidates, "  "))+"\n")
		}
		armed = false
	}
}

// key is the next key for the line, first those typed during the turn before.
func (c *console) key(ctx context.Context) (terminal.Key, error) {
	if len(c.ahead) > 0 {
		k := c.ahead[0]
		c.ahead = c.ahead[1:]
		return k, nil
	}
	select {
	case k, ok := <-c.tty.Keys():
		if !ok {
			return k, io.EOF
		}
		return k, nil
	case <-c.host.Done():
		return terminal.Key{}, c.lost()
	case <-ctx.Done():
		return terminal.Key{}, io.EOF
	}
}

// turn runs a prompt and takes the keys meanwhile.
func (c *console) turn(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := c.prompt(ctx, text)
	keys := c.tty.Keys()
	var open ask
	interrupts := 0
	for {
		select {
		case r := <-done:
			_ = c.show(r) // a chat goes on, however a turn ends
			return nil
		case open = <-c.asks:
		case k, ok := <-keys:
			switch {
			case !ok: // the terminal is gone
				keys = nil
				cancel()
			case k.Name == terminal.Interrupt:
				interrupts++
				if interrupts > 2 {
					return exitCode(130)
				}
				c.interrupted(interrupts)
				cancel()
			case open.answer != nil && open.ctx.Err() == nil && time.Since(c.typed) > typingPause:
				if i := open.pick(k); i != noChoice {
					open.answer <- i
					open = ask{}
				}
			default:
				c.ahead = append(c.ahead, k)
				c.typed = time.Now()
			}
		}
	}
}

// interrupted says what the user can do while a cancelled turn has not ended. It
// does not wait for the screen, which an open question may hold.
func (c *console) interrupted(times int) {
	if times == 2 {
		_, _ = io.WriteString(terminal.Notes(c.tty), "the turn has not ended yet; Ctrl-C again leaves without waiting\n")
	}
}

// noChoice is for a key that answers nothing.
const noChoice = -2

// pick is the index of the choice that a key means; -1 refuses.
func (a ask) pick(k terminal.Key) int {
	switch k.Name {
	case terminal.Escape:
		return -1
	case terminal.Rune:
		if i := pick(a.choices, k.Text); i >= 0 {
			return i
		}
	}
	return noChoice
}

// choose hands a question to the goroutine that takes the keys. It invites only
// then: a key pressed on the invitation would else be taken for the next line's.
func (c *console) choose(ctx context.Context, choices []choice, invite func()) int {
	answer := make(chan int, 1)
	i := -1
	select {
	case c.asks <- ask{ctx, choices, answer}:
		invite()
		select {
		case i = <-answer:
		case <-ctx.Done():
		}
	case <-ctx.Done():
		invite() // what is written behind it is the answer
	}
	return i
}
