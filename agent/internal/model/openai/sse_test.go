package openai

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readEvents(r io.Reader) (list []string, err error) {
	events := newEvents(r)
	for {
		data, err := events.next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return list, err
		}
		list = append(list, string(data))
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                nil,
		"\n\r\n":                          nil,
		"data: a\n\ndata:b\n\n":           {"a", "b"},
		"data: a\r\n\r\ndata: b\r\n\r\n":  {"a", "b"},
		"data:  a \n\n":                   {" a "},
		"data: a\ndata: b\n\n":            {"a\nb"},
		"data\n\n":                        {""},
		"data:\n\n":                       {""},
		"data: a":                         {"a"},
		"data: a\n":                       {"a"},
		"data: a\r":                       {"a"},
		": c\ndata: a\n: c\ndata: b\n: c": {"a\nb"},
		"event: x\nid: 1\nretry: 5\ndatas: no\nDATA: no\n data: no\n\ndata: a\n\n": {"a"},
		"\uFEFFdata: a\n\n":          {"a"},
		"data: \uFEFFa\n\n":          {"\uFEFFa"},
		"data: a\rb\n\n":             {"a\rb"},
		"event: ping\n\ndata: a\n\n": {"a"},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "with the end": iotest.DataErrReader(strings.NewReader(in))} {
			if got, err := readEvents(r); err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%q, %s: %q %v, want %q", in, name, got, err, want)
			}
		}
	}
}

func TestEventSizes(t *testing.T) {
	big := strings.Repeat("x", maxEvent)
	for name, test := range map[string]struct {
		in  io.Reader
		len int
		err error
	}{
		"32 MiB":                {strings.NewReader("data: " + big + "\r\n\r\n"), maxEvent, nil},
		"more":                  {strings.NewReader("data: x" + big + "\n\n"), 0, errTooLong},
		"more in several lines": {strings.NewReader("data: " + big[1:] + "\ndata: ab\n\n"), 0, errTooLong},
		"endless":               {io.MultiReader(strings.NewReader("data: "), endless('x')), 0, errTooLong},
		"a long comment":        {io.MultiReader(io.LimitReader(endless(':'), 2*maxEvent), strings.NewReader("\ndata: a\n\n")), 1, nil},
		"many comments":         {strings.NewReader(strings.Repeat(": keep-alive\n", 1<<20) + "data: a\n\n"), 1, nil},
		"a broken end":          {io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), 1, io.ErrUnexpectedEOF},
		"a broken line":         {io.MultiReader(strings.NewReader("data: a"), iotest.ErrReader(io.ErrUnexpectedEOF)), 0, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readEvents(test.in)
			if !errors.Is(err, test.err) || test.len > 0 && (len(got) != 1 || len(got[0]) != test.len) || test.len == 0 && len(got) != 0 {
				t.Errorf("%d events, %v", len(got), err)
			}
		})
	}
}

// endless is a reader of one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}
