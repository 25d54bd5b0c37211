package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzLines compares the frame reader with linesOf, whatever the limit, the
// size of the buffer and the pieces that the stream comes in.
func FuzzLines(f *testing.F) {
	for _, stream := range []string{"", "\n", "a", "a\nb", "a\r\n\n \nb\n", "\xef\xbb\xbfa\n\xef\xbb\xbfb\n", "\xef\xbb\xbf", "\xef\xbb\n"} {
		f.Add([]byte(stream), uint16(3), uint8(0), uint32(1), false)
	}
	long := bytes.Repeat([]byte("0123456789"), 30)
	f.Add(append(append(long, '\n'), long...), uint16(300), uint8(0), uint32(7), false)
	f.Add(append(append(long, '\n'), long...), uint16(299), uint8(50), uint32(7), false)
	f.Add(append(append(long, '\n'), long...), uint16(299), uint8(3), uint32(9), true)

	why := errors.New("unplugged")
	f.Fuzz(func(t *testing.T, stream []byte, limit uint16, buffer uint8, seed uint32, failed bool) {
		size, end := 16+int(buffer), io.EOF
		if failed {
			end = why
		}
		l := &lines{r: bufio.NewReaderSize(&pieces{stream, seed, end}, size), max: int(limit)}
		var owned [][]byte
		var ownedWant []string
		for i, want := range linesOf(stream, int(limit), failed) {
			line, own, err := l.next()
			if want.tooLong {
				if err != errLineTooLong {
					t.Fatalf("line %d: %q, %v; want too long", i, line, err)
				}
				continue
			}
			if err != nil || string(line) != want.text {
				t.Fatalf("line %d: got %q, %v; want %q", i, line, err, want.text)
			}
			if own {
				owned, ownedWant = append(owned, line), append(ownedWant, want.text)
				if most := max(4*size, int(limit)+1+size); cap(line) > most {
					t.Fatalf("%d bytes of memory for a line of %d", cap(line), len(line))
				}
			}
		}
		for range 3 { // and so it stays
			if line, _, err := l.next(); err != end {
				t.Fatalf("at the end: %q, %v", line, err)
			}
		}
		for i, line := range owned {
			if string(line) != ownedWant[i] {
				t.Fatalf("a line that was the caller's became %q", line)
			}
		}
	})
}
