// Package metrics counts what the engine does, and writes it for Prometheus.
package metrics

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"klawbot/engine/health"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
)

// Meters are counters and histograms. Names and labels of model calls are those
// of OpenTelemetry's conventions for generative AI, in Prometheus' spelling;
// the others begin with klawbot_. Labels never hold ids of chats or people.
type Meters struct{ set *metrics.Set }

// New returns Meters that have counted nothing.
func New() *Meters { return &Meters{metrics.NewSet()} }

// The bounds of the histograms are those of the conventions.
var (
	tokenBounds  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576}
	secondBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// Turn counts a turn that ended, by its state and how long it took.
func (m *Meters) Turn(origin string, state store.TurnState, took time.Duration) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`klawbot_turns_total{origin=%q,state=%q}`, origin, state)).Inc()
	m.set.GetOrCreatePrometheusHistogramExt("klawbot_turn_duration_seconds", secondBounds).Update(took.Seconds())
}

// Delivery counts an attempt to deliver, by what became of the part.
func (m *Meters) Delivery(o store.Out) {
	outcome := string(o.State)
	if o.State == store.OutboxNew {
		outcome = "retry"
	}
	m.set.GetOrCreateCounter(fmt.Sprintf(`klawbot_deliveries_total{channel=%q,outcome=%q}`, o.Address.Chat.Channel, outcome)).Inc()
}

// Updates counts updates that were stored.
func (m *Meters) Updates(channel string, n int) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`klawbot_updates_total{channel=%q}`, channel)).Add(n)
}

// Measure returns a provider that counts its calls.
func (m *Meters) Measure(name string, p llm.Provider) llm.Provider { return measured{p, m, name} }

type measured struct {
	llm.Provider
	meters *Meters
	name   string
}

// Stream asks the provider and counts tokens and times.
func (p measured) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	labels := fmt.Sprintf(`gen_ai_operation_name="chat",gen_ai_provider_name=%q,gen_ai_request_model=%q`, p.name, r.Model)
	started := time.Now()
	heard := false
	result, err := p.Provider.Stream(ctx, r, func(ev llm.Event) {
		if !heard && r.Stream {
			heard = true
			p.meters.seconds("gen_ai_client_operation_time_to_first_chunk_seconds", labels, started)
		}
		sink(ev)
	})
	p.meters.tokens(labels, "input", result.Usage.Input)
	p.meters.tokens(labels, "output", result.Usage.Output)
	if err != nil {
		labels += fmt.Sprintf(`,error_type=%q`, model.ErrorType(err))
	}
	p.meters.seconds("gen_ai_client_operation_duration_seconds", labels, started)
	return result, err
}

func (m *Meters) seconds(name, labels string, since time.Time) {
	m.set.GetOrCreatePrometheusHistogramExt(name+"{"+labels+"}", secondBounds).UpdateDuration(since)
}

func (m *Meters) tokens(labels, kind string, n int) {
	if n > 0 {
		name := fmt.Sprintf(`gen_ai_client_token_usage{%s,gen_ai_token_type=%q}`, labels, kind)
		m.set.GetOrCreatePrometheusHistogramExt(name, tokenBounds).Update(float64(n))
	}
}

// Write writes the metrics, and what the status tells, in Prometheus' text form.
func (m *Meters) Write(w io.Writer, s health.Status) {
	m.set.WritePrometheus(w)
	now := time.Now()
	for _, h := range s.Channels {
		metrics.WriteGaugeFloat64(w, fmt.Sprintf(`klawbot_channel_ok{channel=%q}`, h.Channel), truth(h.State == "ok"))
		if !h.LastPoll.IsZero() {
			metrics.WriteGaugeFloat64(w, fmt.Sprintf(`klawbot_last_poll_age_seconds{channel=%q}`, h.Channel), now.Sub(h.LastPoll).Seconds())
		}
		metrics.WriteCounterFloat64(w, fmt.Sprintf(`klawbot_strangers_total{channel=%q}`, h.Channel), float64(h.Strangers))
	}
	metrics.WriteGaugeFloat64(w, "klawbot_healthy", truth(s.Healthy))
	metrics.WriteGaugeFloat64(w, "klawbot_turns_running", float64(s.Running))
	metrics.WriteGaugeFloat64(w, "klawbot_inbox_waiting", float64(s.Inbox.Waiting))
	metrics.WriteGaugeFloat64(w, "klawbot_inbox_oldest_seconds", age(s.Inbox.Oldest, now))
	metrics.WriteGaugeFloat64(w, "klawbot_outbox_waiting", float64(s.Outbox.Waiting))
	metrics.WriteGaugeFloat64(w, "klawbot_outbox_oldest_seconds", age(s.Outbox.Oldest, now))
	metrics.WriteGaugeFloat64(w, "klawbot_database_ok", truth(s.Database.State == string(condition.OK)))
	metrics.WriteGaugeFloat64(w, "klawbot_database_bytes", float64(s.Database.Bytes))
	metrics.WriteGaugeFloat64(w, "klawbot_backup_age_seconds", age(s.Backup.At, now))
	for _, p := range s.Disk.Parts {
		metrics.WriteGaugeFloat64(w, fmt.Sprintf(`klawbot_disk_bytes{part=%q}`, p.Part), float64(p.Bytes))
	}
	metrics.WriteGaugeFloat64(w, "klawbot_disk_free_bytes", float64(s.Disk.Free))
	if b := s.Standby; b != nil {
		metrics.WriteGaugeFloat64(w, "klawbot_standby_epoch", float64(b.Epoch))
		metrics.WriteGaugeFloat64(w, "klawbot_standby_complete", truth(b.Complete))
		metrics.WriteGaugeFloat64(w, "klawbot_standby_lease_age_seconds", age(b.Renewed, now))
		metrics.WriteGaugeFloat64(w, `klawbot_standby_replica_age_seconds{part="database"}`, age(b.Database, now))
		metrics.WriteGaugeFloat64(w, `klawbot_standby_replica_age_seconds{part="files"}`, age(b.Files, now))
	}
	metrics.WriteProcessMetrics(w)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// age is 0 for the zero time.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(now.Sub(t).Seconds(), 0)
}
