// Package wire reads what the program in interop/tee recorded and judges it: each line by the published schema, and the
// whole by the rules of order that hold for any traffic. It knows no scenario, and it reads lines by itself: what judges
// rpc, agent and host must not share their bugs.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The two ends of a connection.
const (
	Client = "client"
	Agent  = "agent"
)

// Line is one recorded line.
type Line struct {
	From string          `json:"from"` // Client or Agent
	Msg  json.RawMessage `json:"msg"`  // as it crossed; nil when it is not JSON in UTF-8
	Raw  []byte          `json:"raw"`  // what stood there instead
	Cut  bool            `json:"cut"`  // the stream ended before the newline
}

// Recording is what crossed one connection, in order.
type Recording struct {
	File  string
	Lines []Line
	Exit  *int // the agent's exit code; nil when the tee was killed, or still runs
}

// Read reads one recording.
func Read(file string) (*Recording, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Recording{File: filepath.Base(file)}
	n := 0
	for text := range bytes.Lines(data) {
		n++
		var entry struct {
			Line
			Exit *int `json:"exit"`
		}
		if err := json.Unmarshal(text, &entry); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if entry.Exit != nil {
			r.Exit = entry.Exit
			continue
		}
		r.Lines = append(r.Lines, entry.Line)
	}
	return r, nil
}

// ReadDir reads all recordings in a folder, in the order in which the agents were started.
func ReadDir(dir string) ([]*Recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil {
		return nil, err
	}
	var all []*Recording
	for _, f := range files {
		r, err := Read(f)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
