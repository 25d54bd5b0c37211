package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzConn runs a whole connection. The bytes are a program for the far side
// and for local callers: valid, invalid and hostile frames in any cut, local
// Calls, Notifies and cancels, and one of five ends at any point. The time is
// synctest's, so a hang is a deadlock that it reports, and so is a goroutine
// that stays.
//
// What must hold: each line that asks for an answer gets exactly one, by the
// reference's reading of the very bytes sent, and nothing else is answered;
// every line written is one JSON-RPC message and none is written after Run has
// returned; notifications of one key are handled in order; what a handler sends
// goes out before its answer; a response is delivered after the notifications
// before it; an inline notification before anything behind it; each Call
// returns, with its own result or an error.
func FuzzConn(f *testing.F) {
	for _, seed := range connSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 2048 {
			return
		}
		hung := time.AfterFunc(30*time.Second, func() { panic(fmt.Sprintf("hangs: %q", program)) })
		defer hung.Stop()
		synctest.Test(t, func(t *testing.T) { newFuzzRun(t, program).play() })
	})
}

// Ends of a fuzzed connection.
const (
	endEOF      = iota // of the input; all is answered
	endReadFail        // reading fails; all that was read is answered
	endContext         // Run's context ends
	endBroken          // the far side closes its end of the output
	endDeaf            // the far side stops reading, and then Run's context ends
	ends
)

// fuzzRun is one run: the program, the two pipes and what is to be expected.
type fuzzRun struct {
	t       *testing.T
	program []byte
	conn    *Conn
	in      *io.PipeWriter
	out     *io.PipeReader
	stop    context.CancelCauseFunc
	end     int
	limit   int
	chunk   int
	slow    time.Duration // of the far side between two reads
	deaf    atomic.Bool

	pending bytes.Buffer // input not yet written
	wire    bytes.Buffer // input written
	stream  []byte       // both
	counted int          // of stream, by notesBefore
	notes   int          // in stream[:counted]
	long    int          // bytes of long lines
	seq     int          // of what the program sends
	local   sync.WaitGroup
	cancels []context.CancelFunc // of local Calls

	returned atomic.Bool // Run

	mu       sync.Mutex
	asked    []string       // ids of requests of the Conn that the program has not answered
	handled  int            // notifications
	noted    map[int]int    // by the id of an answer sent: the notifications before it
	lastSeq  map[string]int // by key: the last notification handled
	inlineAt int            // inline notifications seen by Key
	inlined  int            // and handled
	running  map[ID]bool    // requests in their handlers
}

func newFuzzRun(t *testing.T, program []byte) *fuzzRun {
	r := &fuzzRun{t: t, program: program, noted: map[int]int{}, lastSeq: map[string]int{}, running: map[ID]bool{}}
	r.end = r.next() % ends
	r.chunk = []int{1, 3, 50, 1000, 1 << 20}[r.next()%5]
	r.limit = []int{80, 300, 70_000, 1 << 20}[r.next()%4]
	r.slow = []time.Duration{0, 0, time.Millisecond}[r.next()%3]
	c := Config{
		Handler:      r.handle,
		Inline:       func(method string) bool { return method == "inline" },
		MaxLine:      r.limit,
		Queue:        1 + r.next()%5,
		FlushTimeout: time.Second,
	}
	keys := r.next()
	c.Key = func(method string, params json.RawMessage) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.inlined != r.inlineAt {
			t.Errorf("%s overtakes an inline notification", method)
		}
		if method == "inline" {
			r.inlineAt++
			return "inline"
		}
		switch keys % 3 {
		case 0:
			return ""
		case 1:
			return "one"
		}
		return paramsOf(params).S
	}
	connIn, in := io.Pipe()
	out, connOut := io.Pipe()
	r.in, r.out = in, out
	r.conn = New(connIn, &guarded{connOut, r}, c)
	return r
}

// guarded reports what is written after Run has returned.
type guarded struct {
	*io.PipeWriter
	r *fuzzRun
}

func (g *guarded) Write(b []byte) (int, error) {
	if g.r.returned.Load() {
		g.r.t.Errorf("written after the end: %q", b)
	}
	return g.PipeWriter.Write(b)
}

