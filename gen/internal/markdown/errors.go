package markdown

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/acpkit/gen/internal/model"
)

// errorsPage lists every promise about errors and stop reasons.
func (s *site) errorsPage() *writer {
	w := &writer{}
	done := len(slices.DeleteFunc(slices.Clone(s.rows), func(r model.ContractRow) bool { return r.Status != "done" }))
	w.p("# Errors and stop reasons")
	w.p("What the agent answers, case by case: %s, of which %d are done and %d planned. The name of an anchor is the id of the row. A case that is done names the transcripts that show it; *source* is the place in the project's specification that asks for it.", plural(len(s.rows), "case", "cases"), done, len(s.rows)-done)
	s.codes(w)
	s.stopReasons(w)
	s.cases(w, "connection", "The connection", "Before a method is known, or for all of them.", "")
	for _, m := range s.methods {
		s.cases(w, m.Key, code(m.Name), fmt.Sprintf("%s See [its messages](%s#%s).", prose(m.Summary), methodsPage, m.Key), m.Name)
	}
	return w
}

// codes is the table of error codes, with the names that the protocol gives
// them.
func (s *site) codes(w *writer) {
	count := map[int]int{}
	for _, r := range s.rows {
		count[r.Error]++
	}
	w.heading(2, "codes", "Error codes")
	var rows [][]string
	known := map[int]bool{}
	for _, v := range s.codeValues() {
		n, _ := strconv.Atoi(string(v.Const))
		known[n] = true
		rows = append(rows, []string{mark(codeAnchor(n)) + code(string(v.Const)), prose(v.Title), prose(strings.TrimPrefix(v.Doc, string(v.Const)+": ")), strconv.Itoa(count[n])})
	}
	for _, r := range s.rows {
		if n := r.Error; n != 0 && !known[n] {
			known[n] = true
			rows = append(rows, []string{mark(codeAnchor(n)) + code(strconv.Itoa(n)), none, "A code of this agent.", strconv.Itoa(count[n])})
		}
	}
	w.table([]string{"Code", "Name", "Meaning", "Cases"}, rows)
}

func codeAnchor(n int) string { return fmt.Sprintf("code%d", n) }

// codeName is the name of a code in brackets.
func (s *site) codeName(n int) string {
	for _, v := range s.codeValues() {
		if string(v.Const) == strconv.Itoa(n) && v.Title != "" {
			return " (" + prose(v.Title) + ")"
		}
	}
	return ""
}

// codeValues are the constants of the integer enum in the error object.
func (s *site) codeValues() []model.EnumValue {
	for _, b := range s.books {
		if b.ErrorType == nil {
			continue
		}
		for _, f := range b.ErrorType.Fields {
			if t := f.Type.Type; t != nil && t.Kind == model.Enum && t.Scalar != model.String {
				return t.Enum.Values
			}
		}
	}
	return nil
}

func (s *site) stopReasons(w *writer) {
	for i := range s.methods {
		t := reasons(&s.methods[i])
		if t == nil {
			continue
		}
		w.heading(2, "stop_reasons", "Stop reasons")
		w.p("A turn ends with one of the values of %s in the result of %s, or with an error.", s.ref(errorsPage, t), link(code(s.methods[i].Name), methodsPage+"#"+s.methods[i].Key))
		var rows [][]string
		for _, v := range t.Enum.Values {
			reason := strings.Trim(string(v.Const), `"`)
			n := 0
			for _, r := range s.rows {
				if r.StopReason == reason {
					n++
				}
			}
			rows = append(rows, []string{mark("stop_"+reason) + code(reason), prose(v.Doc), strconv.Itoa(n)})
		}
		w.table([]string{"Stop reason", "Meaning", "Cases"}, rows)
	}
}

// cases is the table of one method.
func (s *site) cases(w *writer, anchor, title, text, method string) {
	rows := s.rowsOf(method)
	if len(rows) == 0 {
		return
	}
	w.heading(2, anchor, title)
	w.p("%s", text)
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{mark(r.ID) + code(r.ID), prose(r.When), s.answer(r), s.proof(r), prose(r.Source)})
	}
	w.table([]string{"Case", "When", "Answer", "Status", "Source"}, cells)
}

// answer is what the host sees in this case.
func (s *site) answer(r model.ContractRow) string {
	var text string
	switch {
	case r.Error != 0:
		text = fmt.Sprintf("error [`%d`](#%s)%s", r.Error, codeAnchor(r.Error), s.codeName(r.Error))
	case r.StopReason != "":
		text = fmt.Sprintf("stop reason [`%[1]s`](#stop_%[1]s)", r.StopReason)
	case r.Result == "ok":
		text = "a result"
	default:
		text = prose(r.Result)
	}
	if r.Warning {
		text += ", with a warning before"
	}
	var status []string
	for _, v := range []struct{ name, value string }{{"phase", r.StatusPhase}, {"outcome", r.StatusOutcome}, {"event", r.StatusEvent}} {
		if v.value != "" {
			status = append(status, v.name+" "+code(v.value))
		}
	}
	if status != nil {
		text += "; status: " + strings.Join(status, ", ")
	}
	return text
}

// proof links the transcripts that name the row.
func (s *site) proof(r model.ContractRow) string {
	if r.Status != "done" {
		return r.Status
	}
	var links []string
	for _, file := range s.Proofs[r.ID] {
		if to := s.repo(errorsPage, file); to != "" {
			links = append(links, link(strings.TrimSuffix(path.Base(file), ".txtar"), to))
		}
	}
	if links == nil {
		return r.Status
	}
	return r.Status + ": " + strings.Join(links, ", ")
}
