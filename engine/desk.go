package engine

import (
	"context"

	"klawbot/engine/internal/desk"
	"klawbot/engine/internal/media"
	"klawbot/engine/probe"
	"klawbot/engine/settings"
)

// Around is what lies around the engine, for the web page.
type Around = desk.Around

// Desk is what the web page reads and does with an engine.
func Desk(e *Engine) *desk.Desk {
	c := e.config
	return desk.New(desk.Config{
		Chat: &desk.Chat{
			Store: e.store, Files: media.In(c.Dir, c.Workspace, e.log), Settings: e.settings, Deaf: e.media.Deaf,
		},
		Status: e.Status, Schedules: e.plans.schedules, Memory: e.memory, Executor: e.set.Executor, Strangers: e.buttons.strangers,
		Configuration: c.Configuration, Redact: c.Redact, Around: c.Around, Logger: e.log,
		Reach: func(ctx context.Context, m settings.Model) error { return probe.Check(ctx, c.HTTP, m) },
	})
}
