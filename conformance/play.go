package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/acpkit/acpkit/conformance/internal/play"
	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

// PlayConfig says what is played against what. Only Command is needed.
type PlayConfig struct {
	Command []string          // the agent and its arguments; a bare name is looked up in the PATH of Env
	Dir     string            // where the agent runs; "" is the current directory
	WorkDir string            // what $WORK stands for; "" is Dir
	Env     []string          // as in os/exec: nil is the environment of this process
	Names   map[string]string // more values that differ from run to run, such as a port: shown, and usable in the script, as $NAME
	Script  []byte            // the steps; the package comment has the language
	Timeout time.Duration     // for each step; 0 is 20 s. What exceeds it is killed with everything it started
}

// Transcript is what crossed the wire in a play.
type Transcript struct {
	Lines  []Line // joined and normalised
	Stderr string // what the agent logged, as it stands, of all its runs; the last 4 MiB
}

// Bytes is the transcript as text, one line per Line. ParseTranscript reads it back.
func (t *Transcript) Bytes() []byte { return transcript.Format(t.Lines) }

// Line is one line of a transcript: From (Client, Agent or ""), Kind, and Message or Text.
type Line = transcript.Line

// Side is who sent a line.
type Side = transcript.Side

// LineKind is what a line shows.
type LineKind = transcript.Kind

// The sides and kinds of lines. KindMessage has a Message, and KindPadded a Size too; KindRaw and KindBytes have in Text what
// was sent; KindExit, KindKill and KindRestart come from neither side, and KindExit has the status in Text.
const (
	Client = transcript.Client
	Agent  = transcript.Agent

	KindMessage = transcript.KindMessage
	KindPadded  = transcript.KindPadded
	KindRaw     = transcript.KindRaw
	KindBytes   = transcript.KindBytes
	KindExit    = transcript.KindExit
	KindKill    = transcript.KindKill
	KindRestart = transcript.KindRestart
)

// PlayError is a step that could not be done, or a line of the agent that is no ACP message: the script line, what was
// awaited, what had been seen last, and the end of stderr. Its text has several lines.
type PlayError = play.Error

// Play plays the host side of a connection from a script. It returns when the agent and everything in its process group
// have ended. The transcript is there also with a *PlayError, up to the failure; any other error means that the script or
// the config is wrong, nothing was started, and the transcript is nil. An exit status other than 0 is no error.
func Play(ctx context.Context, cfg PlayConfig) (*Transcript, error) {
	result, err := play.Run(ctx, play.Config(cfg))
	var failure *play.Error
	if err != nil && !errors.As(err, &failure) {
		return nil, err
	}
	return &Transcript{Lines: result.Lines, Stderr: result.Stderr}, err
}

// ParseTranscript reads a transcript as Bytes writes it: each line with its direction and its raw JSON. A line that no play
// can have written is an error with its number.
func ParseTranscript(src []byte) ([]Line, error) { return transcript.Parse(src) }
