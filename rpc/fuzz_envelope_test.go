package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// FuzzEnvelope compares what parse and its helpers make of a line with the
// reference, and what we would write about it with encoding/json.
func FuzzEnvelope(f *testing.F) {
	for _, line := range hostileLines {
		f.Add([]byte(line))
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,2.5e-3,"\u00e9\ud83d\ude00"]}}`,
		` { "jsonrpc" : "2.0" , "id" : "x" , "error" : { "code" : -32000 , "message" : "m" , "data" : [ ] } } `,
		`{"jsonrpc":"2.0","id":9007199254740993,"result":null}`,
		`{"jsonrpc":"2.0","id":-0.0,"result":1,"error":null}`,
		`{"jsonrpc":"2\u002e0","method":"$/cancel_request","params":{"requestId":"a"}}`,
		`{"jsonrpc":"2.0","method":"m\ud800\u0041"}`,
	} {
		f.Add([]byte(line))
	}
	var dec jx.Decoder // one for all, as the reader has it
	f.Fuzz(func(t *testing.T, line []byte) {
		if !utf8.Valid(line) || len(bytes.TrimSpace(line)) == 0 {
			return // receive sees to these
		}
		before := bytes.Clone(line)
		e, err := parse(&dec, line)
		if !bytes.Equal(before, line) {
			t.Fatal("the line was changed")
		}
		want := meaningOf(line)
		got := meaning{id: nullID.or(e.id)}
		switch {
		case err != nil:
			got.kind, got.id = notJSON, "null"
		case e.isResponse():
			got.kind = response
		case e.fault != "":
			got.kind = invalid
		default:
			got.method, err = text(e.method)
			if err != nil {
				t.Fatalf("a method that is no string: %s", e.method)
			}
			switch {
			case e.id != nil:
				got.kind = request
			case got.method == methodCancel:
				got = meaning{kind: cancel}
			default:
				got.kind, got.id = notification, ""
			}
		}
		if surrogates(e.method) { // encoding/json replaces the halves one way, jx another
			got.method, want.method = "", ""
		}
		if got != want {
			t.Fatalf("got %+v, want %+v (%s)", got, want, e.fault)
		}
		if got.kind == response {
			checkOutcome(t, &e)
		}
		if got.kind == cancel {
			if id, wantID := string(cancelID(e.params)), referenceCancelID(e.params); id != wantID {
				t.Fatalf("cancel of %q, want %q", id, wantID)
			}
		}
		if got.kind != notJSON {
			checkFrame(t, &e)
		}
	})
}

func (id ID) or(raw []byte) string {
	if raw == nil {
		return string(id)
	}
	return string(raw)
}

func surrogates(raw []byte) bool { return bytes.Contains(bytes.ToLower(raw), []byte(`\ud`)) }

// checkOutcome compares what a response says with the reference.
func checkOutcome(t *testing.T, e *envelope) {
	result, err := e.outcome("m")
	var remote *Error
	switch isError := errors.As(err, &remote); {
	case err == nil:
		if e.fault != "" || !json.Valid(result) || string(result) != string(e.result) {
			t.Fatalf("result %q of %s", result, e.fault)
		}
		if e.err != nil && string(e.err) != "null" {
			t.Fatalf("an error passed as a result: %s", e.err)
		}
	case isError:
		var want Error
		ok := false
		list, _ := members(e.err)
		for _, m := range list {
			switch m.name {
			case "code":
				want.Code, err = strconv.Atoi(m.value)
				ok = err == nil
			case "message":
				if m.value[0] == '"' {
					_ = json.Unmarshal([]byte(m.value), &want.Message)
				}
			case "data":
				want.Data = json.RawMessage(m.value)
			}
		}
		if surrogates(e.err) {
			want.Message = remote.Message
		}
		if !ok || remote.Code != want.Code || remote.Message != want.Message || string(remote.Data) != string(want.Data) {
			t.Fatalf("%s became %+v", e.err, remote)
		}
	case !strings.HasPrefix(err.Error(), "m: malformed "):
		t.Fatal(err)
	case e.fault == "" && e.err == nil:
		t.Fatalf("a good result was refused: %v", err)
	}
}

func referenceCancelID(params []byte) (id string) {
	list, _ := members(params)
	for _, m := range list {
		if m.name == "requestId" {
			id = m.value
		}
	}
	return id
}

// checkFrame writes answers with members of the line and reads them back.
func checkFrame(t *testing.T, e *envelope) {
	method := strings.Trim(string(e.method), `"`)
	for _, f := range []frame{
		{response: true, id: ID(nullID.or(e.id)), fail: &Error{Code: 1, Message: clip(method), Data: keep(e.params, false)}},
		{response: true, id: ID(nullID.or(e.id)), body: rawBody(e.params)},
		{id: "7", method: method, body: rawBody(e.result)},
		{method: method},
	} {
		b, err := f.appendTo([]byte("before\n"))
		if err != nil {
			t.Fatal(err)
		}
		line, ok := bytes.CutPrefix(b, []byte("before\n"))
		if !ok || bytes.IndexByte(line, '\n') != len(line)-1 || !utf8.Valid(line) || !json.Valid(line) {
			t.Fatalf("wrote %q", b)
		}
		switch m := meaningOf(line); {
		case f.response && (m.kind != response || m.id != string(f.id)),
			!f.response && f.id != "" && (m.kind != request || m.method != method),
			!f.response && f.id == "" && m.kind != notification && m.kind != cancel:
			t.Fatalf("wrote %s which reads as %+v", line, m)
		}
	}
}

type rawBody []byte

func (r rawBody) AppendJSON(b []byte) []byte { return append(b, r...) }
