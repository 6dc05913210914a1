package telegram

import (
	"context"
	"errors"
	"net/http"

	"klawbot/internal/wait"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// maxCommands keeps the menu small: Telegram refuses long lists as a whole.
const maxCommands = 30

// publish sets the menu of commands, trying again until Telegram has answered.
func (c *Channel) publish(ctx context.Context) {
	if len(c.commands) == 0 {
		return
	}
	var menu []models.BotCommand
	for _, k := range c.commands[:min(len(c.commands), maxCommands)] {
		menu = append(menu, models.BotCommand{Command: k.Name, Description: k.Description})
	}
	var retry backoff
	for {
		err := c.setMenu(ctx, menu)
		refusal, refused := errors.AsType[*apiError](err)
		switch {
		case err == nil || denied(err):
			return
		case refused && refusal.code == http.StatusBadRequest:
			c.log.Warn("command menu refused", "err", c.redact.Error(err))
			return
		}
		pause := retry.next()
		if refused {
			pause = max(pause, refusal.retryAfter)
		}
		if !wait.For(ctx, pause) {
			return
		}
	}
}

func (c *Channel) setMenu(ctx context.Context, menu []models.BotCommand) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.bot.SetMyCommands(ctx, &tg.SetMyCommandsParams{Commands: menu})
	return err
}
