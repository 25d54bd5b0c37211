package model

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter is the shortest time that the provider wants to be left alone, when it says so.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(e.Header("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	value := e.Header("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second)), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0), true
	}
	return 0, false
}
