// Package scripted is a model that plays a file: JSON lines, each of which is one reply of a provider (schema/script/v1).
// It looks at no request and no key, and needs no network.
package scripted

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/script"
)

// Script is a loaded file. It does not change, so that all sessions share it.
type Script struct {
	name    string
	replies []script.Reply
}

// Load reads a script file.
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads a script; errors name it and the line. Blank lines are skipped.
func Read(name string, r io.Reader) (*Script, error) {
	s := &Script{name: name}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("script %s: %w", name, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			reply, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("script %s, line %d: %w", name, n, err)
			}
			s.replies = append(s.replies, reply)
		}
		if err == io.EOF {
			return s, nil
		}
	}
}

// New starts the script at its first line; each session plays its own.
func (s *Script) New() model.Model { return &player{script: s} }

func parse(line []byte) (script.Reply, error) {
	var r script.Reply
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if err := known(line, &r); err != nil {
		return r, err
	}
	var raw struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(line, &raw); err != nil {
		return r, err
	}
	for i := range raw.Tools {
		if err := known(raw.Tools[i], &r.Tools[i]); err != nil {
			return r, fmt.Errorf("tool %d: %w", i+1, err)
		}
	}
	return r, check(&r)
}

// known makes an error of a member that is misspelt or that no provider can send. The codec skips such a member, so it does
// not come out again.
func known(line []byte, v json.Marshaler) error {
	again, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	var in, out map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(line, &in), json.Unmarshal(again, &out)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if _, kept := out[name]; !kept {
			return fmt.Errorf("unknown member %q", name)
		}
	}
	return nil
}

// check holds what the schema can only say in words.
func check(r *script.Reply) error {
	output := r.Think != nil || r.Text != nil || r.Tools != nil || r.Finish != nil || r.Usage != nil
	switch {
	case r.Status == nil && (r.Body != nil || r.Headers != nil):
		return errors.New("body and headers need status")
	case r.Status != nil && (*r.Status < 400 || *r.Status > 599):
		return fmt.Errorf("status %d is not between 400 and 599", *r.Status)
	case r.Status != nil && (output || r.Cut || r.Hang):
		return errors.New("status excludes output, cut and hang: the provider answers it instead")
	case r.Cut && r.Hang:
		return errors.New("cut and hang exclude each other")
	}
	return nil
}
