package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/go-faster/jx"
)

// A line of the log is a checksum, a space and an object:
//
//	1c291ca3 {"n":1,"t":1767225600000,"k":"kind","d":{…}}
//
// The checksum is the CRC-32C of the object in 8 hex digits; n is the Seq, t the
// time in Unix milliseconds, d is absent when there is no Data. A record that
// was appended together with later ones also says where they end ("to", the Seq
// of the last), so that a torn write is taken back as a whole. The first line
// of a file is not a record: it names the format.
const (
	formatName   = "reasonix-acp-session"
	formatNumber = 1

	sumLen  = 8               // hex digits
	prefix  = sumLen + 1      // and the space
	maxLine = 256 << 20       // longer ones are damage
	maxSeq  = uint64(1) << 62 // a larger one is damage, not a record
)

// entry is a line taken apart; its slices point into the line.
type entry struct {
	seq, to    uint64 // to is seq for a record that was not followed by others
	ms         int64
	kind, data []byte
}

func checksum(b []byte) uint32 {
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

// seal appends the newline and fills the sum of the line that begins at start in.
func seal(b []byte, start int) []byte {
	putHex(b[start:], checksum(b[start+prefix:]))
	return append(b, '\n')
}

func putHex(b []byte, sum uint32) {
	const digits = "0123456789abcdef"
	for i := sumLen - 1; i >= 0; i-- {
		b[i] = digits[sum&15]
		sum >>= 4
	}
}

const blankSum = "00000000 "

func appendHead(b []byte) []byte {
	start := len(b)
	b = append(b, blankSum+`{"format":"`+formatName+`","version":`...)
	b = strconv.AppendInt(b, formatNumber, 10)
	return seal(append(b, '}'), start)
}

func appendLine(b []byte, e entry) []byte {
	start := len(b)
	b = append(b, blankSum+`{"n":`...)
	b = strconv.AppendUint(b, e.seq, 10)
	b = append(b, `,"t":`...)
	b = strconv.AppendInt(b, e.ms, 10)
	b = append(b, `,"k":"`...)
	b = append(b, e.kind...)
	b = append(b, '"')
	if e.to != e.seq {
		b = append(b, `,"to":`...)
		b = strconv.AppendUint(b, e.to, 10)
	}
	if len(e.data) > 0 {
		b = append(b, `,"d":`...)
		b = append(b, e.data...)
	}
	return seal(append(b, '}'), start)
}

// appendLines writes recs as the records behind last, or says what is wrong with one.
func appendLines(b []byte, last uint64, recs []Record, now func() time.Time) ([]byte, error) {
	to := last + uint64(len(recs))
	if to > maxSeq {
		return b, errors.New("the session has no room for another record")
	}
	for i := range recs {
		r := &recs[i]
		if err := checkRecord(r); err != nil {
			return b, err
		}
		t := r.Time
		if t.IsZero() {
			t = now()
		}
		last++
		// The kind goes into an array first: converting the string would allocate.
		var kind [maxKind]byte
		b = appendLine(b, entry{seq: last, to: to, ms: t.UnixMilli(), kind: kind[:copy(kind[:], r.Kind)], data: r.Data})
	}
	return b, nil
}

func checkRecord(r *Record) error {
	switch {
	case !validKind(r.Kind):
		return fmt.Errorf("record kind %q: it has to be 1 to %d lower-case letters, digits and underscores", r.Kind, maxKind)
	case len(r.Data) == 0:
		return nil
	case len(r.Data) > maxLine-1024:
		return fmt.Errorf("record %q has %d bytes; a record has at most %d", r.Kind, len(r.Data), maxLine-1024)
	case bytes.IndexByte(r.Data, '\n') >= 0 || bytes.IndexByte(r.Data, '\r') >= 0:
		return fmt.Errorf("the data of record %q has a line break", r.Kind)
	case !jx.Valid(r.Data):
		return fmt.Errorf("the data of record %q is not valid JSON", r.Kind)
	}
	return nil
}

// whole returns the object of a line whose sum is right.
func whole(line []byte) ([]byte, bool) {
	if len(line) < prefix || line[sumLen] != ' ' {
		return nil, false
	}
	var want [sumLen]byte
	putHex(want[:], checksum(line[prefix:]))
	return line[prefix:], string(want[:]) == string(line[:sumLen])
}

// parse takes a line without its newline apart. False is damage.
func parse(line []byte) (e entry, ok bool) {
	b, ok := whole(line)
	if !ok {
		return e, false
	}
	if b, ok = cut(b, `{"n":`); !ok {
		return e, false
	}
	if e.seq, b, ok = cutUint(b); !ok || e.seq == 0 || e.seq > maxSeq {
		return e, false
	}
	if b, ok = cut(b, `,"t":`); !ok {
		return e, false
	}
	if e.ms, b, ok = cutInt(b); !ok {
		return e, false
	}
	if b, ok = cut(b, `,"k":"`); !ok {
		return e, false
	}
	end := bytes.IndexByte(b, '"')
	if end < 1 {
		return e, false
	}
	e.kind, b, e.to = b[:end], b[end+1:], e.seq
	if rest, found := cut(b, `,"to":`); found {
		if e.to, b, ok = cutUint(rest); !ok || e.to <= e.seq {
			return e, false
		}
	}
	if rest, found := cut(b, `,"d":`); found {
		if len(rest) < 2 {
			return e, false
		}
		e.data, b = rest[:len(rest)-1], rest[len(rest)-1:]
	}
	return e, string(b) == "}"
}

// cut is bytes.CutPrefix for a constant, which it compares without a call.
func cut(b []byte, prefix string) (rest []byte, found bool) {
	if len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix {
		return b[len(prefix):], true
	}
	return b, false
}

func cutUint(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && i < 19 && isDigit(b[i]) { // 19 digits cannot overflow
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	return n, b[i:], i > 0
}

func cutInt(b []byte) (int64, []byte, bool) {
	b, negative := cut(b, "-")
	n, b, ok := cutUint(b)
	if negative {
		return -int64(n), b, ok && n <= 1<<63
	}
	return int64(n), b, ok && n < 1<<63
}

// checkHead judges the first line of a file.
func checkHead(line []byte) error {
	b, ok := whole(line)
	if !ok {
		// Whose file is it? Ours still has the name, or the shape of the sum.
		if len(line) == 0 || bytes.Contains(line, []byte(formatName)) || sumShaped(line) {
			return &DamagedError{Reason: "its first line is not whole"}
		}
		return &FormatError{Known: formatNumber}
	}
	var name string
	var number int
	err := jx.DecodeBytes(b).Obj(func(d *jx.Decoder, key string) (err error) {
		switch key {
		case "format":
			name, err = d.Str()
		case "version":
			number, err = d.Int()
		default:
			err = d.Skip()
		}
		return err
	})
	switch {
	case err != nil || name != formatName || number < 1:
		return &FormatError{Known: formatNumber}
	case number != formatNumber:
		return &FormatError{Found: number, Known: formatNumber}
	}
	return nil
}

// sumShaped says whether line begins as ours do, also when it ends early or is
// the zeros of a power cut.
func sumShaped(line []byte) bool {
	if len(bytes.Trim(line, "\x00")) == 0 {
		return true
	}
	for i, c := range line[:min(len(line), prefix)] {
		if hex := isDigit(c) || c >= 'a' && c <= 'f'; i < sumLen && !hex || i == sumLen && c != ' ' {
			return false
		}
	}
	return true
}
