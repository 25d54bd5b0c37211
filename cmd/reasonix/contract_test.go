package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acpkit/acpkit/conformance"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// golden is a script that plays the agent, with what crossed the wire.
type golden struct {
	file   string
	covers []string
	spec   bool
	lines  []conformance.Line
}

var coversLine = regexp.MustCompile(`(?m)^# covers: (.+)$`)

func goldens(t *testing.T) []golden {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ar := txtar.Parse(data)
		comment := string(ar.Comment)
		if filepath.Base(filepath.Dir(file)) == "cli" {
			continue // about the command line
		}
		g := golden{file: file, spec: strings.Contains(comment, "\n# spec: ")}
		for _, m := range coversLine.FindAllStringSubmatch(comment, -1) {
			for id := range strings.SplitSeq(m[1], ",") {
				g.covers = append(g.covers, strings.TrimSpace(id))
			}
		}
		i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "transcript" })
		if i < 0 {
			t.Fatalf("%s has no transcript", file)
		}
		if g.lines, err = conformance.ParseTranscript(ar.Files[i].Data); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, g)
	}
	return list
}

// answer is what came back for one request, whichever side asked. For a line
// that is no request the method is "".
type answer struct {
	method     string
	code       int
	stopReason string
}

// answers pairs the requests of a transcript with their answers.
func (g golden) answers(t *testing.T) []answer {
	t.Helper()
	type id struct {
		side conformance.Side
		raw  string
	}
	open := map[id]string{}
	var list []answer
	for _, l := range g.lines {
		text := []byte(l.Message)
		if l.Kind == conformance.KindRaw {
			text = []byte(l.Text) // a line that was sent as it stands may still be a request
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result *struct{ StopReason string }
			Error  *struct{ Code int }
		}
		if json.Unmarshal(text, &m) != nil {
			if l.Kind == conformance.KindMessage {
				t.Fatalf("%s: %s is no message", g.file, text)
			}
			continue
		}
		if m.Method != "" {
			if m.ID != nil {
				open[id{l.From, string(m.ID)}] = m.Method
			}
			continue
		}
		asker := conformance.Client
		if l.From == conformance.Client {
			asker = conformance.Agent
		}
		a := answer{method: open[id{asker, string(m.ID)}]}
		if m.Error != nil {
			a.code = m.Error.Code
		} else if m.Result != nil {
			a.stopReason = m.Result.StopReason
		}
		list = append(list, a)
	}
	return list
}

// proves reports whether some answer of the transcript is what the row promises.
func (g golden) proves(t *testing.T, row reasonix.ContractRow) bool {
	return slices.ContainsFunc(g.answers(t), func(a answer) bool {
		return (row.Method == "" || a.method == row.Method) && a.code == row.Error && (row.StopReason == "" || a.stopReason == row.StopReason)
	})
}

// TestContract: each promise that is called done is proved by a transcript that
// names it, each transcript proves what it names, and no code or stop reason of
// the protocol is without a promise.
func TestContract(t *testing.T) {
	rows := map[string]reasonix.ContractRow{}
	for _, r := range reasonix.Contract {
		rows[r.ID] = r
	}
	proved := map[string]bool{}
	for _, g := range goldens(t) {
		if len(g.covers) == 0 || !g.spec {
			t.Errorf("%s: a transcript has a # covers: and a # spec: line", g.file)
		}
		for _, id := range g.covers {
			switch row, ok := rows[id]; {
			case !ok:
				t.Errorf("%s covers %s, which is no row of the contract", g.file, id)
			case !row.Done:
				t.Errorf("%s covers %s, which is planned; call it done in contract.json", g.file, id)
			case !g.proves(t, row):
				t.Errorf("%s covers %s, but no answer to %q has %s", g.file, id, row.Method, promise(row))
			default:
				proved[id] = true
			}
		}
	}
	done := 0
	for _, r := range reasonix.Contract {
		if r.Done {
			done++
			if !proved[r.ID] {
				t.Errorf("%s is called done, but no transcript covers it", r.ID)
			}
		}
	}
	t.Logf("%d rows, %d done", len(reasonix.Contract), done)
}

func promise(r reasonix.ContractRow) string {
	switch {
	case r.Error != 0:
		return fmt.Sprintf("code %d", r.Error)
	case r.StopReason != "":
		return "stop reason " + r.StopReason
	default:
		return "a result"
	}
}

// TestContractIsComplete: the eight codes and the five stop reasons.
func TestContractIsComplete(t *testing.T) {
	codes := []acp.ErrorCode{acp.ErrorCodeParseError, acp.ErrorCodeInvalidRequest, acp.ErrorCodeMethodNotFound, acp.ErrorCodeInvalidParams,
		acp.ErrorCodeInternalError, acp.ErrorCodeRequestCancelled, acp.ErrorCodeAuthenticationRequired, acp.ErrorCodeResourceNotFound}
	reasons := []acp.StopReason{acp.StopReasonEndTurn, acp.StopReasonMaxTokens, acp.StopReasonMaxTurnRequests, acp.StopReasonRefusal, acp.StopReasonCancelled}
	for _, r := range reasonix.Contract {
		codes = slices.DeleteFunc(codes, func(c acp.ErrorCode) bool { return int(c) == r.Error })
		reasons = slices.DeleteFunc(reasons, func(s acp.StopReason) bool { return string(s) == r.StopReason })
		if r.Error != 0 && !acp.ErrorCode(r.Error).Known() {
			t.Errorf("%s: the protocol has no code %d", r.ID, r.Error)
		}
		if r.StopReason != "" && !acp.StopReason(r.StopReason).Known() {
			t.Errorf("%s: the protocol has no stop reason %q", r.ID, r.StopReason)
		}
	}
	if len(codes)+len(reasons) > 0 {
		t.Errorf("no row promises %v %v", codes, reasons)
	}
}
