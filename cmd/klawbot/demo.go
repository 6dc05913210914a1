package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
)

func demoCommand(a *app) *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try the bot with a scripted model, in a temporary folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.demo(ctx, strings.TrimSpace(message))
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "say `text`, print the answer and end")
	return cmd
}

// demo is chat with the built-in script as its model and a folder that is
// deleted afterwards.
func (a *app) demo(ctx context.Context, message string) (err error) {
	dir, err := os.MkdirTemp("", "klawbot-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := config.Defaults()
	c.Agent.DebounceMS = 0
	c.Models.Default = "demo"
	c.Models.Providers = map[string]config.Provider{"script": {Type: "script"}}
	c.Models.Entries = map[string]config.Entry{"demo": {Provider: "script", Model: "demo", ContextBudget: 32000}}
	l := config.Fixed(c)
	f := config.Folders{Data: dir, Workspace: filepath.Join(dir, "workspace")}
	banner := "klawbot " + version + " demo: scripted, no AI; everything is deleted at the end"
	if message != "" || !a.interactive() { // the label must be seen where no banner is
		fmt.Fprintln(a.stderr, banner)
	}
	return chatAlone(ctx, a, l, f, banner, message)
}
