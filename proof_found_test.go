package acpkit_test

import (
	"strings"
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/openai"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// Faults that the proof found, each of which was let pass or lost once.

// A stray byte after the value.
func TestNothingBehindAValue(t *testing.T) {
	for _, tail := range []string{"}", "]", ",", ":", "x", "\x00"} {
		if err := new(acp.Error).UnmarshalJSON([]byte(`{"code":1,"message":"m"}` + tail)); err == nil {
			t.Errorf("trailing %q is accepted", tail)
		}
		if _, err := acp.DecodeContentBlock([]byte(`{"type":"text","text":"t"}` + tail)); err == nil {
			t.Errorf("trailing %q is accepted by a union", tail)
		}
	}
}

// Every error is a *DecodeError, that of a cut text too.
func TestCutTextIsADecodeError(t *testing.T) {
	for _, in := range []string{`{`, `{"code":1`, `{"code":1 "message":"m"}`, `{"code":1,}`} {
		if _, ok := pointerOf(new(acp.Error).UnmarshalJSON([]byte(in))); !ok {
			t.Errorf("%s: no DecodeError", in)
		}
	}
}

// The parser names each level of nesting; the error goes on the wire as the
// message of -32602.
func TestErrorsStaySmall(t *testing.T) {
	err := new(acp.Error).UnmarshalJSON([]byte(`{"code":1,"message":"","x":` + strings.Repeat("[", 20000)))
	if n := len(err.Error()); n > 1000 {
		t.Errorf("the error has %d bytes", n)
	}
}

// Each lenient level used to read the broken rest again: 20 s for these 150 kB.
func TestDeepLenientNesting(t *testing.T) {
	in := `{"content":` + strings.Repeat(`[{"thinking":`, 10000) + "0" + strings.Repeat("}]", 10000) + `}`
	if err := new(openai.Delta).UnmarshalJSON([]byte(in)); err == nil {
		t.Error("accepted")
	}
}

// A raw value with a byte that is no UTF-8 stays the kind of value that it was.
func TestRawValueWithoutUTF8(t *testing.T) {
	v, err := openai.DecodeUserPart([]byte("{\"type\":\"new\",\"a\":\"\xff\"}"))
	if err != nil {
		return // refusing it would do as well
	}
	out := openai.AppendUserPart(nil, v)
	if _, err := openai.DecodeUserPart(out); err != nil {
		t.Errorf("%s: %v", out, err)
	}
}

// A double from 2^63 to 1e21 is written as digits alone; it is no integer that
// does not fit.
func TestNumberBeyondInt64(t *testing.T) {
	out := acp.AppendElicitationContentValue(nil, acp.ElicitationContentValueNumber(1e19))
	if _, err := acp.DecodeElicitationContentValue(out); err != nil {
		t.Errorf("%s: %v", out, err)
	}
}

// A fraction beyond the precision of a double is no integer, and an integer
// beyond 2^53 with ".0" is not its neighbour.
func TestIntegersAreNotRounded(t *testing.T) {
	var e acp.Error
	if err := e.UnmarshalJSON([]byte(`{"code":1.00000000000000000001,"message":""}`)); err == nil {
		t.Errorf("1.00000000000000000001 is taken for %d", e.Code)
	}
	var c acp.CancelRequestNotification
	if err := c.UnmarshalJSON([]byte(`{"requestId":9007199254740993.0}`)); err == nil && c.RequestID != acp.RequestIDNumber(9007199254740993) {
		t.Errorf("9007199254740993.0 is taken for %d", c.RequestID)
	}
}

// A list that came as an object minds a key that stands twice.
func TestPairsTwice(t *testing.T) {
	var s reasonix.MCPServerStdio
	if err := s.UnmarshalJSON([]byte(`{"name":"n","command":"c","env":{"A":"1","A":"2"}}`)); err == nil {
		t.Errorf("accepted as %v", s.Env)
	}
}

// A tag that stands twice is refused, also when the first one is unknown.
func TestUnknownTagTwice(t *testing.T) {
	if v, err := acp.DecodeContentBlock([]byte(`{"type":"new","type":"text","text":"t"}`)); err == nil {
		t.Errorf("accepted as %s", acp.AppendContentBlock(nil, v))
	}
}
