package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/acpkit/generated/script"
)

// answer is a reply as bytes: what goes over the connection, and when.
type answer struct {
	status  int
	header  map[string]string
	body    []segment
	split   int    // most bytes per write; 0 is no limit
	comment []byte // what keeps alive; nil where a comment has no place

	stop  bool // cut or hang, at place
	place script.Place
	at    int // how much of the body comes before, if the place is in the body
	cutBy script.CutBy
	hang  bool

	wait, delay, keepAlive time.Duration
}

// segment is what is written in one go: an event with its empty line, as a rule.
type segment struct {
	data     []byte
	from, to int // where in data its JSON stands
	output   bool
	paced    bool
	end      bool // the end marker: who has seen it may go
}

// answerTo makes bytes of a reply.
func answerTo(w wire, c *call, r *Reply) *answer {
	ms := func(n *uint32) time.Duration { return time.Duration(or(n, 0)) * time.Millisecond }
	a := &answer{status: http.StatusOK, header: map[string]string{}, stop: r.Cut || r.Hang, place: or(r.At, script.PlaceOutput),
		cutBy: or(r.CutBy, script.CutByClose), hang: r.Hang, wait: ms(r.WaitMS), delay: ms(r.DelayMS), keepAlive: ms(r.KeepAliveMS)}
	f := framing{script.Framing{}, "\n", 0}
	if r.Framing != nil {
		f.Framing, a.split = *r.Framing, int(or(r.Framing.Split, 0))
	}
	switch or(f.Newline, script.NewlineLf) {
	case script.NewlineCrlf:
		f.eol = "\r\n"
	case script.NewlineCr:
		f.eol = "\r"
	}
	switch {
	case r.Status != nil:
		a.status = int(*r.Status)
		body := or(r.Body, string(w.failure(a.status, fmt.Sprintf("scripted status %d", a.status))))
		a.header["Content-Type"] = guessType(body)
		a.single([]byte(body))
	case !c.stream:
		a.header["Content-Type"] = "application/json"
		a.single(wholeBody(w, c, r))
	default:
		a.header["Content-Type"] = "text/event-stream; charset=utf-8"
		a.header["Cache-Control"] = "no-cache"
		a.comment = []byte(":" + f.space() + or(r.Comment, "keep-alive") + f.eol + f.eol)
		a.events(f, w, c, r)
	}
	for name, value := range r.Headers {
		a.header[http.CanonicalHeaderKey(name)] = value
	}
	a.locate()
	return a
}

// single is a body that is no stream; its length is told unless it is to break off.
func (a *answer) single(body []byte) {
	a.body = []segment{{data: body, to: len(body), output: true}}
	if !a.stop {
		a.header["Content-Length"] = strconv.Itoa(len(body))
	}
}

func wholeBody(w wire, c *call, r *Reply) []byte {
	switch {
	case r.Raw != nil:
		return []byte(*r.Raw)
	case len(r.Events) > 0:
		return []byte(asItIs(r.Events[0]))
	case r.Events != nil:
		return nil
	}
	return w.whole(c, r)
}

// events is the body of a stream.
func (a *answer) events(f framing, w wire, c *call, r *Reply) {
	for range or(r.Comments, 0) {
		a.body = append(a.body, segment{data: a.comment})
	}
	if r.Raw != nil {
		a.body = append(a.body, segment{data: []byte(*r.Raw), to: len(*r.Raw), output: true})
		return
	}
	output, closing, end := w.stream(c, r)
	if r.Events != nil {
		output, closing = nil, nil
		for _, e := range r.Events {
			output = append(output, event{data: []byte(asItIs(e)), paced: true})
		}
	}
	for _, e := range output {
		s := f.frame(e)
		s.output, s.paced = true, e.paced
		a.body = append(a.body, s)
	}
	for _, e := range closing {
		a.body = append(a.body, f.frame(e))
	}
	if end != "" && !f.NoDone && r.Error == nil {
		marker := f.frame(event{data: []byte(end)})
		marker.end = true
		a.body = append(a.body, marker)
	}
	if n := len(a.body); f.NoBlank && n > 0 {
		a.body[n-1].data = bytes.TrimSuffix(a.body[n-1].data, []byte(f.eol))
	}
}

// locate turns the place of a cut or hang into a number of bytes.
func (a *answer) locate() {
	offset := 0
	for _, s := range a.body {
		switch {
		case s.to == 0: // a comment
			a.at = offset + len(s.data)
		case s.output:
			switch a.place {
			case script.PlaceOutput:
				a.at = offset + len(s.data)
			case script.PlaceJson:
				half := s.from + (s.to-s.from)/2
				for half > s.from && !utf8.RuneStart(s.data[half]) {
					half--
				}
				a.at = offset + half
			case script.PlaceCharacter:
				for j, b := range s.data {
					if b >= utf8.RuneSelf && utf8.RuneStart(b) {
						a.at = offset + j + 1
					}
				}
			}
		}
		offset += len(s.data)
	}
}

// asItIs is the text of a JSON string, and any other JSON as it stands.
func asItIs(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func guessType(body string) string {
	switch trimmed := strings.TrimSpace(body); {
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, "["):
		return "application/json"
	case strings.HasPrefix(trimmed, "<"):
		return "text/html; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// framing writes events as server-sent events.
type framing struct {
	script.Framing
	eol string
	n   int // events so far
}

func (f *framing) space() string {
	if f.NoSpace {
		return ""
	}
	return " "
}

func (f *framing) frame(e event) segment {
	f.n++
	var b bytes.Buffer
	field := func(name string, value []byte) {
		b.WriteString(name + ":" + f.space())
		b.Write(value)
		b.WriteString(f.eol)
	}
	name := e.name
	if f.Fields && name == "" {
		name = "message"
	}
	if name != "" {
		field("event", []byte(name))
	}
	if f.Fields {
		field("id", []byte(strconv.Itoa(f.n)))
		field("retry", []byte("1000"))
	}
	data := e.data
	if f.Lines {
		var indented bytes.Buffer
		if json.Indent(&indented, data, "", "  ") == nil {
			data = indented.Bytes()
		}
	}
	s := segment{from: b.Len() + len("data:") + len(f.space())}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		field("data", line)
	}
	s.to = b.Len() - len(f.eol)
	b.WriteString(f.eol)
	s.data = b.Bytes()
	return s
}
