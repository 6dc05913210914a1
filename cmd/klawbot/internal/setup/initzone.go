package setup

import (
	"context"
	"fmt"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
)

func (s Setup) askTimezone(ctx context.Context, p *terminal.Prompter, a *Answers) error {
	guess := a.Timezone
	if guess == "" {
		guess = config.GuessTimezone(s.getenv, "/etc/localtime")
	}
	for {
		text, err := p.Ask(ctx, "Time zone", guess)
		if err != nil {
			return err
		}
		if err := config.CheckTimezone(text); err == nil {
			a.Timezone = text
			return nil
		}
		fmt.Fprintln(s.Stdout, "That is no time zone; one looks like Europe/Berlin.")
	}
}
