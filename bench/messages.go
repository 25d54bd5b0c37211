// Package bench measures our codec, peer and host beside
// github.com/coder/acp-go-sdk, in one process and one run. Its benchmarks are
// named What/case/ours and What/case/sdk; table pairs and prints them.
//
// It knows nothing of whole processes (start, memory, real agents). Both sides
// do the same work on the same bytes: an agent or a host is measured behind a
// driver of plain bytes that belongs to neither side.
package bench

import (
	"fmt"
	"strings"
)

// message is one whose codecs are compared: the params of a notification or
// request, or the result of a response. The first five are those of DESIGN
// section 10; a plan is the one with most lists and enums.
type message struct {
	name string
	json string
}

var messages = []message{
	{"chunk", chunk},
	{"initreq", initRequest},
	{"initres", initResponse},
	{"diff20k", diff},
	{"perm", permission},
	{"plan", plan},
}

// session is the id in every message.
const session = "sess_0123456789abcdef"

const (
	chunk = `{"sessionId":"` + session + `","update":{"sessionUpdate":"agent_message_chunk",` +
		`"content":{"type":"text","text":"The reader keeps one buffer for all lines, so a chunk costs no allocation until it has been decoded.\n"}}}`

	initRequest = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},` +
		`"clientInfo":{"name":"some-editor","version":"1.24.0-previe"}}`

	initResponse = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,` +
		`"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},` +
		`"mcpCapabilities":{"http":true,"sse":false},"sessionCapabilities":{"list":{}}},` +
		`"agentInfo":{"name":"agent","title":"Agent","version":"0.9.12"},` +
		`"authMethods":[{"id":"api-key","name":"API key","description":"Of a provider"}]}`

	permission = `{"sessionId":"` + session + `","toolCall":{"toolCallId":"call_0001","title":"go test ./...","kind":"execute",` +
		`"status":"pending","content":[{"type":"content","content":{"type":"text","text":"go test -race -count=1 ./..."}}],` +
		`"locations":[{"path":"/home/user/projects"}],"rawInput":{"command":"go test -race -count=1 ./...","timeout":120000}},` +
		`"options":[{"optionId":"allow-once","name":"Allow","kind":"allow_once"},` +
		`{"optionId":"allow-always","name":"Always allow","kind":"allow_always"},` +
		`{"optionId":"reject-once","name":"Reject","kind":"reject_once"}]}`
)

// diff is a tool call that edits a 20 kB Go file: on the wire its newlines,
// tabs and quotes are escapes, about one in eight bytes.
var diff = `{"sessionId":"` + session + `","update":{"sessionUpdate":"tool_call","toolCallId":"call_0002",` +
	`"title":"Edit rows.go","kind":"edit","status":"pending","content":[{"type":"diff","path":"/home/user/project/rows.go",` +
	`"newText":"` + escape(source(20<<10)) + `"}]}}`

// source is Go code of about n bytes.
func source(n int) string {
	var b strings.Builder
	b.WriteString("package rows\n\nvar rows = []row{\n")
	for i := 0; b.Len() < n-2; i++ {
		fmt.Fprintf(&b, "\t{id: %d, name: \"row %d\"},\n", i, i)
	}
	b.WriteString("}\n")
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(s)
}

// plan is a plan of eight steps.
var plan = `{"sessionId":"` + session + `","update":{"sessionUpdate":"plan","entries":[` +
	strings.Repeat(`{"content":"Read the failing test","priority":"high","status":"completed"},`, 2) +
	strings.Repeat(`{"content":"Write a test for the next case","priority":"medium","status":"in_progress"},`, 3) +
	strings.Repeat(`{"content":"Tell what has changed","priority":"low","status":"pending"},`, 2) +
	`{"content":"Tidy up","priority":"low","status":"pending"}]}}`
