package control

import (
	"context"
	"time"

	"klawbot/gateway/web/html"
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
	pattern: "/logs", name: "logs",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		chosen := q.HTTP.URL.Query().Get("level")
		lines, err := q.Desk.ListLog(q.HTTP.Context(), chosen)
		filter := html.Each([]string{"", "info", "warn", "error"}, func(level string) html.HTML {
			to, text := "/logs", q.t("level.all")
			if level != "" {
				to, text = "/logs?level="+level, q.t("level."+level)
			}
			return html.F(`<a class="button" href="%s"%s>%s</a> `, to, html.If(level == chosen, ` aria-current="true"`), text)
		})
		body := html.F(`<p class="empty">%s</p>`, q.t("logs.none"))
		if len(lines) > 0 {
			body = html.F(`<ol class="log">%s</ol>`, html.Each(lines, logLine))
		}
		return html.F(`<p class="filter">%s</p><section class="card">%s</section>`, filter, body), err
	},
}

func logLine(l LogLine) html.HTML {
	return html.F(`<li class="%s"><time datetime="%s">%s</time> <b>%s</b> <span>%s</span>%s</li>`, l.Level, l.At.Format(time.RFC3339),
		l.At.Format("01-02 15:04:05"), l.Level, l.Text, html.If(l.Rest != "", ` <span class="meta">%s</span>`, l.Rest))
}
