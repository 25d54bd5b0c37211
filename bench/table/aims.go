package main

import (
	"fmt"
	"strings"
)

// aim is a line of DESIGN section 10.
type aim struct {
	kind   kind
	ratio  float64
	allocs float64 // at most so many in ours; 0: not counted
}

type kind int

const (
	none    kind = iota // no aim, shown for itself
	atLeast             // as many times as fast as the peer
	atMost              // the peer's time times this
	lost                // messages that never arrive: none
)

// aims are found by the longest beginning of a benchmark's name.
var aims = map[string]aim{
	"Decode/":         {kind: atLeast, ratio: 4.5},
	"Encode/":         {kind: atLeast, ratio: 6.5, allocs: 1},
	"RoundTrip/agent": {kind: atMost, ratio: 0.5},
	"RoundTrip/both":  {kind: atMost, ratio: 0.5},
	"Pipelined/":      {kind: atLeast, ratio: 1.5},
	"Stream/":         {kind: atLeast, ratio: 6},
	"Receive/":        {kind: atLeast, ratio: 4},
	"Lost/":           {kind: lost},
	"Load/":           {kind: atMost, ratio: 3},
}

func aimOf(name string) (a aim) {
	long := 0
	for prefix, candidate := range aims {
		if strings.HasPrefix(name, prefix) && len(prefix) > long {
			a, long = candidate, len(prefix)
		}
	}
	return a
}

func (a aim) met(ratio, allocs float64) bool {
	if a.allocs > 0 && allocs > a.allocs {
		return false
	}
	if a.kind == atMost {
		return ratio <= a.ratio
	}
	return ratio >= a.ratio
}

func (a aim) String() string {
	switch a.kind {
	case atLeast:
		s := fmt.Sprintf("≥ %gx", a.ratio)
		if a.allocs > 0 {
			s += fmt.Sprintf(", %g alloc", a.allocs)
		}
		return s
	case atMost:
		return fmt.Sprintf("≤ %gx", a.ratio)
	case lost:
		return "none lost"
	default:
		return ""
	}
}
