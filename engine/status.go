package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/mcp"
	"klawbot/tools/self"
)

// Status is how the bot is doing. Its JSON form is stable.
type Status struct {
	Version string `json:"version"`
	// Healthy is false when Faults says why somebody should look.
	Healthy  bool             `json:"healthy"`
	Faults   []string         `json:"faults,omitempty"`
	Uptime   time.Duration    `json:"uptime_ns"`
	Channels []gateway.Health `json:"channels,omitempty"`
	Model    string           `json:"model"`
	// Running counts the turns at this moment.
	Running  int        `json:"running"`
	Inbox    Queue      `json:"inbox"`
	Outbox   Queue      `json:"outbox"`
	Usage    UsageToday `json:"usage_today,omitzero"`
	Database Database   `json:"database"`
	Backup   Backup     `json:"backup"`
}

// Queue is how much waits, and since when.
type Queue struct {
	Waiting int       `json:"waiting"`
	Oldest  time.Time `json:"oldest,omitzero"`
}

// Database is how the database fares.
type Database struct {
	// State is "ok", "full", "read-only", "failing" or "damaged".
	State string `json:"state"`
	// Fault is the last error in words, empty when all is well.
	Fault string `json:"fault,omitempty"`
	// Since is when it began, zero when all is well.
	Since time.Time `json:"since,omitzero"`
	// Bytes is the size of the file and its write-ahead log.
	Bytes int64 `json:"bytes"`
}

// Status reports how the bot is doing.
func (e *Engine) Status(ctx context.Context) (Status, error) {
	name, _ := e.settings().Models.For("")
	s := Status{
		Version: e.config.Version, Uptime: time.Since(e.started), Channels: e.gateway.Health(), Model: name,
		Backup: e.backups.report(),
	}
	e.mu.Lock()
	for _, l := range e.lanes {
		if l.stop != nil {
			s.Running++
		}
	}
	e.mu.Unlock()
	if err := s.read(ctx, e.store, e.config.Dir); err != nil {
		return s, err
	}
	var err error
	if s.Usage, err = e.usageToday(ctx); err != nil && s.Database.State == string(store.StateOK) {
		return s, err
	}
	s.Database.Fault, s.Backup.Fault = e.redact.Text(s.Database.Fault), e.redact.Text(s.Backup.Fault)
	for i := range s.Channels {
		s.Channels[i].Fault = e.redact.Text(s.Channels[i].Fault)
	}
	s.Faults = s.faults(time.Now())
	s.Healthy = len(s.Faults) == 0
	return s, nil
}

// stats are the same for the tool self_info.
func (e *Engine) stats(ctx context.Context) ([]self.Entry, error) {
	s, err := e.Status(ctx)
	if err != nil {
		return nil, err
	}
	remembered, err := e.memory.Stats(ctx)
	if err != nil {
		return nil, err
	}
	return s.entries(remembered, e.servers.Statuses(), e.settings().Zone()), nil
}

// entries are a status as the tool self_info shows it, with what the memory and the
// MCP servers say.
func (s Status) entries(remembered string, servers []mcp.Status, zone *time.Location) []self.Entry {
	backup := "none"
	if !s.Backup.At.IsZero() {
		backup = s.Backup.At.In(zone).Format("2006-01-02 15:04")
	}
	entries := []self.Entry{
		{Key: "memory", Value: remembered},
		{Key: "version", Value: s.Version},
		{Key: "running for", Value: s.Uptime.Round(time.Second).String()},
		{Key: "turns running", Value: strconv.Itoa(s.Running)},
		{Key: "messages waiting", Value: strconv.Itoa(s.Inbox.Waiting)},
		{Key: "replies waiting", Value: strconv.Itoa(s.Outbox.Waiting)},
		{Key: "database", Value: s.Database.State + ", " + strconv.FormatInt(s.Database.Bytes, 10) + " bytes"},
		{Key: "last backup", Value: backup},
		{Key: "usage", Value: s.Usage.Text(tools.English)},
	}
	for _, h := range s.Channels {
		entries = append(entries, self.Entry{Key: "channel " + h.Channel, Value: string(h.State)})
	}
	for _, f := range servers {
		finding := ServerFinding(f)
		entries = append(entries, self.Entry{Key: finding.Name, Value: finding.Text})
	}
	return entries
}

// StatusOf reports what the data folder says of a bot that does not run. A
// database that is damaged is part of the status; one that is not there is an
// error.
func StatusOf(ctx context.Context, c Base) (Status, error) {
	s := Status{Version: c.Version}
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	switch {
	case store.Damaged(err):
		s.Database = Database{State: string(store.StateDamaged), Fault: err.Error()}
	case err != nil:
		return s, err
	default:
		defer func() { _ = st.Close() }() // it was only read
		if err := s.read(ctx, st, c.Dir); err != nil {
			return s, err
		}
	}
	s.Backup, err = lastBackup(c.Dir)
	return s, err
}

