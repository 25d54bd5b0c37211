package rpc

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// readAll reads the output to its end, as slow as the program says, and notes
// what the Conn asks.
func (r *fuzzRun) readAll() (lines []string) {
	in := bufio.NewReader(r.out)
	for {
		if r.deaf.Load() {
			for !r.returned.Load() {
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(r.slow)
		line, err := in.ReadString('\n')
		if err != nil {
			if line != "" && r.end != endBroken && r.end != endDeaf {
				r.t.Errorf("half a line at the end: %q", line)
			}
			return lines
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
		if m := meaningOf([]byte(line)); m.kind == request {
			r.mu.Lock()
			r.asked = append(r.asked, m.id)
			r.mu.Unlock()
		}
	}
}

// judge compares all output with all input.
func (r *fuzzRun) judge(lines []string) {
	t := r.t
	type tally struct{ any, parse, inval int }
	want, got := map[string]tally{}, map[string]tally{}
	requests := map[string]int{}
	notes := 0
	for _, l := range linesOf(r.wire.Bytes(), r.limit, r.end != endEOF) {
		m := meaning{kind: notJSON, id: "null"}
		if !l.tooLong {
			m = meaningOf([]byte(l.text))
		}
		w := want[m.id]
		switch m.kind {
		case notification:
			notes++
			continue
		case blank, response, cancel:
			continue
		case request:
			requests[m.id]++
		case notJSON:
			w.parse++
		case invalid:
			w.inval++
		}
		w.any++
		want[m.id] = w
	}
	sent, updates, asked := 0, map[int]int{}, 0
	for _, line := range lines {
		list, ok := members([]byte(line))
		m := meaningOf([]byte(line))
		if !ok || list[0] != (member{"jsonrpc", `"2.0"`}) {
			t.Errorf("not a message: %s", line)
			continue
		}
		var f struct {
			Result json.RawMessage
			Error  *struct {
				Code    *int
				Message *string
			}
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Errorf("%.200s: %v", line, err)
		}
		var params struct{ Seq, N, I int }
		if m.kind == notification && (m.method == "ordered" || m.method == "update") {
			for _, member := range list {
				if member.name == "params" {
					_ = json.Unmarshal([]byte(member.value), &params)
				}
			}
		}
		switch m.kind {
		case response:
			g := got[m.id]
			g.any++
			if f.Error != nil {
				switch {
				case f.Error.Code == nil || f.Error.Message == nil || f.Result != nil:
					t.Errorf("malformed: %s", line)
				case *f.Error.Code == CodeParseError:
					g.parse++
				case *f.Error.Code == CodeInvalidRequest:
					g.inval++
				}
			}
			got[m.id] = g
			var streamed struct{ Streamed int }
			if json.Unmarshal(f.Result, &streamed); streamed.Streamed > 0 && updates[streamed.Streamed] != 3 {
				t.Errorf("%d updates before %s", updates[streamed.Streamed], line)
			}
		case request:
			if id, err := strconv.Atoi(m.id); err != nil || id <= 0 {
				t.Errorf("id %s", m.id)
			}
			asked++
		case notification:
			switch m.method {
			case "ordered":
				if params.Seq <= sent {
					t.Errorf("notification %d after %d", params.Seq, sent)
				}
				sent = params.Seq
			case "update":
				if params.N > 0 {
					if params.I != updates[params.N]%3 {
						t.Errorf("update out of order: %s", line)
					}
					updates[params.N]++
				}
			}
		case cancel:
		default:
			t.Errorf("what is this: %s", line)
		}
	}
	strict := r.end == endEOF || r.end == endReadFail
	for id, g := range got {
		w := want[id]
		// A request whose id is in use is answered -32600.
		if g.any > w.any || g.parse > w.parse || g.inval > w.inval+max(0, requests[id]-1) {
			t.Errorf("id %s: answered %+v, asked for %+v", id, g, w)
		}
	}
	if !strict {
		return
	}
	for id, w := range want {
		if g := got[id]; g.any != w.any || g.parse != w.parse || g.inval < w.inval {
			t.Errorf("id %s: answered %+v, asked for %+v", id, g, w)
		}
	}
	if r.handled != notes {
		t.Errorf("%d notifications handled of %d", r.handled, notes)
	}
}
