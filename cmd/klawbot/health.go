package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
)

func healthCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Say whether the running bot is well, by the exit code too",
		Long:  "Exit code 0: well; 1: ill, with the reasons; 3: not running. For Docker's health check and the like.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.foldersAnyway()
			if err != nil {
				return err
			}
			r, err := bot.AskStatus(cmd.Context(), f.Data)
			if err != nil {
				return err
			}
			if !r.Healthy {
				return errors.New("the bot is ill: " + strings.Join(r.Faults, "; "))
			}
			_, err = fmt.Fprintln(a.stdout, "ok")
			return err
		},
	}
}
