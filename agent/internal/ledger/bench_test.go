package ledger

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	l, err := Files(b.TempDir(), options()).Create("s1")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	recs := []Record{rec("message", `{"text":"`+strings.Repeat("x", 89)+`"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite is the system call alone, with a line as long as that of BenchmarkAppend.
func BenchmarkWrite(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 158)
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSync(b *testing.B) {
	l, err := Files(b.TempDir(), options()).Create("s1")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if err := l.Append(numbered(1)); err != nil {
			b.Fatal(err)
		}
		if err := l.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead: 100,000 records of 100 bytes of data, beside the same file through io.Copy.
func BenchmarkRead(b *testing.B) {
	s := Files(b.TempDir(), options())
	l, err := s.Create("s1")
	if err != nil {
		b.Fatal(err)
	}
	recs := make([]Record, 100)
	for i := range recs {
		recs[i] = rec("message", fmt.Sprintf(`{"text":"%s%04d"}`, strings.Repeat("x", 85), i))
	}
	for range 1000 {
		if err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
	info := l.Info()
	all := func(b *testing.B, err error, n int) {
		if err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(info.Bytes)
		for b.Loop() {
			f, err := os.Open(filepath.Join(info.Folder, "log"))
			if err != nil {
				b.Fatal(err)
			}
			// Not io.Discard's own ReadFrom with its small buffer, and no splice.
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, bufferSize))
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("held", func(b *testing.B) {
		b.SetBytes(info.Bytes)
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range l.Read(1) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			all(b, nil, n)
		}
	})
	b.Run("not held", func(b *testing.B) {
		b.SetBytes(info.Bytes)
		for b.Loop() {
			n := 0
			for _, err := range s.Read("s1", 1) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			all(b, nil, n)
		}
	})
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		b.SetBytes(info.Bytes)
		for b.Loop() {
			l, err := s.Open("s1", nil)
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
}

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	s := Files(dir, options())
	text, err := appendLines(appendHead(nil), 0, []Record{rec("meta", `{"cwd":"/home/someone/project","title":"A title of usual length"}`), rec("prompt", "")}, options().withDefaults().Now)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 { // as Create leaves them, without 30,000 fsyncs
		folder := filepath.Join(dir, "sessions", fmt.Sprintf("550e8400-e29b-41d4-a716-4466554%05d", i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, logFile), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	run := func(b *testing.B, prepare func()) {
		for b.Loop() {
			prepare()
			list, err := s.List()
			if err != nil || len(list) != 10_000 {
				b.Fatal(len(list), err)
			}
		}
	}
	b.Run("cold", func(b *testing.B) { run(b, func() { os.Remove(filepath.Join(dir, indexFile)) }) })
	b.Run("warm", func(b *testing.B) { run(b, func() {}) })
	b.Run("readdir and stat", func(b *testing.B) {
		for b.Loop() {
			entries, err := os.ReadDir(filepath.Join(dir, "sessions"))
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				if _, err := os.Lstat(filepath.Join(dir, "sessions", e.Name(), logFile)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
