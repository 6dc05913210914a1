package main

import (
	"context"
	"fmt"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
)

func (a *app) askTimezone(ctx context.Context, p *terminal.Prompter, s *setup) error {
	guess := s.timezone
	if guess == "" {
		guess = config.GuessTimezone(a.getenv, "/etc/localtime")
	}
	for {
		text, err := p.Ask(ctx, "Time zone", guess)
		if err != nil {
			return err
		}
		if err := config.CheckTimezone(text); err == nil {
			s.timezone = text
			return nil
		}
		fmt.Fprintln(a.stdout, "That is no time zone; one looks like Europe/Berlin.")
	}
}