// read fills in what the store knows. A database that cannot be read is no
// error: the status is there to say so.
func (s *Status) read(ctx context.Context, st *store.Store, dir string) error {
	var err error
	s.Inbox, s.Outbox, err = queues(ctx, st)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := st.Condition()
	if err != nil && c.State == store.StateOK {
		c = store.Condition{State: store.StateFailing, Fault: err.Error()}
	}
	s.Database = Database{State: string(c.State), Fault: c.Fault, Since: c.Since}
	for _, name := range []string{"klawbot.db", "klawbot.db-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil { // the size is for people only
			s.Database.Bytes += info.Size()
		}
	}
	return nil
}

func queues(ctx context.Context, st *store.Store) (in, out Queue, err error) {
	err = st.Read(ctx, func(tx *store.Tx) error {
		inbox, err := tx.Inbox().InboxDepth()
		if err != nil {
			return err
		}
		outbox, err := tx.Outbox().OutboxDepth()
		in, out = Queue(inbox), Queue(outbox)
		return err
	})
	return in, out, err
}

// statusText is the answer to /status.
func (e *Engine) statusText(ctx context.Context, m command.Message) (string, error) {
	s, err := e.Status(ctx)
	if err != nil {
		return "", err
	}
	model, since := s.Model, "-"
	if session, err := e.session(ctx, m.Home); err == nil {
		model, _ = e.settings().Models.For(session.Model)
		since = session.StartedAt.In(e.settings().Zone()).Format("2006-01-02 15:04")
	}
	if model == "" {
		model = "-"
	}
	// The row of this very command still waits.
	waiting := max(s.Inbox.Waiting-1, 0)
	text := e.say(locale.Status, m.Address, model, since, e.span(s.Uptime), waiting, s.Outbox.Waiting)
	if waiting > 0 {
		text += " (" + e.say(locale.Oldest, e.span(time.Since(s.Inbox.Oldest))) + ")"
	}
	return text + "\n" + s.Usage.Text(e.settings().Language) + e.channelLines(s.Channels) + e.storageLines(s), nil
}

func (e *Engine) channelLines(all []gateway.Health) string {
	var text strings.Builder
	for _, h := range all {
		fmt.Fprintf(&text, "\n%s: %s", h.Channel, h.State)
		if !h.LastPoll.IsZero() {
			text.WriteString(", " + e.say(locale.Polled, e.span(time.Since(h.LastPoll))))
		}
		if h.Fault != "" {
			text.WriteString(" (" + h.Fault + ")")
		}
	}
	return text.String()
}

// storageLines say how the database and its backups fare. Faults hold paths, so
// they are for the owner at the command line.
func (e *Engine) storageLines(s Status) string {
	backup := "-"
	if !s.Backup.At.IsZero() {
		backup = s.Backup.At.In(e.settings().Zone()).Format("2006-01-02 15:04")
	}
	return "\n" + e.say(locale.Storage, s.Database.State, backup)
}

// UsageToday is what the models took today. The names of its fields follow the
// attributes gen_ai.usage.* of OpenTelemetry.
type UsageToday struct {
	// Day is in the bot's time zone, "2006-01-02".
	Day   string `json:"day"`
	Calls int    `json:"calls"`
	// InputTokens and OutputTokens are what providers said. The cached are a
	// part of the input.
	InputTokens          int `json:"input_tokens"`
	OutputTokens         int `json:"output_tokens"`
	CacheReadInputTokens int `json:"cache_read_input_tokens"`
	// EstimatedTokens are our guess for what providers did not say.
	EstimatedTokens int `json:"estimated_tokens"`
	// CostUSD is the cost of the calls that have prices; UnpricedCalls counts
	// the others.
	CostUSD       float64 `json:"cost_usd"`
	UnpricedCalls int     `json:"unpriced_calls"`
}

// usageToday is the usage for the status.
func (e *Engine) usageToday(ctx context.Context) (UsageToday, error) {
	sum, err := e.models.SpentToday(ctx)
	if err != nil && ctx.Err() != nil {
		return UsageToday{}, errors.Join(err, ctx.Err())
	}
	return UsageToday{
		Day: e.settings().Today(), Calls: sum.Calls, InputTokens: sum.Input, OutputTokens: sum.Output, CacheReadInputTokens: sum.Cached,
		EstimatedTokens: sum.Estimated, CostUSD: float64(sum.Cost) / store.Dollar, UnpricedCalls: sum.Unpriced,
	}, nil
}

// Text is the usage as a line for people.
func (u UsageToday) Text(language string) string {
	text := locale.Say(language, locale.Usage, u.Calls, u.InputTokens, u.OutputTokens)
	if u.EstimatedTokens > 0 {
		text += locale.Say(language, locale.UsageEstimated, u.EstimatedTokens)
	}
	switch {
	case u.Calls == 0:
	case u.UnpricedCalls == 0:
		text += ", " + locale.Dollars(u.CostUSD)
	case u.UnpricedCalls < u.Calls:
		text += locale.Say(language, locale.UsagePartly, locale.Dollars(u.CostUSD))
	}
	return text
}
