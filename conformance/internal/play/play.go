// Package play plays a script against an agent: it starts the process, does the steps in order, and records what crosses.
//
// It knows processes, pipes and time, and matches messages by their envelope. It does not know what a message means, nor
// what a transcript looks like (package transcript does), and it never judges: a play succeeds when every step could be
// done and every line of the agent was an ACP message. The language and the promises are documented in package conformance.
//
// # Why a transcript does not depend on timing
//
// An agent writes when it likes, so a line may be read before or after the script's next send. Therefore lines are not
// recorded when read. They wait in the order of the agent, and an await that matches puts all of them up to and including
// the match into the transcript; what the host sends is recorded when sent. The transcript is then a function of the
// script and of the order of the agent's own lines.
package play

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

// DefaultTimeout is how long a step may take when Config.Timeout is zero. It only costs time when something is broken, and
// machines that run tests are sometimes very slow.
const DefaultTimeout = 20 * time.Second

var nameRE = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// Config is conformance.PlayConfig, which documents the fields.
type Config struct {
	Command []string
	Dir     string
	WorkDir string
	Env     []string
	Names   map[string]string
	Script  []byte
	Timeout time.Duration
}

// Result is what a play leaves behind, also one that failed: then up to the step that could not be done.
type Result struct {
	Lines  []transcript.Line
	Stderr string // of all processes of the play, in order; the last 4 MiB
}

// Run plays a script. When it returns, the process and all goroutines of the play have ended. The error is an *Error when
// a step could not be done or the agent wrote a line that is no ACP message; otherwise the config is unusable, and nothing
// was started.
func Run(ctx context.Context, cfg Config) (Result, error) {
	script, err := transcript.ParseScript(cfg.Script)
	if err != nil {
		return Result{}, err
	}
	if err := cfg.complete(); err != nil {
		return Result{}, err
	}
	p := &player{cfg: cfg, rec: transcript.NewRecorder(script, cfg.WorkDir), stderr: &tail{limit: 4 << 20}}
	for name, value := range cfg.Names {
		p.rec.Call(name, value)
	}
	failure := p.play(ctx, script)
	result := Result{Lines: p.rec.Lines(), Stderr: p.stderr.String()}
	if failure != nil {
		failure.Stderr = result.Stderr
		return result, failure
	}
	return result, nil
}

