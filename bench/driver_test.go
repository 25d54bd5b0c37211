package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
)

// pipe is os.Pipe for a benchmark.
func pipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

// driver is the plain-bytes host in front of an agent. It decodes nothing, so
// what it costs is the same for every agent and small.
type driver struct {
	w    *os.File
	r    *bufio.Reader
	last int
	line []byte
}

// drive starts an agent on real pipes and returns the driver in front of it.
func drive(b *testing.B, start func(r io.Reader, w io.Writer) (wait func())) *driver {
	b.Helper()
	fromDriver, toAgent := pipe(b)
	fromAgent, toDriver := pipe(b)
	wait := start(fromDriver, toDriver)
	b.Cleanup(func() {
		toAgent.Close()
		wait()
		for _, f := range []*os.File{fromDriver, fromAgent, toDriver} {
			f.Close()
		}
	})
	return &driver{w: toAgent, r: bufio.NewReaderSize(fromAgent, 64<<10)}
}

const (
	setMode = `,"method":"session/set_mode","params":{"sessionId":"` + session + `","modeId":"code"}}`
	prompt  = `,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[{"type":"text","text":"go"}]}}`
)

// send writes one request.
func (d *driver) send(b *testing.B, rest string) {
	d.last++
	d.line = strconv.AppendInt(append(d.line[:0], `{"jsonrpc":"2.0","id":`...), int64(d.last), 10)
	d.line = append(append(d.line, rest...), '\n')
	if _, err := d.w.Write(d.line); err != nil {
		b.Error(err)
	}
}

// skip reads n lines and returns the last.
func (d *driver) skip(b *testing.B, n int) (line []byte) {
	for range n {
		var err error
		if line, err = d.r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	return line
}

// answered fails the benchmark when line is not a good answer.
func answered(b *testing.B, line []byte) {
	if !bytes.Contains(line, []byte(`"result":`)) {
		b.Fatalf("not a result: %s", line)
	}
}

// firehose is the plain-bytes agent in front of a host: it answers each
// request, session/prompt after burst chunks that were prepared before.
func firehose(r, w *os.File, burst int) {
	const note = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `","update":` +
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + piece + `"}}}}` + "\n"
	chunks := bytes.Repeat([]byte(note), burst)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}`
		case "session/new":
			result = `{"sessionId":"` + session + `"}`
		case "session/prompt":
			result = `{"stopReason":"end_turn"}`
			if _, err := w.Write(chunks); err != nil {
				return // a host that hangs up
			}
		}
		if _, err := w.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + "}\n"); err != nil {
			return
		}
	}
}

// connect starts agent on real pipes and returns the host's ends of them and
// what waits for the agent and closes all.
func connect(b *testing.B, agent func(r, w *os.File)) (r, w *os.File, end func()) {
	b.Helper()
	fromHost, w := pipe(b)
	r, toHost := pipe(b)
	var running sync.WaitGroup
	running.Go(func() {
		agent(fromHost, toHost)
		toHost.Close()
	})
	return r, w, func() {
		w.Close()
		r.Close() // an agent that still writes ends
		running.Wait()
		fromHost.Close()
	}
}
