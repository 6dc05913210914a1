package bot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"klawbot/engine/health"
)

// ErrWaiting means that a command needs a running bot, and this host waits for another
// one that runs it.
var ErrWaiting = errors.New("this host waits; the bot runs on the other host. To move it: klawbot standby --now")

// Waiting is a host that waits for the one that runs the bot.
type Waiting struct {
	Data, Version string
	// Listen is the address of the health page; empty: none.
	Listen string
	State  func() health.Standby
	Log    *slog.Logger
}

// Serve answers klawbot status and serves the health page until stop is called. The
// caller makes sure that no bot runs on the data directory.
func (w Waiting) Serve() (stop func()) {
	began := time.Now()
	status := func() health.Status { return health.StatusOfWaiting(w.Version, w.State(), time.Since(began)) }
	pages := map[string]*http.ServeMux{}
	if w.Listen != "" {
		page := healthPage(w.Version, func(context.Context) (health.Status, error) { return status(), nil })
		pages[w.Listen] = http.NewServeMux()
		pages[w.Listen].Handle("GET /healthz", page)
		pages[w.Listen].Handle("GET /{$}", page)
	}
	closePages := openPages(pages, w.Log)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(Checked(Report{Status: status(), PID: os.Getpid()})) // who asked may be gone
	})
	mux.HandleFunc("/", func(out http.ResponseWriter, _ *http.Request) {
		http.Error(out, ErrWaiting.Error(), http.StatusServiceUnavailable)
	})
	closeSocket, err := serveSocket(w.Data, mux, w.Log)
	if err != nil {
		w.Log.Warn("klawbot status does not work here", "err", err)
		return closePages
	}
	return func() { closePages(); closeSocket() }
}
