// Command save-transcript is a complete ACP host in one file: it launches an
// agent, runs one prompt, prints the answer and saves every line of the
// connection. It is the example of docs/go-sdk.md.
//
// The transcript has one JSON object a line, in the order in which this host saw
// the lines: {"from":"host"|"agent","line":"…"}. The line is a string, because
// not everything that an agent prints is JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

const usage = `usage: save-transcript [flags] PROMPT -- AGENT [ARG…]

Runs one prompt turn of an ACP agent and saves the connection's lines.
Ctrl-C cancels the turn. Exit status: 0 the turn ended normally, 1 something
failed, 2 wrong usage, 3 the turn was cut short, 130 it was cancelled.

flags:
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("save-transcript", flag.ContinueOnError)
	out := flags.String("o", "transcript.ndjson", "`file` to write")
	allow := flags.Bool("allow", false, "allow what the agent asks for; without it everything is refused")
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	err := flags.Parse(args)
	rest := flags.Args()
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case len(rest) < 3 || rest[1] != "--":
		flags.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	reason, err := save(ctx, rest[0], rest[2:], *out, *allow)
	if err != nil {
		fmt.Fprintln(os.Stderr, "save-transcript:", err)
		return 1
	}
	switch reason {
	case acp.StopReasonEndTurn:
		return 0
	case acp.StopReasonCancelled:
		return 130
	}
	fmt.Fprintln(os.Stderr, "save-transcript: the turn ended with", reason)
	return 3
}

// save runs the turn. The file is complete also when it fails half-way.
func save(ctx context.Context, prompt string, command []string, file string, allow bool) (reason acp.StopReason, err error) {
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}

	// The agent is started by hand, so that its lines can be looked at on their
	// way. host.Launch does the rest better when nobody needs to look.
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	log := &transcript{w: f}
	h := host.Connect(io.TeeReader(stdout, log.from("agent")), tee{stdin, log.from("host")}, config(allow))
	defer func() {
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() }) // one that does not end by itself
		defer kill.Stop()
		err = errors.Join(err, h.Close(), cmd.Wait(), log.close())
	}()

	if _, err := h.Initialize(ctx); err != nil {
		return "", err
	}
	s, err := h.NewSession(ctx, dir)
	if err != nil {
		return "", err
	}
	turn, err := s.Prompt(ctx, prompt) // cancels the turn when ctx ends
	if err != nil {
		return "", err
	}
	fmt.Println(turn.Text())
	return turn.StopReason, nil
}

// config says what this host serves: nothing but an answer to questions.
func config(allow bool) host.Config {
	kinds := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	if allow {
		kinds = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	}
	return host.Config{
		Info: acp.Implementation{Name: "save-transcript", Version: "1.0.0"},
		Handlers: acp.ClientHandlers{
			SessionRequestPermission: func(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
				return host.Choose(p, kinds...), nil
			},
		},
	}
}

// transcript writes the lines of both sides, each when it is whole.
type transcript struct {
	mu    sync.Mutex
	w     io.Writer
	err   error
	sides []*side
}

type side struct {
	t    *transcript
	name string
	part []byte // of a line that is not whole yet
}

func (t *transcript) from(name string) *side {
	s := &side{t: t, name: name}
	t.sides = append(t.sides, s)
	return s
}

func (s *side) Write(p []byte) (int, error) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.part = append(s.part, p...)
	for {
		line, rest, whole := bytes.Cut(s.part, []byte("\n"))
		if !whole {
			return len(p), nil // a full disk must not end the turn; close reports it
		}
		s.t.add(s.name, string(line))
		s.part = rest
	}
}

func (t *transcript) add(from, line string) {
	b, err := json.Marshal(map[string]string{"from": from, "line": line})
	if err == nil && t.err == nil {
		_, t.err = t.w.Write(append(b, '\n'))
	}
}

// close adds the lines that were cut off.
func (t *transcript) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.sides {
		if len(s.part) > 0 {
			t.add(s.name, string(s.part))
		}
	}
	return t.err
}

// tee is the agent's stdin, noted down.
type tee struct {
	io.WriteCloser
	log *side
}

func (t tee) Write(p []byte) (int, error) {
	_, _ = t.log.Write(p) // first: the agent may answer before Write returns
	return t.WriteCloser.Write(p)
}
