package main

import (
	"io"
	"log/slog"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

// leveler is the level of the log as it is now.
type leveler func() slog.Level

// Level returns it.
func (l leveler) Level() slog.Level { return l() }

// newLog writes to w what the configuration asks for, without secrets.
func newLog(w io.Writer, l *config.Live, secrets *redact.Set) *slog.Logger {
	options := &slog.HandlerOptions{Level: leveler(func() slog.Level { return l.Config().Level() })}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if l.Config().Log.Format == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(secrets.Handler(handler))
}
