package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools/guide"
	"klawbot/tools/mcp"
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
	return s.Entries(remembered, e.set.Servers.Statuses(), e.settings().Zone()), nil
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

// modelIn is the model that answers in a chat, named in its text form.
func (e *Engine) modelIn(ctx context.Context, chat string) (string, settings.Model) {
	var chosen string
	if id, err := gateway.ParseChatID(chat); err == nil {
		if s, err := e.session(ctx, gateway.Address{Chat: id}); err == nil {
			chosen = s.Model
		}
	}
	return e.settings().Models.For(chosen)
}

// isLoad reports whether a name that a model wrote is that of skill_load.
func (e *Engine) isLoad(name string) bool {
	t, _, ok := e.set.Executor.Registry().Find(name)
	return ok && t.Spec().Name == guide.LoadTool
}

// toolsChanged tells the owners that a server does not keep to what they have
// accepted, once for each time it does not.
func (e *Engine) toolsChanged(ctx context.Context, server string, now []mcp.Definition) {
	names := make([]string, len(now))
	for i, d := range now {
		names[i] = d.Tool
	}
	e.tellOwners(ctx, "mcp/"+server+"/"+command.Fingerprint(now), e.say(locale.MCPChanged, server, strings.Join(names, ", "), server))
}

// signInWanted tells the owners, once a day, that an MCP server wants somebody to
// sign in.
func (e *Engine) signInWanted(ctx context.Context, server string) {
	day := time.Now().UTC().Format(time.DateOnly)
	e.tellOwners(ctx, "mcp/"+server+"/signin/"+day, e.say(locale.MCPWantsSignIn, server, server))
}
