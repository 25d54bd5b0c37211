package host

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
)

// diary is a slog.Handler that keeps the last warning beside passing all on, so
// that an error about a silent agent can say what it sent that was no message.
type diary struct {
	slog.Handler
	entry *atomic.Pointer[string]
}

func newDiary(next slog.Handler) *diary { return &diary{next, new(atomic.Pointer[string])} }

func (d *diary) last() string {
	if s := d.entry.Load(); s != nil {
		return *s
	}
	return ""
}

func (d *diary) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || d.Handler.Enabled(ctx, level)
}

func (d *diary) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		var b strings.Builder
		text := slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "stack") {
				return slog.Attr{}
			}
			return a
		}})
		if text.Handle(ctx, r) == nil {
			s := strings.TrimSpace(b.String())
			d.entry.Store(&s)
		}
	}
	if !d.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return d.Handler.Handle(ctx, r)
}
