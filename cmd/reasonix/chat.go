package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

type chatCmd struct {
	options
	place
	Permission string `default:"ask" enum:"ask,allow,deny" placeholder:"HOW" help:"Answer to permission questions: ask, allow or deny. Without a terminal there is nobody to ask, and ask refuses."`
}

const (
	promptMark   = "› "
	chatDiffSize = 30 // lines of a diff
)

// chat is a session with somebody at the other end of the input.
type chat struct {
	screen  *screen
	host    *host.Host
	session *host.Session

	mu        sync.Mutex // guards commands
	commands  []acp.AvailableCommand
	announced chan struct{} // closed when commands have come
	announce  func()
}

// commandsTime is how long the commands may come behind the session.
const commandsTime = 2 * time.Second

func newChat(s *screen) *chat {
	c := &chat{screen: s, announced: make(chan struct{})}
	c.announce = sync.OnceFunc(func() { close(c.announced) })
	return c
}

// Run plays the host of an agent in this process for as many prompts as there
// are. On a terminal it edits lines and answers keys; elsewhere each line of
// input is a prompt, and the exit code is that of the last turn.
func (c *chatCmd) Run(sio stdio) error {
	a := c.agent(sio.err)
	cwd, id, err := c.find(a)
	if err != nil {
		return err
	}
	talk := newChat(newScreen(sio, cwd))
	var tty *terminal.Terminal
	if terminal.Usable(sio.in, sio.out) {
		if tty, err = terminal.Open(sio.in, sio.out); err != nil {
			return err
		}
		defer tty.Close()
		if term.IsTerminal(int(sio.err.Fd())) {
			a = c.agent(terminal.Notes(tty)) // nothing else may write there meanwhile
		}
	}
	var front frontEnd
	if tty != nil {
		front = newConsole(talk, tty)
	} else {
		front = newLineChat(talk, sio)
	}
	talk.host = connect(a.Serve, host.Config{
		Info:     acp.Implementation{Name: "reasonix-chat", Version: version},
		Handlers: acp.ClientHandlers{SessionUpdate: talk.update, SessionRequestPermission: talk.screen.permission(c.Permission)},
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err = talk.open(ctx, opener{host: talk.host, options: c.options, cwd: cwd, id: id, replay: true}, front)
	if err == nil {
		err = front.talk(ctx)
	}
	talk.screen.end()
	if closing := talk.host.Close(); err == nil {
		err = closing
	}
	return err
}

// frontEnd is how prompts come in.
type frontEnd interface {
	// opening is told before the session is opened; cancel breaks that off. The
	// function that it returns ends this.
	opening(cancel func()) (stop func())
	// opened is told when the session is there, and its id when it was resumed.
	opened(resumed string)
	// talk goes on until the user leaves; ctx ends it too.
	talk(ctx context.Context) error
}

func (c *chat) open(ctx context.Context, o opener, front frontEnd) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := front.opening(cancel)
	c.screen.replaying(true)
	if c.session, err = o.open(ctx); err == nil {
		c.awaitCommands(ctx)
	}
	c.screen.replaying(false)
	stop()
	if err != nil {
		return plainError(err)
	}
	front.opened(o.id)
	return nil
}

// awaitCommands waits for the commands, which are told behind the session, so that
// the first Tab and the first /help know them.
func (c *chat) awaitCommands(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, commandsTime)
	defer cancel()
	select {
	case <-c.announced:
	case <-c.host.Done():
	case <-ctx.Done():
	}
}

// replaying says whether what comes now is of earlier turns.
func (s *screen) replaying(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replay = on; !on && s.last != "" {
		s.begin("replay")
	}
}

// update keeps the commands on offer and has the rest drawn.
func (c *chat) update(ctx context.Context, n *acp.SessionNotification) error {
	if u, ok := n.Update.(*acp.AvailableCommandsUpdate); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.commands = u.AvailableCommands
		c.announce()
		return nil
	}
	return c.screen.update(ctx, n)
}

// own are the commands that chat carries out itself.
var own = [...]acp.AvailableCommand{
	{Name: "exit", Description: "Leave the chat; the session is kept"},
	{Name: "help", Description: "All commands, and the keys"},
	{Name: "quit", Description: "The same as /exit"},
}

// offered are the agent's commands and our own, by name. A command of the
// agent with the name of one of ours is left out, because ours comes first.
func (c *chat) offered() []acp.AvailableCommand {
	c.mu.Lock()
	list := slices.Clone(c.commands)
	c.mu.Unlock()
	list = slices.DeleteFunc(list, func(a acp.AvailableCommand) bool {
		return slices.ContainsFunc(own[:], func(o acp.AvailableCommand) bool { return o.Name == a.Name })
	})
	list = append(list, own[:]...)
	slices.SortFunc(list, func(a, b acp.AvailableCommand) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// complete offers the commands that a line can become.
func (c *chat) complete(before string) []string {
	if !strings.HasPrefix(before, "/") || strings.ContainsAny(before, " \n\t") {
		return nil
	}
	var list []string
	for _, o := range c.offered() {
		if name := "/" + terminal.CleanLine(o.Name); strings.HasPrefix(name, before) {
			list = append(list, name)
		}
	}
	return list
}

// help lists the commands.
func (c *chat) help(keys string) {
	var b strings.Builder
	for _, o := range c.offered() {
		name := o.Name
		if in, ok := o.Input.(*acp.UnstructuredCommandInput); ok {
			name += " " + in.Hint
		}
		fmt.Fprintf(&b, "  /%-28s %s\n", terminal.CleanLine(name), terminal.CleanLine(o.Description))
	}
	c.screen.note("", b.String()+keys)
}

// local carries out what is meant for chat itself, and reports whether it was;
// leave is set when the user wants to go.
func (c *chat) local(line, keys string) (done, leave bool) {
	switch strings.TrimSpace(line) {
	case "/exit", "/quit":
		return true, true
	case "/help":
		c.help(keys)
		return true, false
	}
	return false, false
}

// result is how a turn ended.
type result struct {
	turn *host.Turn
	err  error
}

// prompt runs a turn and reports its end on the channel.
func (c *chat) prompt(ctx context.Context, text string) <-chan result {
	done := make(chan result, 1)
	go func() {
		turn, err := c.session.Prompt(ctx, text)
		done <- result{turn, err}
	}()
	return done
}

// show tells how a turn ended where that is not as usual, and returns its exit code.
func (c *chat) show(r result) error {
	if r.err != nil {
		c.screen.note(red, "✗ "+terminal.Clean(plainError(r.err).Error()))
		return exitCode(1)
	}
	if r.turn.StopReason != acp.StopReasonEndTurn {
		c.screen.stop(r.turn.StopReason)
	}
	c.screen.end()
	return turnEnd(r.turn.StopReason)
}

// lost says why the agent is gone, if it is.
func (c *chat) lost() error {
	select {
	case <-c.host.Done():
		if err := c.host.Close(); err != nil {
			return err
		}
		return errors.New("the agent has ended")
	default:
		return nil
	}
}

// header says what was opened.
func (c *chat) header(resumed string) string {
	list := c.session.ConfigOptions
	what := "session"
	if resumed != "" {
		what = "resumed session"
	}
	return terminal.CleanLine(fmt.Sprintf("reasonix %s, %s %.8s, model %s, permissions %s", version, what, c.session.ID, current(list, "model"), current(list, "tool_approval")))
}