// complete fills in what a zero field means.
func (c *Config) complete() (err error) {
	if len(c.Command) == 0 {
		return fmt.Errorf("play: no command")
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return fmt.Errorf("play: %w", err)
	}
	if c.WorkDir == "" {
		c.WorkDir = c.Dir
	}
	if c.WorkDir, err = filepath.Abs(c.WorkDir); err != nil {
		return fmt.Errorf("play: %w", err)
	}
	for name, value := range c.Names {
		if !nameRE.MatchString(name) || name == "WORK" || value == "" {
			return fmt.Errorf("play: %q is no name for %q: a name has capital letters, digits and underscores, and its value is not empty", name, value)
		}
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	return nil
}

// player is one run of a script. Only the goroutine of Run touches it; what the pipes bring arrives through process.
type player struct {
	cfg    Config
	rec    *transcript.Recorder
	proc   *process // nil before the start and after eof and kill
	stderr *tail

	lines  []line // what the running process wrote so far
	mark   int    // lines[:mark] stand in the transcript
	faults []string
}

// line is one line of the agent and what the script has done with it.
type line struct {
	*transcript.Message
	consumed bool // an await or answer has taken it
	answered bool
}

// play does all steps and ends the process, whatever happens.
func (p *player) play(ctx context.Context, script *transcript.Script) *Error {
	step := transcript.Step{Text: "start"}
	err := p.start()
	if err == nil {
		defer func() {
			if p.proc != nil {
				p.proc.destroy()
			}
		}()
		for _, step = range script.Steps {
			if err = p.do(ctx, step); err != nil {
				break
			}
		}
		if err == nil && p.proc != nil {
			step = transcript.Step{Text: "eof (implied by the end of the script)"}
			err = p.eof(ctx)
		}
	}
	if err != nil {
		return p.failure(step, err)
	}
	if len(p.faults) > 0 {
		return &Error{Faults: p.faults}
	}
	return nil
}

func (p *player) do(ctx context.Context, s transcript.Step) error {
	switch s.Op {
	case transcript.OpSend:
		return p.send(ctx, s.JSON)
	case transcript.OpPadded:
		return p.sendPadded(ctx, s.JSON, s.Size)
	case transcript.OpRaw:
		return p.sendText(ctx, transcript.KindRaw, s.Raw)
	case transcript.OpBytes:
		return p.sendText(ctx, transcript.KindBytes, s.Raw)
	case transcript.OpAwait:
		return p.await(ctx, s)
	case transcript.OpAnswer:
		return p.answer(ctx, s.Method, "result", s.JSON)
	case transcript.OpAnswerError:
		return p.answer(ctx, s.Method, "error", s.JSON)
	case transcript.OpEOF:
		return p.eof(ctx)
	case transcript.OpKill:
		return p.kill()
	case transcript.OpRestart:
		p.rec.Process(transcript.KindRestart, "")
		return p.start()
	case transcript.OpTimeout:
		p.cfg.Timeout = s.Timeout
		return nil
	}
	return fmt.Errorf("no such step") // ParseScript lets none through
}

// start runs the command. Lines of an earlier process are forgotten: no await may match them.
func (p *player) start() (err error) {
	p.lines, p.mark = nil, 0
	p.proc, err = start(p.cfg, p.stderr)
	return err
}

// send sends one JSON message of the script.
func (p *player) send(ctx context.Context, json string) error {
	message, err := p.rec.Expand(json)
	if err != nil {
		return err
	}
	return p.deliver(ctx, message)
}

// deliver records and sends one JSON message.
func (p *player) deliver(ctx context.Context, message string) error {
	if err := p.rec.Client(message); err != nil {
		return err
	}
	return p.proc.write(ctx, p.cfg.Timeout, message+"\n")
}

// sendPadded sends one JSON message of the script with so many spaces behind it that the line has size bytes.
func (p *player) sendPadded(ctx context.Context, json string, size int) error {
	message, err := p.rec.Expand(json)
	if err != nil {
		return err
	}
	if len(message) > size {
		return fmt.Errorf("the message alone has %d bytes", len(message))
	}
	if err := p.rec.ClientPadded(message, size); err != nil {
		return err
	}
	var line strings.Builder
	line.Grow(size + 1) // such lines are large: one copy must do
	line.WriteString(message)
	blank := strings.Repeat(" ", 64<<10)
	for left := size - line.Len(); left > 0; left = size - line.Len() {
		line.WriteString(blank[:min(left, len(blank))])
	}
	line.WriteByte('\n')
	return p.proc.write(ctx, p.cfg.Timeout, line.String())
}

// sendText sends text as it stands, with a newline behind it if it is a line.
func (p *player) sendText(ctx context.Context, kind transcript.Kind, raw string) error {
	text, err := p.rec.ExpandText(raw)
	if err != nil {
		return err
	}
	p.rec.ClientText(kind, text)
	if kind == transcript.KindRaw {
		text += "\n"
	}
	return p.proc.write(ctx, p.cfg.Timeout, text)
}

// answer answers the oldest request of method that has no answer yet, and waits for one if need be.
func (p *player) answer(ctx context.Context, method, member, json string) error {
	i, err := p.wait(ctx, func() int {
		return slices.IndexFunc(p.lines, func(l line) bool {
			return l.Kind == transcript.Request && l.Method == method && !l.answered
		})
	})
	if err != nil {
		return err
	}
	p.record(i + 1)
	p.lines[i].answered, p.lines[i].consumed = true, true
	body, err := p.rec.Expand(json) // only now: the names may come from the request itself
	if err != nil {
		return err
	}
	return p.deliver(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"%s":%s}`, p.lines[i].ID, member, body))
}

// eof closes the agent's input and waits for its end.
func (p *player) eof(ctx context.Context) error {
	status, err := p.proc.finish(ctx, p.cfg.Timeout)
	p.pull()
	p.record(len(p.lines))
	p.proc = nil
	if err != nil {
		return err
	}
	p.rec.Process(transcript.KindExit, status)
	return nil
}

// kill ends the agent at once. What it wrote but no await asked for is left out of the transcript, because how far it came
// is chance.
func (p *player) kill() error {
	p.proc.destroy()
	p.pull()
	p.rec.Process(transcript.KindKill, "")
	p.proc = nil
	return nil
}

// record puts the lines before end into the transcript.
func (p *player) record(end int) {
	for ; p.mark < end; p.mark++ {
		p.rec.Agent(p.lines[p.mark].Message)
	}
}

// pull takes over what has been read.
func (p *player) pull() {
	if p.proc == nil {
		return
	}
	for _, m := range p.proc.out.take() {
		p.lines = append(p.lines, line{Message: m})
		if m.Fault != "" {
			p.faults = append(p.faults, fmt.Sprintf("%s: %q", m.Fault, transcript.Shorten(m.String())))
		}
	}
}
