// Package conformance plays one side of an ACP connection against a real process and looks at the raw lines that cross.
//
// It imports neither rpc nor agent nor host, and has its own small reader of lines: the tester must not share the bugs of
// the tested code. It returns values; it never prints and never ends the process.
//
// # Golden transcripts
//
// [Play] starts an agent and plays the host from a script. What crossed, both sides in one list, is the transcript. Package
// playtest makes it a testscript command, so that a case is one txtar file that touches no Go:
//
//	# refusal: the model declines, the turn ends with stopReason refusal
//	# covers: session_prompt.refusal
//	play reasonix acp --model scripted/case
//	cmp stdout transcript
//	-- script --
//	send {"id":1,"method":"initialize","params":{"protocolVersion":1}}
//	await response 1
//	send {"id":2,"method":"session/new","params":{"cwd":"$WORK","mcpServers":[]}}
//	await response 2
//	send {"id":3,"method":"session/prompt","params":{"sessionId":"$session1","prompt":[{"type":"text","text":"hi"}]}}
//	await response 3
//	-- transcript --
//	client {"id":1,"method":"initialize","params":{"protocolVersion":1}}
//	agent {"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"reasonix","version":"$version"}}}
//	…
//	exit 0
//
// # The script
//
// One step per line; blank lines and lines that begin with # are ignored, space at both ends of a line too.
//
//	send {JSON}              one message; "jsonrpc":"2.0" is put first when absent
//	padded BYTES JSON        send, with so many spaces behind the message that the line has this length, newline not counted
//	raw TEXT                 TEXT and a newline as they stand, for what is not a message; raw "a\tb" is read as a Go string
//	bytes "TEXT"             a Go string without a newline behind it, for writes that cut a line
//	await response ID        the response to request ID, spelled as in JSON: 1 and "1" differ; an error is a response too
//	await error CODE         an error response with id null
//	await update KIND        a session/update of that kind
//	await request METHOD     a request of the agent
//	await notification METHOD
//	await text TEXT          the message chunk that completes TEXT, however the text is cut; also as a Go string
//	answer METHOD JSON       answers with this result the oldest request of METHOD that is unanswered, or waits for one
//	answer-error METHOD {JSON}    the same with an error
//	eof                      closes the agent's input, waits for its end, records its exit status, whatever it is
//	kill                     SIGKILL, and waits
//	restart                  starts the command again, after eof or kill
//	timeout DURATION         how long each step from here on may take, as in timeout 1m
//	mask MEMBER…             anywhere: values of these members of agent messages show as "$MEMBER", whatever their type
//
// A script that has not ended the agent ends with an eof. The await of an update, request or notification may be followed
// by a JSON value that the params must contain (objects may have more members, the rest must be equal):
//
//	await update tool_call_update {"update":{"status":"in_progress"}}
//
// An await looks at what the agent wrote behind the last match, so two await update tool_call want two tool calls. Only
// answers, which come in any order, may also lie before it, if no await has taken them. To stop an agent in the middle of
// its text use await text: an await of a chunk kind matches the first piece, and how long that is differs from run to run.
//
// Every step may take [PlayConfig].Timeout, unless the script says otherwise. No step waits for silence: to prove that
// nothing comes, send a request with an unknown method and await its answer.
//
// # What the transcript shows
//
//	client {JSON}    agent {JSON}    a message: compact, members in the order of the wire, jsonrpc "2.0" left out
//	client padded BYTES {JSON}
//	client raw "…"   client bytes "…"
//	agent raw "…"    a line that is no ACP message (not UTF-8, not JSON, no object, jsonrpc not "2.0"); it fails the play
//	exit 0           exit signal: killed
//	kill             restart
//
// Blank lines of the agent are no messages and are left out. What it logs to stderr is kept apart.
//
// The order depends only on the script and on the order of the agent's own lines: what the host sends is recorded when it
// is sent, and a line of the agent when an await (or answer, or eof) matches it or a later one. What comes later but is not
// awaited stands behind the next lines of the host. At kill, lines that no await has reached are left out, since how far
// the agent came is chance. So a script is deterministic when the agent's order is, and when it awaits the end of whatever
// it started before it ends the agent.
//
// Neighbouring text chunks of one kind, session and message id are joined, unless they carry anything else. Then values
// that differ from run to run get names, which a script may use in what it sends and awaits:
//
//	$WORK        PlayConfig.WorkDir, also with its symlinks resolved, anywhere in a string
//	$session1…   by first appearance as sessionId in a result of the agent
//	$message1…   messageId
//	$id1…        any other UUID
//	$NAME        what PlayConfig.Names has, anywhere in a string
//	$version     agentInfo.version (shown only)
//	$time        RFC 3339 times (shown only)
//
// A value that the script spells out itself is not volatile: it keeps its spelling and gets no name. A dollar sign that
// must not begin a name is written \u0024 in JSON. A name without a value fails the step.
package conformance
