package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	writeCall = `{"tools":[{"id":"%s","name":"write_file","args":{"path":"%s","content":"x"}}]}` + "\n"
	bashCall  = `{"tools":[{"id":"%s","name":"bash","args":{"command":"echo x > %s"}}]}` + "\n"
	fine      = `{"text":"fine"}` + "\n"
	allowIt   = `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`
	rejectIt  = `{"outcome":{"outcome":"selected","optionId":"reject_once"}}`
)

func (o *online) exists(name string) bool {
	_, err := os.Stat(filepath.Join(o.work, name))
	return err == nil
}

// TestRefusalHolds: BL-052. What the host refuses leaves nothing on the disk, has
// started no process, and is a failed call; the model is told.
func TestRefusalHolds(t *testing.T) {
	o := startOnline(t, fmt.Sprintf(writeCall, "w", "written")+fmt.Sprintf(bashCall, "b", "run")+fine, "")
	o.create()
	o.ask("s1")
	id := o.say("s1", "go")
	for i, call := range []string{"w", "b"} {
		question, params := o.asked(i + 1)
		if !strings.Contains(params, `"toolCallId":"`+call+`"`) {
			t.Errorf("question %d: %s", i+1, params)
		}
		o.answer(question, rejectIt)
	}
	if r := o.response(id); !strings.HasPrefix(r, ended) {
		t.Error(r)
	}
	if o.exists("written") || o.exists("run") {
		t.Error("something was done")
	}
	for _, call := range []string{"w", "b"} {
		if s := o.statuses(call); s != "pending failed" {
			t.Errorf("call %s: %s", call, s)
		}
	}
	if told := o.last().Content; !strings.Contains(told, "refused") {
		t.Errorf("the model is told %q", told)
	}
}

// TestAlwaysIsTheSessions: BL-053. The kinds of the options are the protocol's
// four, an "always" changes no file of the user's, and in the next process it is
// forgotten.
func TestAlwaysIsTheSessions(t *testing.T) {
	o := startOnline(t, fmt.Sprintf(writeCall, "a", "one")+fine+fmt.Sprintf(writeCall, "b", "two")+fine+fmt.Sprintf(writeCall, "c", "three")+fine, "")
	config := func() string {
		text, err := os.ReadFile(filepath.Join(o.home, "config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := config()
	o.create()
	o.ask("s1")
	id := o.say("s1", "one")
	question, params := o.asked(1)
	var request struct {
		Options []struct{ Kind, OptionID string }
	}
	if err := json.Unmarshal([]byte(params), &request); err != nil {
		t.Fatal(err)
	}
	always := ""
	for _, option := range request.Options {
		switch option.Kind {
		case "allow_always":
			always = option.OptionID
		case "allow_once", "reject_once", "reject_always":
		default:
			t.Errorf("an option of kind %q", option.Kind)
		}
	}
	o.answer(question, fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, always))
	o.response(id)
	o.want("s1", "two", ended) // without a question, or it would hang
	if config() != before {
		t.Error("the configuration was changed")
	}
	o.again()
	o.call("session/load", `"sessionId":"s1","cwd":%q,"mcpServers":[]`, o.work)
	id = o.say("s1", "three")
	question, _ = o.asked(1)
	o.answer(question, rejectIt)
	o.response(id)
	if !o.exists("one") || !o.exists("two") || o.exists("three") {
		t.Errorf("written: %v %v %v", o.exists("one"), o.exists("two"), o.exists("three"))
	}
}

// TestOddAnswersDeny: BL-057. An answer to a question that is none is a denial:
// nothing runs, nothing crashes, and the turn goes on.
func TestOddAnswersDeny(t *testing.T) {
	answers := []string{`"result":{}`, `"result":null`, `"result":{"approved":true}`, `"result":true`, `"result":{"outcome":"selected"}`,
		`"result":{"outcome":{"outcome":"selected"}}`, `"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`,
		`"result":{"outcome":{"outcome":"approved","optionId":"allow_once"}}`, `"error":{"code":-32601,"message":"no such method"}`}
	script := ""
	for i := range answers {
		script += fmt.Sprintf(writeCall, fmt.Sprint("c", i), "file") + fine
	}
	o := startOnline(t, script, "")
	o.create()
	o.ask("s1")
	for i, answer := range answers {
		id := o.say("s1", "go")
		question, _ := o.asked(i + 1)
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", question, answer))
		if r := o.response(id); !strings.HasPrefix(r, ended) {
			t.Errorf("%s: %.300s", answer, r)
		}
		if s := o.statuses(fmt.Sprint("c", i)); s != "pending failed" {
			t.Errorf("%s: %s", answer, s)
		}
	}
	if o.exists("file") {
		t.Error("something was written")
	}
}

// TestQuestionsOfSessions: BL-060. Questions of several sessions are open at once,
// each about a call that was announced; answered in the reverse order, each goes
// to its own session.
func TestQuestionsOfSessions(t *testing.T) {
	const n = 4
	o := startOnline(t, strings.Repeat(fmt.Sprintf(writeCall, "w", "file"), n)+strings.Repeat(fine, n), "")
	root := o.work
	var ids, questions [n]string
	for i := range n {
		o.work = filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(o.work, 0o700); err != nil {
			t.Fatal(err)
		}
		o.create()
		session := fmt.Sprint("s", i+1)
		o.ask(session)
		ids[i] = o.say(session, "go")
		question, params := o.asked(i + 1)
		if !strings.Contains(params, fmt.Sprintf("%q", session)) || o.count(`"sessionUpdate":"tool_call"`) != i+1 {
			t.Errorf("question %d: %s", i+1, params)
		}
		questions[i] = question
	}
	for i := n - 1; i >= 0; i-- {
		answer := rejectIt
		if i%2 == 0 {
			answer = allowIt
		}
		o.answer(questions[i], answer)
		if r := o.response(ids[i]); !strings.HasPrefix(r, ended) {
			t.Errorf("session %d: %s", i+1, r)
		}
	}
	o.work = root
	for i := range n {
		if o.exists(fmt.Sprintf("%d/file", i)) != (i%2 == 0) {
			t.Errorf("session %d got another one's answer", i+1)
		}
	}
}

// TestQuestionsEnd: cancel, close and the end of the input each end every question
// that is open for them, at once and without an answer, and nothing is done.
func TestQuestionsEnd(t *testing.T) {
	const n = 3
	o := startOnline(t, strings.Repeat(fmt.Sprintf(writeCall, "w", "file"), n), "")
	var ids [n]string
	for i := range n {
		o.create()
		session := fmt.Sprint("s", i+1)
		o.ask(session)
		ids[i] = o.say(session, "go")
		o.asked(i + 1)
	}
	o.send(cancel("s1"))
	if r := o.response(ids[0]); r != stopped {
		t.Errorf("after the cancel: %s", r)
	}
	if r := o.call("session/close", `"sessionId":"s2"`); r != "{}" {
		t.Errorf("close: %s", r)
	}
	if r := o.response(ids[1]); r != stopped {
		t.Errorf("after the close: %s", r)
	}
	o.end()
	if r := o.response(ids[2]); r != stopped {
		t.Errorf("after the end of the input: %s", r)
	}
	if o.exists("file") {
		t.Error("something was written")
	}
}
