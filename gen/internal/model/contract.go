package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/load"
)

// ContractRow is a promise of contract.json: under a condition, a method answers
// with an error code, a stop reason, or a result.
type ContractRow struct {
	ID            string `json:"id"`
	Method        string `json:"method"` // wire name; "" for the transport
	When          string `json:"when"`
	Error         int    `json:"error,omitempty"`
	StopReason    string `json:"stopReason,omitempty"`
	Result        string `json:"result,omitempty"` // "ok"
	Warning       bool   `json:"warning,omitempty"`
	StatusPhase   string `json:"statusPhase,omitempty"`
	StatusOutcome string `json:"statusOutcome,omitempty"`
	StatusEvent   string `json:"statusEvent,omitempty"`
	Source        string `json:"source"`
	Status        string `json:"status"` // done or planned
}

// readContract reads contract.json and holds it against the method table.
func (p *Package) readContract(f *load.File) error {
	var doc struct {
		Description string        `json:"description"`
		Rows        []ContractRow `json:"rows"`
	}
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return jsonError(f.Name, f.Data, dec.InputOffset(), err)
	}
	var errs []error
	seen := map[string]bool{}
	for _, r := range doc.Rows {
		fail := func(mend, format string, a ...any) {
			errs = append(errs, &load.Error{Pos: find(f.Name, f.Data, fmt.Sprintf("%q", r.ID)), Msg: r.ID + ": " + fmt.Sprintf(format, a...), Mend: mend})
		}
		ends := 0
		for _, set := range []bool{r.Error != 0, r.StopReason != "", r.Result == "ok"} {
			if set {
				ends++
			}
		}
		method := slices.IndexFunc(p.Methods, func(m Method) bool { return m.Name == r.Method })
		switch {
		case r.ID == "" || r.When == "" || r.Source == "":
			fail("fill all three", "a row needs an id, a condition and a source")
		case seen[r.ID]:
			fail("give each row its own id", "the id stands twice")
		case r.Method != "" && method < 0:
			fail("correct the method, or add it to methods.json", "there is no method %q", r.Method)
		case method >= 0 && !strings.HasPrefix(r.ID, p.Methods[method].Key+"."):
			fail("begin the id with the method's key and a dot", "the method %s has the key %s", r.Method, p.Methods[method].Key)
		case ends != 1:
			fail(`write one of error, stopReason and "result": "ok"`, "a row promises exactly one thing")
		case r.Status != "done" && r.Status != "planned":
			fail("a status is done or planned", "status %q", r.Status)
		}
		seen[r.ID] = true
	}
	p.Contract = doc.Rows
	return errors.Join(errs...)
}
