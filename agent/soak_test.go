package agent_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestMemoryStaysFlat opens, uses and closes or deletes many sessions: what they
// took is given back. BL-127, BL-128. ACPKIT_SOAK is how many; `make soak` takes
// 2,000 of each.
func TestMemoryStaysFlat(t *testing.T) {
	n := 150
	if text := os.Getenv("ACPKIT_SOAK"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, strings.Repeat(`{"text":"some words"}`+"\n", 3))
	for _, method := range []string{"session/close", "session/delete"} {
		heap := func() uint64 {
			p.mu.Lock()
			p.lines = nil // the test's own record
			p.mu.Unlock()
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var before uint64
		for i := range n {
			if i == n/3 {
				before = heap()
			}
			id := fmt.Sprintf("%s-%d", method, i)
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n%s","method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", id, p.work))
			var session string
			if _, err := fmt.Sscanf(p.response(`"n`+id+`"`), `{"sessionId":%q`, &session); err != nil {
				t.Fatal(err)
			}
			p.send(prompt(`"p`+id+`"`, session))
			p.response(`"p` + id + `"`)
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%s","method":%q,"params":{"sessionId":%q}}`+"\n", id, method, session))
			if r := p.response(`"c` + id + `"`); r != "{}" {
				t.Fatal(r)
			}
			if i%50 == 49 {
				p.mu.Lock()
				p.lines = nil
				p.mu.Unlock()
			}
		}
		if after := heap(); after > before+1<<20 {
			t.Errorf("%s: the heap grew from %d to %d kB over %d sessions", method, before>>10, after>>10, n-n/3)
		}
	}
}
