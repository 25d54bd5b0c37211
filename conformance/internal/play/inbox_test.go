package play

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	br := bufio.NewReaderSize(strings.NewReader("short\n\n"+strings.Repeat("x", 100)+"\nrest"), 16)
	for _, want := range []struct {
		line string
		size int
		err  error
	}{{"short", 5, nil}, {"", 0, nil}, {strings.Repeat("x", 50), 100, nil}, {"rest", 4, io.EOF}, {"", 0, io.EOF}} {
		line, size, err := readLine(br, 50)
		if string(line) != want.line || size != want.size || !errors.Is(err, want.err) {
			t.Errorf("got %q, %d, %v; want %+v", line, size, err, want)
		}
	}
}

func TestInboxFaults(t *testing.T) {
	long := strings.Repeat("x", 101)
	in := newInbox()
	in.maxLine = 100
	in.read(strings.NewReader("\n \t\r\n{\"jsonrpc\":\"2.0\"}\r\n"+long+"\n{\"jsonrpc\":\"2.0\"}\nhalf"), func() bool { return false })
	<-in.ended
	<-in.changed
	var faults []string
	for _, m := range in.take() {
		faults = append(faults, m.Fault)
	}
	want := []string{"", "a line of 101 bytes; the limit is 100", "", "the last line has no newline"}
	if fmt.Sprint(faults) != fmt.Sprint(want) {
		t.Errorf("faults %q, want %q", faults, want)
	}

	in = newInbox()
	in.read(strings.NewReader("half"), func() bool { return true })
	if got := in.take(); got != nil {
		t.Errorf("the half line of a killed process was taken: %v", got)
	}
}

// An agent that never stops is read to its end, so that it does not block, but not kept.
func TestInboxBound(t *testing.T) {
	in := newInbox()
	in.maxRead = 1000
	agent := strings.NewReader(strings.Repeat("0123456789\n", 1000))
	in.read(agent, func() bool { return false })
	got := in.take()
	if want := "more than 1000 bytes of output; the rest was not kept"; len(got) != 101 || got[100].Fault != want || agent.Len() > 0 {
		t.Errorf("%d lines, the last with %q, %d bytes left", len(got), got[len(got)-1].Fault, agent.Len())
	}
}

func TestTail(t *testing.T) {
	tl := &tail{limit: 10}
	for i := range 100 {
		fmt.Fprintf(tl, "%02d ", i)
	}
	if got := tl.String(); got != " 97 98 99 " {
		t.Errorf("%q", got)
	}
	if cap(tl.data) > 64 {
		t.Errorf("kept %d bytes", cap(tl.data))
	}
}
