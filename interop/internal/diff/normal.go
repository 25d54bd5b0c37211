// Package diff compares what two agents wrote when the same script was played against them.
//
// It knows the shape of messages as far as it must to say where a difference is, and what is different in every run. It
// does not judge: whether a difference may be stands in a [List], with the reason.
package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/acpkit/acpkit/conformance"
)

// Line is one line of an agent, or the end of its process.
type Line struct {
	Key   string // what it is: "response 3 session/new", "update plan", "request fs/read_text_file", "status phase starting"
	Value any    // result and error, params, or the exit status; decoded and normalised
}

// Normalise makes the agent's lines comparable. It returns them in sections: what stands between two lines of the host, which
// are the same on both sides. Names for ids, paths, times and versions, and joined chunks, come from [conformance.Play];
// the rest is:
//
//   - Wording is everybody's own: descriptions, notices and messages become "…". Of a message stays whether it begins with
//     the method.
//   - Sequence numbers of the status become "$sequence": the real agent counts changes that it does not tell, and how many
//     it joins depends on time.
//   - The snapshot of the machine that the real agent puts before the first prompt becomes "$context": it names the
//     programs that are installed.
func Normalise(t *conformance.Transcript) ([][]Line, error) {
	sections := [][]Line{nil}
	methods := map[string]string{} // of the host's requests, by id
	for _, l := range t.Lines {
		last := len(sections) - 1
		if l.Kind == conformance.KindExit {
			sections[last] = append(sections[last], Line{Key: "exit", Value: l.Text})
			continue
		}
		if l.From != conformance.Agent {
			noteMethod(methods, l.Message)
			sections = append(sections, nil)
			continue
		}
		line, err := read(methods, l)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, l)
		}
		sections[last] = append(sections[last], line)
	}
	return sections, nil
}

type envelope struct {
	ID            json.RawMessage
	Method        string
	Params        any
	Result, Error any
}

func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}

func noteMethod(methods map[string]string, message json.RawMessage) {
	var e envelope
	if decode(message, &e) == nil && e.Method != "" {
		methods[string(e.ID)] = e.Method
	}
}

func read(methods map[string]string, l conformance.Line) (Line, error) {
	var e envelope
	if err := decode(l.Message, &e); err != nil {
		return Line{}, err
	}
	if e.Method == "" {
		method := methods[string(e.ID)]
		value := map[string]any{}
		if e.Error != nil {
			value["error"] = own(e.Error, method)
		} else {
			value["result"] = own(e.Result, method)
		}
		return Line{Key: fmt.Sprintf("response %s %s", e.ID, method), Value: value}, nil
	}
	key := "notification " + e.Method
	switch update := at(e.Params, "update"); {
	case e.ID != nil:
		key = "request " + e.Method
	case e.Method == "session/update":
		key = strings.TrimSpace(fmt.Sprintf("update %v", at(update, "sessionUpdate")))
		if at(update, "sessionUpdate") == "tool_call_update" {
			key += fmt.Sprintf(" %v", at(update, "status"))
		}
	case strings.HasSuffix(e.Method, "/session/status_update"):
		key = fmt.Sprintf("status %v %v", at(e.Params, "event"), at(at(e.Params, "status"), "phase"))
	}
	return Line{Key: key, Value: own(e.Params, e.Method)}, nil
}

// at is a member, nil when there is none.
func at(v any, name string) any {
	object, _ := v.(map[string]any)
	return object[name]
}

const wording = "…"

// context is the snapshot, whole or, in a title, cut off.
var context = regexp.MustCompile(`(?s)<session-context .*?</session-context>\s*|^<session-context .*`)

// own replaces what is each agent's own, below v.
func own(v any, method string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			text, isText := member.(string)
			switch {
			case name == "sequence":
				v[name] = "$sequence"
			case !isText:
				v[name] = own(member, method)
			case text != "" && (name == "description" || name == "deprecatedNotice"):
				v[name] = wording
			case name == "message":
				v[name] = wording
				if strings.HasPrefix(text, method+": ") {
					v[name] = method + ": " + wording
				}
			default:
				v[name] = own(text, method)
			}
		}
	case []any:
		for i := range v {
			v[i] = own(v[i], method)
		}
	case string:
		return context.ReplaceAllString(v, "$$context")
	}
	return v
}
