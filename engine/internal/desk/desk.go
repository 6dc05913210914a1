// Package desk is the engine's side of the web page, what its pages read and do: the store, the settings, the
// schedules, the memory and the approvals of a running bot, in the plain structs of
// gateway/web. Each act is the one that a command in a chat or a terminal does. It sends
// nothing and keeps nothing of its own.
package desk

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/stranger"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/web"
	"klawbot/gateway/web/control"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/job"
	"klawbot/tools/self"
)

// Around is what lies around the engine. All of it is required by the page.
type Around struct {
	// Allowed are the chats on the allow list. Allow and Deny change it, at once and for
	// good; Fixed says why it cannot be changed, nil when it can.
	Allowed     func() []gateway.ChatID
	Allow, Deny func(gateway.ChatID) error
	Fixed       func() error
	// Marks say how the parts of the bot are. They may take a while.
	Marks func(context.Context) []health.Finding
	// Log returns the newest records of the log, the newest first.
	Log func() []control.LogLine
}

// Config is what New needs. All of it is required, but Configuration.
type Config struct {
	Chat      *Chat
	Status    func(context.Context) (health.Status, error)
	Schedules *schedule.Editor
	Memory    *recall.Memory
	Executor  *tools.Executor
	Strangers *stranger.Strangers
	// Configuration is what the tool config changes; nil for none.
	Configuration self.Configuration
	// Reach asks a model's server whether it knows the model.
	Reach  func(context.Context, settings.Model) error
	Redact *redact.Set
	Around Around
	Logger *slog.Logger
}

var _ web.Desk = (*Desk)(nil)

// Desk is the engine's side of the page.
type Desk struct {
	*Chat
	Config
	approvals approval.Record
	marks     later[[]health.Finding]
	reached   later[map[string]string]
}

// New returns a Desk.
func New(c Config) *Desk {
	d := &Desk{Chat: c.Chat, Config: c, approvals: approval.Record{Store: c.Chat.Store}}
	d.marks.get = c.Around.Marks
	d.reached.get = func(ctx context.Context) map[string]string { return reach(ctx, d) }
	return d
}

// owner is the caller of what the page does. Like a command in a terminal it belongs to
// no chat and may see and change all.
func owner() tools.Call { return tools.Call{Origin: tools.OriginPerson, Owner: true} }

// in is a time in the zone of the bot; the zero time stays what it is.
func (d *Desk) in(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(d.Zone())
}

// said is a refusal in the words for people, or the error as it is.
func said(err error) error {
	refused, ok := errors.AsType[*tools.Refusal](err)
	switch {
	case ok && refused.Kind == tools.NotFound, errors.Is(err, store.ErrNotFound):
		return control.ErrNotFound
	case ok:
		return control.Say(refused.Text)
	}
	return err
}

// Overview says how the bot is.
func (d *Desk) Overview(ctx context.Context) (o control.Overview, err error) {
	s, err := d.Status(ctx)
	if err != nil {
		return o, err
	}
	o = control.Overview{
		Version: s.Version, Uptime: s.Uptime, Faults: s.Faults, Model: s.Model,
		Calls: s.Usage.Calls, Tokens: s.Usage.InputTokens + s.Usage.OutputTokens + s.Usage.EstimatedTokens,
		CostUSD: s.Usage.CostUSD, Unpriced: s.Usage.UnpricedCalls, BudgetUSD: d.Settings().Models.Budget.PerDayUSD,
		Queues:   control.Queues{Running: s.Running, Inbox: s.Inbox.Waiting, Outbox: s.Outbox.Waiting, Waiting: d.in(s.Inbox.Oldest)},
		BackupAt: d.in(s.Backup.At), BackupFault: s.Backup.Fault, Database: s.Database.State, DatabaseBytes: s.Database.Bytes,
		Knocked: len(s.Knocked), Muted: s.Muted,
	}
	for _, f := range d.marks.now(ctx) {
		o.Marks = append(o.Marks, control.Mark{State: string(f.State), Name: f.Name, Text: d.mask(f.Text), Fix: d.mask(f.Fix)})
	}
	o.Next, err = d.next(ctx)
	return o, err
}

// planned is how many schedules the overview names.
const planned = 3

// next are the schedules that are due next.
func (d *Desk) next(ctx context.Context) ([]control.Schedule, error) {
	all, err := d.Schedules.List(ctx, owner())
	var due []job.Schedule
	for _, s := range all {
		if len(s.Next) == 0 {
			continue
		}
		i := 0
		for i < len(due) && !due[i].Next[0].After(s.Next[0]) {
			i++
		}
		due = append(due[:i], append([]job.Schedule{s}, due[i:]...)...)
	}
	list := make([]control.Schedule, min(len(due), planned))
	for i := range list {
		list[i] = d.schedule(due[i])
		list[i].Next[0] = d.in(list[i].Next[0])
	}
	return list, err
}

// ListLog returns the newest records of a level or above.
func (d *Desk) ListLog(_ context.Context, level string) ([]control.LogLine, error) {
	least := slog.LevelDebug
	if level != "" {
		if err := least.UnmarshalText([]byte(level)); err != nil {
			least = slog.LevelDebug
		}
	}
	var kept []control.LogLine
	for _, l := range d.Around.Log() {
		var is slog.Level
		if is.UnmarshalText([]byte(l.Level)) == nil && is < least {
			continue
		}
		l.At = d.in(l.At)
		kept = append(kept, l)
	}
	return kept, nil
}

// ListSettings lists the configuration, secrets masked.
func (d *Desk) ListSettings(context.Context) ([]control.Setting, error) {
	if d.Configuration == nil {
		return nil, nil
	}
	entries := d.Configuration.Entries()
	all := make([]control.Setting, len(entries))
	for i, e := range entries {
		all[i] = control.Setting{Key: e.Key, Value: e.Value, Settable: e.Settable}
	}
	return all, nil
}

// SetSetting changes a setting as the tool config does.
func (d *Desk) SetSetting(_ context.Context, key, value string) error {
	if d.Configuration == nil {
		return control.ErrNotFound
	}
	err := d.Configuration.Set(key, value)
	if err == nil {
		d.Logger.Info("setting changed", "key", key, "by", byPage)
	}
	return said(err)
}

// byPage names who did something in the log.
const byPage = "web page"

// mask hides secrets in a text that is shown.
func (d *Desk) mask(text string) string { return d.Redact.Text(text) }

// line is a text in one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
