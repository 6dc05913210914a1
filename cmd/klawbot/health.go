package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/engine"
)

// wellBeing is what the health endpoint answers. It tells nothing about chats
// or people.
type wellBeing struct {
	OK      bool     `json:"ok"`
	Faults  []string `json:"faults,omitempty"`
	Version string   `json:"version"`
}

func (a *app) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Say whether the running bot is well, by the exit code too",
		Long:  "Exit code 0: well; 1: ill, with the reasons; 3: not running. For Docker's health check and the like.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.foldersAnyway()
			if err != nil {
				return err
			}
			r, err := askStatus(cmd.Context(), f.Data)
			if err != nil {
				return err
			}
			if !r.Healthy {
				return errors.New("the bot is ill: " + strings.Join(r.Faults, "; "))
			}
			_, err = fmt.Fprintln(a.stdout, "ok")
			return err
		},
	}
}

// pages are the handlers for the addresses that the configuration opens: health
// and metrics, which may share one.
func pages(c *config.Config, e *engine.Engine, log *slog.Logger) map[string]*http.ServeMux {
	all := map[string]*http.ServeMux{}
	at := func(address string) *http.ServeMux {
		if all[address] == nil {
			all[address] = http.NewServeMux()
		}
		return all[address]
	}
	if address := c.Health.Listen; address != "" {
		at(address).Handle("GET /healthz", healthPage(e))
		at(address).Handle("GET /{$}", healthPage(e))
	}
	if address := c.Metrics.Listen; address != "" {
		at(address).Handle("GET /metrics", metricsPage(e, log))
	}
	return all
}

func healthPage(e *engine.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := e.Status(r.Context())
		answer := wellBeing{s.Healthy, s.Faults, version}
		if err != nil {
			answer = wellBeing{Faults: []string{"the status could not be read"}, Version: version}
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
	var servers []*http.Server
	var serving sync.WaitGroup
	for address, mux := range all {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			log.Warn("health or metrics are not served", "listen", address, "err", err)
			continue
		}
		server := &http.Server{
			Handler: mux, ReadHeaderTimeout: statusTimeout, ReadTimeout: statusTimeout, IdleTimeout: time.Minute,
			MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		}
		servers = append(servers, server)
		serving.Go(func() {
			if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				log.Error("health or metrics ended", "listen", address, "err", err)
			}
		})
	}
	return func() {
		for _, server := range servers {
			_ = server.Close() // nobody is left to be told
		}
		serving.Wait()
	}
}
