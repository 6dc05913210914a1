package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

func (a *app) askTimezone(ctx context.Context, p *prompter, s *setup) error {
	guess := s.timezone
	if guess == "" {
		guess = guessTimezone(a.getenv, "/etc/localtime")
	}
	for {
		text, err := p.ask(ctx, "Time zone", guess)
		if err != nil {
			return err
		}
		if err := timezone(text); err == nil {
			s.timezone = text
			return nil
		}
		fmt.Fprintln(a.stdout, "That is no time zone; one looks like Europe/Berlin.")
	}
}

// guessTimezone reads the system's zone from $TZ or the link at localtime.
func guessTimezone(getenv func(string) string, localtime string) string {
	guesses := []string{strings.TrimPrefix(getenv("TZ"), ":")}
	if target, err := filepath.EvalSymlinks(localtime); err == nil {
		_, zone, _ := strings.Cut(filepath.ToSlash(target), "/zoneinfo/")
		guesses = append(guesses, zone)
	}
	for _, zone := range guesses {
		if zone == "" {
			continue
		}
		if _, err := time.LoadLocation(zone); err == nil {
			return zone
		}
	}
	return "UTC"
}