// next takes a byte of the program; 0 when it is at its end.
func (r *fuzzRun) next() int {
	if len(r.program) == 0 {
		return 0
	}
	b := r.program[0]
	r.program = r.program[1:]
	return int(b)
}

func (r *fuzzRun) play() {
	ctx, stop := context.WithCancelCause(context.Background())
	r.stop = stop
	defer stop(nil)
	why := errors.New("the program says so")
	var lines []string
	read := make(chan bool)
	go func() { lines = r.readAll(); close(read) }()
	for range r.next() % 3 { // before Run
		r.call()
		r.notify()
	}
	ran := make(chan error, 1)
	go func() {
		err := r.conn.Run(ctx)
		r.returned.Store(true)
		r.conn.reader.(*io.PipeReader).Close() // what a process does when it exits
		r.conn.out.w.(*guarded).PipeWriter.Close()
		ran <- err
	}()
	for len(r.program) > 0 {
		r.step()
	}
	r.flush()

	var want error
	switch r.end {
	case endEOF:
		r.in.Close()
	case endReadFail:
		want = why
		r.in.CloseWithError(why)
	case endContext:
		want = why
		stop(why)
	case endBroken:
		r.out.Close()
		synctest.Wait()
		r.in.Close()
		want = io.ErrClosedPipe
	case endDeaf:
		r.deaf.Store(true)
		r.fill()
		synctest.Wait()
		want = why
		stop(why)
	}
	err := <-ran
	r.local.Wait() // every Call and Notify returns when Run has
	<-read
	r.in.Close()
	switch {
	case r.end == endBroken && err == nil: // nothing was written after it broke
	case r.end == endDeaf && r.deaf.Load() && errors.Is(err, want):
	case !errors.Is(err, want):
		r.t.Errorf("Run: %v, want %v", err, want)
	}
	r.judge(lines)
	if _, err := r.conn.Call(context.Background(), "m", nil); !errors.Is(err, ErrClosed) {
		r.t.Errorf("Call after the end: %v", err)
	}
	if err := r.conn.Notify(context.Background(), "m", nil); !errors.Is(err, ErrClosed) {
		r.t.Errorf("Notify after the end: %v", err)
	}
}

// fill gives a far side that does not read something not to read.
func (r *fuzzRun) fill() {
	r.local.Go(func() {
		body := rawBody(`"` + strings.Repeat("x", maxPending) + `"`)
		for r.conn.Notify(context.Background(), "fill", body) == nil {
		}
	})
}

var fuzzIDs = []string{`1`, `2`, `"1"`, `null`, `2.5`, `9007199254740993`, `""`, `"\u0031"`, `-0`, `1e400`}

var fuzzMethods = []string{"echo", "fail", "panic", "exit", "wait", "sleep", "call", "stream", "bad", "inline", "unknown", "callWait"}

// step does one thing that the program says.
func (r *fuzzRun) step() {
	if len(r.program) == 0 {
		return
	}
	switch r.next() % 16 {
	case 0, 1:
		r.queue(r.requestLine() + "\n")
	case 2:
		r.queue(r.noteLine() + "\n")
	case 3:
		r.queue(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + fuzzIDs[r.next()%len(fuzzIDs)] + "}}\n")
	case 4:
		r.queue(hostileLines[r.next()%len(hostileLines)] + "\n")
	case 5: // bytes of the program as they are
		n := min(r.next(), len(r.program))
		r.queue(string(r.program[:n]))
		r.program = r.program[n:]
	case 6: // a frame cut off, with or without an end
		line := r.requestLine()
		r.queue(line[:r.next()%len(line)] + []string{"", "\n"}[r.next()%2])
	case 7: // about as long as may be
		line := r.requestLine()
		if r.long += r.limit; r.long > 4<<20 { // else it takes for ever
			break
		}
		pad := max(0, r.limit-len(line)+r.next()%5-2)
		r.queue(strings.Repeat(" ", pad) + line + "\n")
	case 8:
		r.call()
	case 9:
		r.notify()
	case 10:
		r.answer(true)
	case 11:
		r.answer(false)
	case 12:
		time.Sleep(time.Duration(r.next()%20) * time.Millisecond)
	case 13:
		r.flush()
	case 14:
		if n := len(r.cancels); n > 0 {
			r.cancels[r.next()%n]()
		}
	case 15:
		r.flush()
		synctest.Wait()
	}
}

