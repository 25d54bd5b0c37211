// Package fakeagent is a tiny agent for the tests of the player. It does what a request tells it to, which includes every
// kind of misbehaviour that the player must survive. It knows just enough ACP to look like an agent, and shares no code with
// the real one, nor with the player.
package fakeagent

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Main runs the agent on stdin and stdout and returns its exit status. The arguments are:
//
//	jitter       every line is written after a random delay of up to a millisecond
//	ignore-eof   the process goes on running when its input ends
//	quit         the process ends at once with status 2 and a line on stderr
//	sleep        no agent at all: a process that sleeps for an hour
func Main(args []string) int {
	switch {
	case slices.Contains(args, "sleep"):
		time.Sleep(time.Hour)
	case slices.Contains(args, "quit"):
		fmt.Fprintln(os.Stderr, "fake: no such model")
		return 2
	}
	a := &agent{jitter: slices.Contains(args, "jitter"), waiting: map[string]chan json.RawMessage{}, cancelled: make(chan struct{}, 1)}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		a.handle(line)
	}
	for slices.Contains(args, "ignore-eof") {
		time.Sleep(time.Hour)
	}
	a.turns.Wait()
	return 0
}

type agent struct {
	jitter    bool
	turns     sync.WaitGroup
	cancelled chan struct{}

	mu       sync.Mutex
	requests int                             // guarded by mu
	waiting  map[string]chan json.RawMessage // guarded by mu: id of our request → where its answer goes
	out      sync.Mutex                      // held while a line is written
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		Lines     []string // fake/emit: written as they stand
		Text      string   // fake/bytes, fake/stderr, and what a turn says
		Code      int      // fake/exit
		Size      int      // fake/big
		Prompt    []struct{ Text string }
	}
	Result, Error json.RawMessage
}

func (a *agent) handle(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		a.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		return
	}
	switch m.Method {
	case "":
		a.mu.Lock()
		answer := a.waiting[string(m.ID)]
		a.mu.Unlock()
		if answer != nil {
			answer <- append(m.Result, m.Error...)
		}
	case "initialize":
		a.reply(m, fmt.Sprintf(`{"protocolVersion":1,"agentInfo":{"name":"fake","version":%q}}`, rand.Text()))
	case "session/new":
		session := uuid()
		a.reply(m, fmt.Sprintf(`{"sessionId":%q}`, session))
		a.update(session, `{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
	case "session/prompt":
		a.turns.Go(func() { a.turn(m) })
	case "session/cancel":
		a.cancelled <- struct{}{}
	case "fake/hang":
	default:
		if !a.misbehave(m) && m.ID != nil {
			a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID))
		}
	}
}

// misbehave does what a fake/ method says; false when there is no such method.
func (a *agent) misbehave(m message) bool {
	switch m.Method {
	case "fake/emit":
		for _, line := range m.Params.Lines {
			a.write(line)
		}
	case "fake/bytes":
		os.Stdout.WriteString(m.Params.Text)
	case "fake/big":
		a.reply(m, `"`+strings.Repeat("x", m.Params.Size)+`"`)
	case "fake/stderr":
		fmt.Fprintln(os.Stderr, m.Params.Text)
		a.reply(m, "null")
	case "fake/env":
		cwd, _ := os.Getwd()
		env, _ := json.Marshal([]string{os.Getenv(m.Params.Text), cwd})
		a.reply(m, string(env))
	case "fake/exit":
		os.Exit(m.Params.Code)
	case "fake/deaf": // stops reading, so that the pipe fills
		time.Sleep(time.Hour)
	case "fake/mute":
		os.Stdout.Close()
	case "fake/stream": // writes chunks until it is killed
		for {
			a.update("s", `{"sessionUpdate":"plan","entries":[]}`)
		}
	case "fake/child": // a grandchild that inherits our output and outlives us
		child := exec.Command(os.Args[0], "sleep")
		child.Env, child.Stdout, child.Stderr = os.Environ(), os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		a.reply(m, fmt.Sprint(child.Process.Pid))
	default:
		return false
	}
	return true
}

// turn thinks, speaks in randomly cut chunks, asks for permission and says what came of it. A prompt "hang" waits for
// session/cancel instead.
func (a *agent) turn(m message) {
	session := m.Params.SessionID
	a.chunks(session, "agent_thought_chunk", uuid(), "Let me think about that.")
	a.chunks(session, "agent_message_chunk", uuid(), "I shall ask: may I? It is "+time.Now().Format(time.RFC3339Nano)+" — très tôt.")
	if m.Params.Prompt[0].Text == "hang" {
		<-a.cancelled
		a.reply(m, `{"stopReason":"cancelled"}`)
		return
	}
	call := "call_" + uuid()
	cwd, _ := os.Getwd()
	a.update(session, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":"Read %s/a.txt","status":"pending"}`, call, cwd))
	answer := a.ask("session/request_permission", fmt.Sprintf(`{"sessionId":%q,"toolCall":{"toolCallId":%q}}`, session, call))
	a.update(session, fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"rawOutput":%s}`, call, answer))
	a.reply(m, `{"stopReason":"end_turn"}`)
}

// chunks says text in pieces, cut anywhere between two characters.
func (a *agent) chunks(session, kind, id, text string) {
	for runes := []rune(text); len(runes) > 0; {
		n := 1 + mrand.IntN(len(runes))
		piece, _ := json.Marshal(string(runes[:n]))
		a.update(session, fmt.Sprintf(`{"sessionUpdate":%q,"content":{"type":"text","text":%s},"messageId":%q}`, kind, piece, id))
		runes = runes[n:]
	}
}

func (a *agent) ask(method, params string) json.RawMessage {
	answer := make(chan json.RawMessage, 1)
	a.mu.Lock()
	a.requests++
	id := fmt.Sprint(a.requests)
	a.waiting[id] = answer
	a.mu.Unlock()
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return <-answer
}

func (a *agent) update(session, update string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update))
}

func (a *agent) reply(m message, result string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

func (a *agent) write(line string) {
	a.out.Lock()
	defer a.out.Unlock()
	if a.jitter {
		time.Sleep(mrand.N(time.Millisecond))
	}
	os.Stdout.WriteString(line + "\n")
}

func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
