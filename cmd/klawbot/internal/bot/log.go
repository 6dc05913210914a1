package bot

import (
	"context"
	"io"
	"log/slog"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

// leveler is the level of the log as it is now.
type leveler func() slog.Level

// Level returns it.
func (l leveler) Level() slog.Level { return l() }

// NewLog writes to w what the configuration asks for, without secrets.
func NewLog(w io.Writer, l *config.Live, secrets *redact.Set) *slog.Logger {
	options := &slog.HandlerOptions{Level: leveler(func() slog.Level { return l.Config().Level() })}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if l.Config().Log.Format == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(secrets.Handler(handler))
}

// Quiet keeps all but errors from the terminal in which somebody talks, unless
// the configuration asks for debugging.
func Quiet(log *slog.Logger, l *config.Live) *slog.Logger {
	if l.Config().Level() <= slog.LevelDebug {
		return log
	}
	return slog.New(atLeast{log.Handler(), slog.LevelError})
}

// Warnings keeps all but warnings and errors from a terminal.
func Warnings(log *slog.Logger) *slog.Logger {
	return slog.New(atLeast{log.Handler(), slog.LevelWarn})
}

// atLeast drops what is below a level.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled reports whether the level is high enough.
func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// WithAttrs keeps the level.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup keeps the level.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
