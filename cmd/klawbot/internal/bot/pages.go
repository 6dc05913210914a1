package bot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"klawbot/engine"
	"klawbot/engine/health"
)

// wellness is what the health endpoint answers. It tells nothing about chats
// or people.
type wellness struct {
	OK      bool     `json:"ok"`
	Faults  []string `json:"faults,omitempty"`
	Version string   `json:"version"`
	// Standby is the state of the standby, on both hosts.
	Standby string `json:"standby,omitempty"`
}

// pages are the handlers for the addresses that the configuration opens: health
// and metrics, which may share one.
func (p *Bot) pages(e *engine.Engine) map[string]*http.ServeMux {
	c := p.Live.Config()
	all := map[string]*http.ServeMux{}
	at := func(address string) *http.ServeMux {
		if all[address] == nil {
			all[address] = http.NewServeMux()
		}
		return all[address]
	}
	if address := c.Health.Listen; address != "" {
		at(address).Handle("GET /healthz", healthPage(p.Version, e.Status))
		at(address).Handle("GET /{$}", healthPage(p.Version, e.Status))
	}
	if address := c.Metrics.Listen; address != "" {
		at(address).Handle("GET /metrics", metricsPage(e, p.Log))
	}
	return all
}

func healthPage(version string, status func(context.Context) (health.Status, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := status(r.Context())
		answer := wellness{OK: s.Healthy, Faults: s.Faults, Version: version}
		if s.Standby != nil {
			answer.Standby = s.Standby.Text(time.Now())
		}
		if err != nil {
			answer = wellness{Faults: []string{"the status could not be read"}, Version: version}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !answer.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(answer) // who asked may be gone
	})
}

func metricsPage(e *engine.Engine, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if err := e.WriteMetrics(r.Context(), w); err != nil && r.Context().Err() == nil {
			log.Warn("metrics not written", "err", err)
		}
	})
}

// openPages serves the pages until the returned function is called. An address
// that cannot be opened is one warning; the bot runs.
func openPages(all map[string]*http.ServeMux, log *slog.Logger) (closeAll func()) {
	var stops []func()
	for address, mux := range all {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			log.Warn("health or metrics are not served; choose another health.listen or metrics.listen", "listen", address, "err", err)
			continue
		}
		server := &http.Server{
			Handler: mux, ReadHeaderTimeout: StatusTimeout, ReadTimeout: StatusTimeout, IdleTimeout: time.Minute,
			MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		}
		stops = append(stops, serveOn(ln, server, func(err error) {
			log.Error("health or metrics ended", "listen", address, "err", err)
		}))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// serveOn serves until the returned function is called. failed is told when it ends
// before.
func serveOn(ln net.Listener, server *http.Server, failed func(error)) (stop func()) {
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	return func() {
		_ = server.Close() // the process ends
		<-served
	}
}
