package bot

import (
	"context"
	"log/slog"
	"slices"

	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/gateway"
)

// around is what the web page needs of the configuration and of the parts of the bot.
func (p *Bot) around(log *slog.Logger) engine.Around {
	l := p.Live
	return engine.Around{
		Allowed: func() (all []gateway.ChatID) {
			for _, id := range l.Config().Channels.Telegram.AllowedChatIDs {
				all = append(all, gateway.ChatID{Channel: "telegram", ID: id})
			}
			return all
		},
		Allow: p.config.Allow,
		Deny:  func(chat gateway.ChatID) error { return configedit.Deny(l, chat, log) },
		Fixed: func() error { return configedit.Editable(l) },
		Marks: p.marks,
		Log:   p.recent.all,
	}
}

// marks say how the parts of the bot are, as the start table does.
func (p *Bot) marks(ctx context.Context) []health.Finding {
	return slices.Concat(p.channelRows(ctx), p.modelRows(ctx), p.pathRows(ctx), p.programRows())
}