func (r *fuzzRun) requestLine() string {
	r.seq++
	id, method := fuzzIDs[r.next()%len(fuzzIDs)], fuzzMethods[r.next()%len(fuzzMethods)]
	if method == "inline" { // only notifications are
		method = "echo"
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":{"s":"%d","n":%d}}`, id, method, r.next()%3, r.seq)
}

func (r *fuzzRun) noteLine() string {
	r.seq++
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"%s","params":{"s":"%d","n":%d}}`,
		fuzzMethods[r.next()%len(fuzzMethods)], r.next()%3, r.seq)
}

func (r *fuzzRun) queue(s string) {
	r.pending.WriteString(s)
	r.stream = append(r.stream, s...)
}

// notesBefore counts the notifications in what has been queued so far.
func (r *fuzzRun) notesBefore() int {
	whole := bytes.LastIndexByte(r.stream, '\n') + 1
	part := r.stream[r.counted:whole]
	if r.counted > 0 { // a byte order mark is one only at the very start
		part = append([]byte("\n"), part...)
	}
	for _, l := range linesOf(part, r.limit, true) {
		if !l.tooLong && meaningOf([]byte(l.text)).kind == notification {
			r.notes++
		}
	}
	r.counted = max(r.counted, whole)
	return r.notes
}

// flush writes the pending input in chunks.
func (r *fuzzRun) flush() {
	for r.pending.Len() > 0 {
		chunk := r.chunk
		if r.pending.Len() > 2000 { // else it takes for ever
			chunk = max(chunk, 1000)
		}
		b := r.pending.Next(chunk)
		r.wire.Write(b)
		if _, err := r.in.Write(b); err != nil {
			return // Run has ended
		}
	}
}

// answer answers a request of the Conn, truly or with something odd.
func (r *fuzzRun) answer(truly bool) {
	how := r.next()
	r.mu.Lock()
	if len(r.asked) == 0 {
		r.mu.Unlock()
		return
	}
	i := how / 8 % len(r.asked)
	id := r.asked[i]
	if truly {
		r.asked = append(r.asked[:i], r.asked[i+1:]...)
	}
	r.mu.Unlock()
	var line string
	switch how % 4 {
	case 0:
		line = `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-5,"message":"no"}}`
	case 1:
		line = `{"id":` + id + `,"error":[]}` // malformed, but it is the answer
	default:
		line = `{"jsonrpc":"2.0","id":` + id + `,"result":"r` + id + `"}`
	}
	if !truly {
		line = []string{
			`{"jsonrpc":"2.0","id":"` + id + `","result":"not yours"}`,
			`{"jsonrpc":"2.0","id":` + id + `.0,"result":"not yours"}`,
			`{"jsonrpc":"2.0","id":1` + id + `000000,"result":"not yours"}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
		}[how%4]
	}
	if truly {
		n, _ := strconv.Atoi(id)
		r.mu.Lock()
		r.noted[n] = r.notesBefore()
		r.mu.Unlock()
	}
	r.queue(line + "\n")
}

// call makes a Call of its own.
func (r *fuzzRun) call() {
	var ctx context.Context
	var cancel context.CancelFunc
	switch n := r.next(); n % 3 {
	case 0:
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(n)*time.Millisecond)
	default:
		ctx, cancel = context.WithCancel(context.Background())
	}
	r.cancels = append(r.cancels, cancel)
	r.local.Go(func() {
		defer cancel()
		r.checkCall(r.conn.Call(ctx, "ask", nil))
	})
}

