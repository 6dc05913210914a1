package control

import (
	"context"
	"time"
)

// LogLine is a record of the log, without secrets.
type LogLine struct {
	At time.Time
	// Level is "DEBUG", "INFO", "WARN" or "ERROR".
	Level, Text string
	// Rest are its attributes, "key=value".
	Rest string
}

// LogsDesk reads the log.
type LogsDesk interface {
	// ListLog returns the newest records of a level or above, the newest first.
	ListLog(ctx context.Context, level string) ([]LogLine, error)
}

var logsPage = control{
	pattern: "/logs", file: "logs",
	show: func(q *Request) (any, error) {
		level := q.HTTP.URL.Query().Get("level")
		lines, err := q.Desk.ListLog(q.HTTP.Context(), level)
		return logsView{level, lines}, err
	},
}

type logsView struct {
	Level string
	Lines []LogLine
}

// Levels are the levels that the page can show.
func (logsView) Levels() []string { return []string{"", "info", "warn", "error"} }
