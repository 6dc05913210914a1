package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/command"
	"klawbot/tools/self"
)

// Status reports how the bot is doing.
func (e *Engine) Status(ctx context.Context) (health.Status, error) {
	name, _ := e.settings().Models.For("")
	s := health.Status{
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
	err := s.Complete(ctx, e.store, e.config.Dir, e.usageToday, e.redact)
	return s, err
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
	return s.Entries(remembered, e.servers.Statuses(), e.settings().Zone()), nil
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
	return s.Text(m.Address, cmp.Or(model, "-"), since, e.settings().Language, e.settings().Zone()), nil
}

// usageToday is the usage for the status.
func (e *Engine) usageToday(ctx context.Context) (health.UsageToday, error) {
	sum, err := e.models.SpentToday(ctx)
	if err != nil && ctx.Err() != nil {
		return health.UsageToday{}, errors.Join(err, ctx.Err())
	}
	return health.UsageOf(e.settings().Today(), sum), nil
}
