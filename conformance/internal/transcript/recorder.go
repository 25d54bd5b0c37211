package transcript

import "strings"

// Recorder collects what crosses the wire, in the order in which it is told. One goroutine uses it.
type Recorder struct {
	names   *names
	entries []entry
}

// entry is one line of the transcript to be. Names are put in when the lines are made, since a value may get its name after
// it was first seen.
type entry struct {
	line   Line     // complete but for Message, and for names in Text
	root   *value   // KindMessage, KindPadded
	chunks []*chunk // of the agent: the joined chunks, instead of root
}

// NewRecorder starts a transcript of script. Work is the absolute path that $WORK stands for.
func NewRecorder(script *Script, work string) *Recorder {
	return &Recorder{names: newNames(script, work)}
}

// Call gives value, which differs from run to run, a name without its dollar sign, for the script and the transcript.
func (r *Recorder) Call(name, value string) { r.names.call(name, value) }

// Expand puts values for the names in JSON that the script sends; they are spelled as inside a JSON string, the only place
// where valid JSON can have them. The error names what is missing.
func (r *Recorder) Expand(json string) (string, error) {
	return r.names.expand(json, func(v string) string {
		q := quote(v)
		return q[1 : len(q)-1]
	})
}

// ExpandText is Expand for text that is sent as it stands.
func (r *Recorder) ExpandText(text string) (string, error) {
	return r.names.expand(text, func(v string) string { return v })
}

// Client records a message that the script sent; it must be JSON.
func (r *Recorder) Client(message string) error {
	v, err := parseValue([]byte(message))
	if err != nil {
		return err
	}
	r.entries = append(r.entries, entry{line: Line{From: Client, Kind: KindMessage}, root: &v})
	return nil
}

// ClientPadded records a message that the script sent with spaces behind it, size bytes in all; it must be JSON.
func (r *Recorder) ClientPadded(message string, size int) error {
	if err := r.Client(message); err != nil {
		return err
	}
	line := &r.entries[len(r.entries)-1].line
	line.Kind, line.Size = KindPadded, size
	return nil
}

// ClientText records text that the script sent as it stands: KindRaw with a newline behind it, KindBytes without.
func (r *Recorder) ClientText(kind Kind, text string) {
	r.entries = append(r.entries, entry{line: Line{From: Client, Kind: kind, Text: text}})
}

// Agent records a message of the agent and gives names to the volatile values in it.
func (r *Recorder) Agent(m *Message) {
	if m.Fault != "" {
		r.entries = append(r.entries, entry{line: Line{From: Agent, Kind: KindRaw, Text: m.line}})
		return
	}
	r.names.capture(&m.root, m.chunk != nil, true)
	if m.chunk == nil {
		r.entries = append(r.entries, entry{line: Line{From: Agent, Kind: KindMessage}, root: &m.root})
		return
	}
	if n := len(r.entries); n > 0 && len(r.entries[n-1].chunks) > 0 && m.chunk.joins(r.entries[n-1].chunks[0]) {
		r.entries[n-1].chunks = append(r.entries[n-1].chunks, m.chunk)
		return
	}
	r.entries = append(r.entries, entry{line: Line{From: Agent, Kind: KindMessage}, chunks: []*chunk{m.chunk}})
}

// Process records what happened to the agent's process: KindExit with its status, KindKill, KindRestart.
func (r *Recorder) Process(kind Kind, status string) {
	r.entries = append(r.entries, entry{line: Line{Kind: kind, Text: status}})
}

// Lines returns the transcript so far, joined and normalised.
func (r *Recorder) Lines() []Line {
	entries := make([]entry, len(r.entries))
	for i, e := range r.entries {
		if len(e.chunks) > 0 {
			joined := joinChunks(e.chunks)
			e.root = &joined
		}
		entries[i] = e
	}
	for _, e := range entries {
		if e.root != nil && e.line.From == Agent {
			r.names.capture(e.root, false, false)
		}
	}
	lines := make([]Line, len(entries))
	for i, e := range entries {
		lines[i] = r.render(e)
	}
	return lines
}

func (r *Recorder) render(e entry) Line {
	line := e.line
	switch {
	case e.root != nil:
		rw := rewrite{str: r.names.normalise}
		if line.From == Agent {
			rw.whole = r.names.mask
		}
		shown := withoutVersion(e.root)
		var b strings.Builder
		shown.print(&b, "", "", rw)
		line.Message = []byte(b.String())
	case line.From != "":
		line.Text = r.names.normalise("", "", line.Text)
	}
	return line
}

// withoutVersion leaves out jsonrpc "2.0", which is on every line and says nothing; any other jsonrpc stays to be seen.
func withoutVersion(root *value) value {
	shown := value{kind: root.kind, raw: root.raw}
	for _, k := range root.kids {
		if unquote(k.name) == "jsonrpc" && k.value.raw == `"2.0"` {
			continue
		}
		shown.kids = append(shown.kids, k)
	}
	return shown
}