func (r *fuzzRun) checkCall(result json.RawMessage, err error) {
	if err != nil {
		var remote *Error
		if errors.As(err, &remote) && remote.Code != -5 {
			r.t.Errorf("a Call got %v", err)
		}
		return
	}
	var answer string
	if json.Unmarshal(result, &answer) != nil || answer == "" || answer[0] != 'r' {
		r.t.Errorf("a Call got %s", result)
		return
	}
	id, _ := strconv.Atoi(answer[1:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if notes, ok := r.noted[id]; !ok || r.handled < notes {
		r.t.Errorf("the answer to %d came after %d of %d notifications", id, r.handled, notes)
	}
}

func (r *fuzzRun) notify() {
	n := r.next()
	r.seq++
	body := rawBody(fmt.Sprintf(`{"seq":%d}`, r.seq))
	if n%4 == 0 { // from elsewhere, so in no order
		r.local.Go(func() { _ = r.conn.Notify(context.Background(), "elsewhere", rawBody("[\n1]")) })
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.conn.Notify(ctx, "ordered", body)
}

// connSeeds are programs that reach every step and every end.
func connSeeds() [][]byte {
	var seeds [][]byte
	for end := range byte(ends) {
		head := []byte{end, end, end, end, end, 2, end}
		all := bytes.Clone(head)
		for op := range byte(16) {
			all = append(all, op, op, op+1, op+2, 15)
		}
		cancels := bytes.Clone(head)
		for i := range byte(20) {
			cancels = append(cancels, 0, i, 4, i, 3, i, 2, 6, i)
		}
		calls := bytes.Clone(head)
		for i := range byte(20) {
			calls = append(calls, 8, 1, 0, i, 6, i, 2, 7, i, 15, 10, 2+8*i, 11, i, 13)
		}
		methods := bytes.Clone(head)
		for i := range byte(len(fuzzMethods)) {
			methods = append(methods, 0, i, i, i, 2, i, i, 12, 3)
		}
		hostile := bytes.Clone(head)
		for i := range byte(len(hostileLines)) {
			hostile = append(hostile, 4, i, 1, i, 0, i)
		}
		literal := append(bytes.Clone(head), 5, 60)
		literal = append(literal, `{"jsonrpc":"2.0","id":[],"method":"x"}`+"\r\n{\xff}\n\xef\xbb\xbf\x00\n{}[]"...)
		seeds = append(seeds, all, cancels, calls, methods, hostile, literal)
	}
	return seeds
}

var hostileLines = []string{
	``, ` `, "\t\r", "\v", "\u00a0", "\ufeff", `hello`, "\x1b[?25h{}", `{`, `}`, `{}`, `[]`, `[{}]`, `0`, `"x"`, `null`, `true`, `nul`, "\x00", "\xff\xfe",
	`Content-Length: 52`, `{"level":"info","id":1}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":{},"method":"echo"}`,
	`{"jsonrpc":"2.0","id":1,"id":1,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"method":"echo","method":"echo"}`, `{"jsonrpc":"2.0","id":2,"method":7}`,
	`{"jsonrpc":"1.0","id":2,"method":"echo"}`, `{"id":"1","method":"echo"}`, `{"jsonrpc":"2.0","id":01,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"method":"echo",}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, `{"jsonrpc":"2.0","id":"99","result":1}`, `{"jsonrpc":"2.0","result":1}`,
	`{"jsonrpc":"2.0","id":[],"error":1}`, `{"jsonrpc":"2.0","id":1,"method":null,"result":1,"id":2}`, `{"jsonrpc":"2.0","id":1,"method":"echo","result":1}`,
	`{"jsonrpc":"2.0","method":"$/cancel_request"}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":[1]}`, `{"jsonrpc":"2.0","id":1,"method":"$/cancel_request","params":{"requestId":1}}`,
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":5}`, `{"jsonrpc":"2.0","id":1,"method":"","params":null}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xffb\"}",
	`{"jsonrpc":"2.0","id":"\ud800","method":"echo","params":"\ud800"}`, `{"jsonrpc":"2\u002e0","id":1,"method":"echo"}`, strings.Repeat("[", 200), strings.Repeat("[", 10_001),
	`{"params":{"n":` + strings.Repeat("9", 100) + `},"jsonrpc":"2.0","method":"echo"}`, `{"jsonrpc":"2.0","id":1,"method":"exit"}{}`, `{"jsonrpc":"2.0","id":1e999,"method":"echo"}`,
}
