package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/tools"
)

func policyCommand(a *app) *cobra.Command {
	return parent("policy", "What the tools may do, and what was allowed",
		policyCheckCommand(a), approvalsCommand(a))
}

func policyCheckCommand(a *app) *cobra.Command {
	var chat string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check TOOL JSON",
		Short: "Say what would happen to a call, without making it",
		Long:  "Says whether a call of a tool would be allowed, asked about or denied, and why. Nothing runs.\n- instead of JSON reads the arguments from standard input. The exit code is 0 whatever the verdict.",
		Args:  takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCall(cmd.Context(), a, args[0], args[1], chat, asJSON)
		},
	}
	cmd.Flags().StringVar(&chat, "chat", "", "the `chat` that the call comes from, such as 123456; without it the command line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func checkCall(ctx context.Context, a *app, tool, arguments, chat string, asJSON bool) error {
	arguments, err := a.argumentsOf(arguments)
	if err != nil {
		return err
	}
	if chat != "" {
		if chat, err = config.PolicyChat(chat); err != nil {
			return usage.Wrap(err)
		}
	}
	return a.withWorkspace(ctx, func(_ *config.Live, f config.Folders, d *engine.Data) error {
		decision := d.CheckPolicy(tool, json.RawMessage(arguments), chat)
		if asJSON {
			return printJSON(a.stdout, decision)
		}
		text := fmt.Sprintf("%s: %s (%s)\n", decision.Verdict, terminal.Visible(decision.Reason), decision.Layer)
		if decision.OwnerOnly && decision.Verdict == tools.Ask {
			text += "Only an owner can approve it.\n"
		}
		if decision.OnceOnly != "" && decision.Verdict == tools.Ask {
			text += "klawbot asks every time: " + decision.OnceOnly + ".\n"
		}
		_, err := io.WriteString(a.stdout, text)
		return err
	})
}

// argumentsOf are the arguments of a call; - stands for standard input.
func (a *app) argumentsOf(written string) (string, error) {
	if written != "-" {
		return written, nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxArgumentBytes))
	return string(text), err
}
