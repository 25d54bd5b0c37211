//go:build !race

package acpkit_test

// The race detector makes sync.Pool forget at random, so allocations are
// counted without it; make check runs this test both ways.

import (
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
)

func TestEncodeAllocatesOnce(t *testing.T) {
	n := &acp.SessionNotification{SessionID: "s", Update: &acp.SessionUpdateAgentMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: "hello"}}}}
	if allocs := testing.AllocsPerRun(200, func() { _, _ = n.MarshalJSON() }); allocs > 1 {
		t.Errorf("%v allocations", allocs)
	}
	buf := make([]byte, 0, 1024)
	if allocs := testing.AllocsPerRun(200, func() { buf = n.AppendJSON(buf[:0]) }); allocs > 0 {
		t.Errorf("%v allocations into a buffer", allocs)
	}
}
