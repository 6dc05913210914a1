package engine

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/backup"
	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/metrics"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/prompt"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools/self"
)

// report says how the bot is doing.
type report struct {
	config  Base
	started time.Time
	store   *store.Store
	queues  *chatqueue.Queues
	chats   *chats
	backups *backup.Backups
	meters  *metrics.Meters
	models  *model.Client
	memory  *recall.Memory
	set     *toolset.Set
	prompts *prompt.Builder
	disk    *health.DiskUse
	standby func() health.Standby // nil without one
}

// Status reports how the bot is doing.
func (e *Engine) Status(ctx context.Context) (health.Status, error) { return e.report.status(ctx) }

// WriteMetrics writes the metrics in Prometheus' text form.
func (e *Engine) WriteMetrics(ctx context.Context, w io.Writer) error {
	s, err := e.report.status(ctx)
	if err == nil {
		e.report.meters.Write(w, s)
	}
	return err
}

func (r *report) status(ctx context.Context) (health.Status, error) {
	name, _ := r.config.Settings().Models.For("")
	s := health.Status{
		Version: r.config.Version, Uptime: time.Since(r.started), Channels: r.config.Gateway.Health(), Model: name,
		Backup: r.backups.Report(), Disk: r.disk.Now(),
	}
	s.Running, _ = r.queues.Count()
	p := r.prompts.Last()
	s.Request = health.Request{Instructions: p.Instructions, Skills: p.Skills, CoreMemory: p.Memory, Tools: p.Tools, History: p.History, Message: p.Message}
	for _, l := range r.models.Local() {
		s.Local = append(s.Local, health.LocalModel{Provider: l.Provider, State: l.State, Fault: l.Fault, Note: l.Note})
	}
	s.Muted = r.chats.muted.list()
	if r.standby != nil {
		now := r.standby()
		s.Standby = &now
	}
	err := s.Complete(ctx, r.store, r.config.Dir, r.usageToday, r.config.Redact)
	return s, err
}

// entries are the same for the tool self_info.
func (r *report) entries(ctx context.Context) ([]self.Entry, error) {
	s, err := r.status(ctx)
	if err != nil {
		return nil, err
	}
	remembered, err := r.memory.Stats(ctx)
	if err != nil {
		return nil, err
	}
	return s.Entries(remembered, r.set.Servers.Statuses(), r.config.Settings().Zone()), nil
}

// text is the answer to /status.
func (r *report) text(ctx context.Context, m command.Message) (string, error) {
	s, err := r.status(ctx)
	if err != nil {
		return "", err
	}
	now := r.config.Settings()
	if m.Group || !now.Owns(m.Address.Chat.Channel, m.Sender.ID) && !m.Address.Chat.Local() {
		s.Knocked = nil // who wants in is for owners
	}
	model, since := s.Model, "-"
	if session, err := r.session(ctx, m.Home); err == nil {
		model, _ = now.Models.For(session.Model)
		since = session.StartedAt.In(now.Zone()).Format("2006-01-02 15:04")
	}
	return s.Text(m.Address, cmp.Or(model, "-"), since, now.Language, now.Zone()), nil
}

// usageToday is the usage for the status.
func (r *report) usageToday(ctx context.Context) (health.UsageToday, error) {
	sum, err := r.models.SpentToday(ctx)
	if err != nil && ctx.Err() != nil {
		return health.UsageToday{}, errors.Join(err, ctx.Err())
	}
	return health.UsageOf(r.config.Settings().Today(), sum), nil
}

// modelIn is the model that answers in a chat, named in its text form.
func (r *report) modelIn(ctx context.Context, chat string) (string, settings.Model) {
	var chosen string
	if id, err := gateway.ParseChatID(chat); err == nil {
		if s, err := r.session(ctx, gateway.Address{Chat: id}); err == nil {
			chosen = s.Model
		}
	}
	return r.config.Settings().Models.For(chosen)
}

// sees reports whether the model of a chat sees pictures, or may.
func (r *report) sees(ctx context.Context, chat string) bool {
	name, m := r.modelIn(ctx, chat)
	yes, known := r.models.Sees(ctx, model.Candidate{Name: name, Model: m})
	return name != "" && (yes || !known)
}

// session returns the current session of an address.
func (r *report) session(ctx context.Context, a gateway.Address) (s store.Session, err error) {
	err = r.store.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.Sessions().Session(a)
		return err
	})
	return s, err
}
