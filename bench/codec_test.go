package bench

import (
	"encoding/json"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/acpkit/acpkit/generated/acp"
)

// codec is what our messages have.
type codec interface {
	UnmarshalJSON(data []byte) error
	MarshalJSON() ([]byte, error)
}

// types says what each message is on either side.
var types = map[string]struct {
	ours func() codec
	sdk  func() any
}{
	"chunk":   {func() codec { return new(acp.SessionNotification) }, func() any { return new(sdk.SessionNotification) }},
	"initreq": {func() codec { return new(acp.InitializeRequest) }, func() any { return new(sdk.InitializeRequest) }},
	"initres": {func() codec { return new(acp.InitializeResponse) }, func() any { return new(sdk.InitializeResponse) }},
	"diff20k": {func() codec { return new(acp.SessionNotification) }, func() any { return new(sdk.SessionNotification) }},
	"plan":    {func() codec { return new(acp.SessionNotification) }, func() any { return new(sdk.SessionNotification) }},
	"perm":    {func() codec { return new(acp.RequestPermissionRequest) }, func() any { return new(sdk.RequestPermissionRequest) }},
}

// Both sides through the entry that their connections use: ours is the
// generated method, the SDK's is encoding/json.
func BenchmarkDecode(b *testing.B) {
	for _, m := range messages {
		data, t := []byte(m.json), types[m.name]
		b.Run(m.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := t.ours().UnmarshalJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(m.name+"/sdk", func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := json.Unmarshal(data, t.sdk()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, m := range messages {
		data, t := []byte(m.json), types[m.name]
		ours, theirs := t.ours(), t.sdk()
		if err := ours.UnmarshalJSON(data); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(data, theirs); err != nil {
			b.Fatal(err)
		}
		b.Run(m.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ours.MarshalJSON(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(m.name+"/sdk", func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := json.Marshal(theirs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMessages: both sides read each message and write all of it again, so
// neither benchmark is fast by doing less.
func TestMessages(t *testing.T) {
	sizes := map[string]int{"chunk": 224, "initreq": 170, "initres": 357, "perm": 555}
	for _, m := range messages {
		if want := sizes[m.name]; want != 0 && len(m.json) != want {
			t.Errorf("%s has %d bytes, want %d", m.name, len(m.json), want)
		}
		ours, theirs := types[m.name].ours(), types[m.name].sdk()
		for side, v := range map[string]any{"ours": ours, "sdk": theirs} {
			if err := json.Unmarshal([]byte(m.json), v); err != nil {
				t.Fatal(m.name, side, err)
			}
			out, err := json.Marshal(v)
			if err != nil {
				t.Fatal(m.name, side, err)
			}
			var in, back any
			if json.Unmarshal([]byte(m.json), &in) != nil || json.Unmarshal(out, &back) != nil || !within(in, back) {
				t.Errorf("%s, %s: %s became %.400s", m.name, side, m.json[:min(400, len(m.json))], out)
			}
		}
	}
}

// within reports whether all of a stands in b; b may have more members. A
// false that is left out counts as written.
func within(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for k, v := range a {
			if !within(v, b[k]) {
				return false
			}
		}
		return ok
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !within(a[i], b[i]) {
				return false
			}
		}
		return true
	case bool:
		return a == b || !a && b == nil
	default:
		return a == b
	}
}
