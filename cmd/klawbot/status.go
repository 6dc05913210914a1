package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the running bot is doing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := a.foldersAnyway()
			if err != nil {
				return err
			}
			r, err := askStatus(cmd.Context(), f.data)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(r)
			}
			return a.printStatus(r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// foldersAnyway finds the folders also when the configuration is broken, so
// that status can say that it is.
func (a *app) foldersAnyway() (folders, error) {
	file, err := findConfig(a.configFlag, a.getenv)
	if err != nil {
		return folders{}, err
	}
	l, err := source{File: file, Environ: a.environ, Redact: a.redact}.load()
	if l == nil {
		return folders{}, err
	}
	return a.folders(&l.Config)
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (a *app) printStatus(r report) error {
	lines := []string{fmt.Sprintf("klawbot %s, process %d, up %s", r.Version, r.PID, r.Uptime.Round(time.Second))}
	for _, h := range r.Channels {
		lines = append(lines, fmt.Sprintf("%s: %s", h.Channel, join(strings.TrimSpace(h.State+" "+h.Name), h.Fault)))
		if h.Strangers > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d messages of strangers turned away", h.Channel, h.Strangers))
		}
	}
	model := r.Model
	if model == "" {
		model = "none; klawbot init sets one up"
	}
	lines = append(lines,
		"model: "+model,
		fmt.Sprintf("turns running: %d, messages waiting: %d in, %d out", r.Running, r.Inbox.Waiting, r.Outbox.Waiting))
	if r.Config.Fault != "" {
		lines = append(lines, "the configuration on the disk is not in use, the last good one is:", r.Config.Fault)
	}
	_, err := fmt.Fprintln(a.stdout, a.redact.Text(strings.Join(lines, "\n")))
	return err
}
