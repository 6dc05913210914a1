package engine

import (
	"context"

	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools/guide"
)

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
	t, _, ok := e.executor.Registry().Find(name)
	return ok && t.Spec().Name == guide.LoadTool
}
