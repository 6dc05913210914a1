package bot

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"klawbot/gateway/web/control"
	"klawbot/internal/clip"
)

const (
	// recentLines is how many records of the log the page shows, recentLine how long one
	// may be, in characters.
	recentLines = 500
	recentLine  = 2000
)

// recent keeps the newest records of the log for the web page.
type recent struct {
	level func() slog.Level

	mu    sync.Mutex
	lines []control.LogLine // guarded by mu; a ring
	next  int               // guarded by mu; where the next one goes
}

// all are the records, the newest first.
func (r *recent) all() []control.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]control.LogLine, 0, len(r.lines))
	for i := range r.lines {
		all = append(all, r.lines[(r.next-1-i+2*len(r.lines))%len(r.lines)])
	}
	return all
}

func (r *recent) add(l control.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < recentLines {
		r.lines = append(r.lines, l)
		r.next = len(r.lines) % recentLines
		return
	}
	r.lines[r.next] = l
	r.next = (r.next + 1) % recentLines
}

// handler keeps records and hands them on.
func (r *recent) handler(next slog.Handler) slog.Handler {
	return keepingHandler{recent: r, next: next}
}

type keepingHandler struct {
	*recent
	next slog.Handler
	// group and attrs come before what a record brings.
	group, attrs string
}

func (k keepingHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= k.level() || k.next.Enabled(ctx, l)
}

func (k keepingHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= k.level() {
		rest := k.attrs
		r.Attrs(func(a slog.Attr) bool {
			rest += written(k.group, a)
			return true
		})
		k.add(control.LogLine{At: r.Time, Level: r.Level.String(), Text: clip.Runes(r.Message, recentLine), Rest: clip.Runes(strings.TrimSpace(rest), recentLine)})
	}
	if !k.next.Enabled(ctx, r.Level) {
		return nil
	}
	return k.next.Handle(ctx, r)
}

func (k keepingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		k.attrs += written(k.group, a)
	}
	k.next = k.next.WithAttrs(attrs)
	return k
}

func (k keepingHandler) WithGroup(name string) slog.Handler {
	k.group += name + "."
	k.next = k.next.WithGroup(name)
	return k
}

// written is an attribute as text.
func written(group string, a slog.Attr) string {
	return " " + group + a.Key + "=" + a.Value.Resolve().String()
}
