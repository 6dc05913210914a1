package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"klawbot/cmd/klawbot/internal/setup"
	"klawbot/engine/data"
)

func initCommand(a *app) *cobra.Command {
	s := &setup.Answers{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up klawbot: model, Telegram, time zone",
		Long: "Asks for a model, a bot token and the time zone, checks each at once, finds out who you are in Telegram,\n" +
			"writes config.yaml and the workspace, and downloads the embedding model. With --yes it asks nothing and\n" +
			"uses the flags.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			s.APIURL = cmp.Or(s.APIURL, a.getenv("KLAWBOT_CHANNELS__TELEGRAM__APIURL"))
			return a.setup().Run(ctx, s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&s.Yes, "yes", false, "don't ask; use flags and defaults")
	f.BoolVar(&s.Force, "force", false, "replace an existing configuration; the old file is kept next to it")
	f.BoolVar(&s.NoTelegram, "no-telegram", false, "set up without Telegram")
	f.BoolVar(&s.Speech, "speech", false, "download the speech model, which understands voice messages in English (44 MB)")
	f.BoolVar(&s.NoAssets, "no-assets", false, "don't download the embedding model")
	f.StringVar(&s.Embedding, "embedding", "", "`name` of the embedding model: "+strings.Join(data.EmbeddingModels(), ", "))
	f.StringVar(&s.AssetsFrom, "assets-from", "", "directory or `URL` of the embedding model (default: where it is published)")
	f.StringVar(&s.Token, "token", "", "bot `token` from @BotFather (default: $TELEGRAM_BOT_TOKEN)")
	f.StringVar(&s.APIURL, "api-url", "", "`address` of the Bot API server (default: Telegram's)")
	modelFlags(f, s)
	f.StringVar(&s.Timezone, "timezone", "", "time `zone` (default: the system's)")
	f.StringSliceVar(&s.Allow, "allow", nil, "`IDs` of allowed chats")
	f.StringSliceVar(&s.Owner, "owner", nil, "`IDs` of owners; they are allowed too")
	return cmd
}

// modelFlags are the flags that name a model.
func modelFlags(f *pflag.FlagSet, s *setup.Answers) {
	f.StringVar(&s.Model, "model", "", "`name` of the model")
	f.StringVar(&s.BaseURL, "base-url", "", "base `URL` of an OpenAI-compatible server (ends in /v1)")
	f.StringVar(&s.APIKey, "api-key", "", "`key` for the model's server")
	f.StringVar(&s.Provider, "provider", "", "`name` for the model's server (default: after its address)")
}

func modelCommand(a *app) *cobra.Command {
	s := &setup.Answers{}
	cmd := &cobra.Command{
		Use:   "model [NAME]",
		Short: "Choose the model",
		Long: "Asks for a model, tests it and makes it the default in config.yaml; the rest of the file stays as it is.\n" +
			"NAME is a configured model, or one that a model server on this machine has. --model with --base-url adds another.",
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l, err := a.open()
			if err != nil {
				return err
			}
			return a.setup().ChangeModel(ctx, l, strings.Join(args, ""), s)
		},
	}
	modelFlags(cmd.Flags(), s)
	return cmd
}

func telegramCommand(a *app) *cobra.Command {
	s := &setup.Answers{}
	var off bool
	cmd := &cobra.Command{
		Use:   "telegram",
		Short: "Set the bot token",
		Long:  "Asks for a bot token from @BotFather, tests it and writes it to config.yaml; the rest of the file stays as it is.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			l, err := a.open()
			if err != nil {
				return err
			}
			return a.setup().ChangeToken(ctx, l, s, off)
		},
	}
	cmd.Flags().StringVar(&s.Token, "token", "", "the `token`; without it you are asked")
	cmd.Flags().BoolVar(&off, "off", false, "run without Telegram")
	return cmd
}

// setup writes a configuration for the flags of the command line.
func (a *app) setup() setup.Setup {
	return setup.Setup{Environ: a.environ, Stdin: a.stdin, Stdout: a.stdout, Redact: a.redact, ConfigFlag: a.configFlag, DataFlag: a.dataFlag, Advice: a.advice}
}
