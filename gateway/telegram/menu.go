package telegram

import (
	"context"

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
	err := insist(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		_, err := c.bot.SetMyCommands(ctx, &tg.SetMyCommandsParams{Commands: menu})
		return err
	})
	if err != nil && !denied(err) && ctx.Err() == nil {
		c.log.Warn("command menu refused", "err", c.redact.Error(err))
	}
}
