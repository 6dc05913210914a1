package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
)

// setup are the answers that make a configuration.
type setup struct {
	yes, force, noTelegram, noAssets bool

	token, apiURL                    string
	model, baseURL, apiKey, provider string
	timezone, embedding, assetsFrom  string
	allow, owner                     []string

	// What comes of them.
	chosen          *engine.Model // nil: no model
	allowed, owners []int64
}

func (a *app) initCommand() *cobra.Command {
	s := &setup{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set the bot up: model, Telegram, time zone",
		Long: "Asks for a model, a bot token and the time zone, checks each at once, finds out who you are in Telegram,\n" +
			"writes config.yaml and the workspace, and brings the embedding model. With --yes it asks nothing and takes\n" +
			"the flags.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.setUp(ctx, s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&s.yes, "yes", false, "ask nothing")
	f.BoolVar(&s.force, "force", false, "replace an existing configuration; it is kept beside it")
	f.BoolVar(&s.noTelegram, "no-telegram", false, "set up without Telegram")
	f.BoolVar(&s.noAssets, "no-assets", false, "do not bring the embedding model")
	f.StringVar(&s.embedding, "embedding", "", "`name` of the embedding model: "+strings.Join(engine.EmbeddingModels(), ", "))
	f.StringVar(&s.assetsFrom, "assets-from", "", "`place` to take the embedding model from, a folder or an address (default: where it is published)")
	f.StringVar(&s.token, "token", "", "bot `token` from @BotFather (default: $TELEGRAM_BOT_TOKEN)")
	f.StringVar(&s.apiURL, "api-url", "", "`address` of the Bot API server (default: Telegram's)")
	f.StringVar(&s.model, "model", "", "`name` of the model")
	f.StringVar(&s.baseURL, "base-url", "", "`address` of an OpenAI-compatible server, with its /v1")
	f.StringVar(&s.apiKey, "api-key", "", "`key` for the model's server")
	f.StringVar(&s.provider, "provider", "openai", "`name` for the model's server")
	f.StringVar(&s.timezone, "timezone", "", "time `zone` (default: the system's)")
	f.StringSliceVar(&s.allow, "allow", nil, "`ids` of chats that may talk to the bot")
	f.StringSliceVar(&s.owner, "owner", nil, "`ids` of the owners; they may talk to the bot too")
	return cmd
}

// speaks reports whether a configuration has Telegram in it, or cannot be read.
// One that klawbot chat wrote for the terminal has not, and init may replace it.
func (a *app) speaks(file string) bool {
	l, err := config.Source{File: file, Environ: a.environ, Redact: a.redact}.Load()
	return err != nil || l.Channels.Telegram.Token != ""
}

func (a *app) setUp(ctx context.Context, s *setup) error {
	file, err := a.newConfigFile()
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil && !s.force && a.speaks(file) {
		return fmt.Errorf("%s is there already; --force asks everything anew and keeps the old file beside it, klawbot allow ID adds a chat", config.Display(file))
	}
	if s.owners, err = config.ParseIDs(s.owner); err != nil {
		return usage.Wrap(err)
	}
	if s.allowed, err = config.ParseIDs(s.allow); err != nil {
		return usage.Wrap(err)
	}
	s.allowed = config.Unique(slices.Concat(s.allowed, s.owners))
	if s.embedding != "" && !slices.Contains(engine.EmbeddingModels(), s.embedding) {
		return usage.Errorf("--embedding must be one of %s", strings.Join(engine.EmbeddingModels(), ", "))
	}
	a.redact.Add(s.token, s.apiKey, a.getenv("TELEGRAM_BOT_TOKEN"))
	client := httpclient.New(httpclient.Options{Proxy: true})
	if s.yes {
		err = a.initByFlags(ctx, s, client)
	} else {
		err = a.initByQuestions(ctx, s, client)
	}
	if err != nil {
		return err
	}
	l, f, err := a.writeSetup(s, file)
	if err != nil {
		return err
	}
	if !s.noAssets {
		if err := a.setUpAssets(ctx, &l.Config, f, s.assetsFrom); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.stdout, s.nextStep())
	return err
}

// newConfigFile is where a new configuration goes.
func (a *app) newConfigFile() (string, error) {
	for _, named := range []string{a.configFlag, a.getenv("KLAWBOT_CONFIG")} {
		if named != "" {
			return filepath.Abs(named)
		}
	}
	return filepath.Abs(config.Paths(a.getenv)[0])
}

func (a *app) initByFlags(ctx context.Context, s *setup, client *http.Client) error {
	if s.timezone == "" {
		s.timezone = config.GuessTimezone(a.getenv, "/etc/localtime")
	}
	if err := config.CheckTimezone(s.timezone); err != nil {
		return usage.Errorf("--timezone %w", err)
	}
	if s.model != "" || s.baseURL != "" {
		m := s.flagModel(a.getenv)
		if err := a.tryModel(ctx, client, m); err != nil {
			return err
		}
		s.chosen = &m
	}
	if s.token == "" {
		s.token = a.getenv("TELEGRAM_BOT_TOKEN")
	}
	switch {
	case s.noTelegram:
		s.token = ""
	case s.token == "":
		return usage.Errorf("--token is missing; @BotFather gives one, --no-telegram does without")
	default:
		_, err := a.tryToken(ctx, s)
		return err
	}
	return nil
}

// flagModel is the model that the flags name.
func (s *setup) flagModel(getenv func(string) string) engine.Model {
	m := engine.Model{Provider: s.provider, Type: "openai", BaseURL: s.baseURL, APIKey: s.apiKey, Name: s.model}
	if m.BaseURL == "" {
		m.BaseURL = config.OpenAI
	}
	if m.APIKey == "" && m.BaseURL == config.OpenAI {
		m.APIKey = getenv("OPENAI_API_KEY")
	}
	return newModel(m)
}

// newModel gives a model the bounds that a new entry has.
func newModel(m engine.Model) engine.Model {
	if m.MaxTokens == 0 {
		m.MaxTokens = config.NewEntryMaxTokens
	}
	if m.ContextBudget == 0 {
		m.ContextBudget = config.NewEntryContextBudget
	}
	if m.MaxTokens >= m.ContextBudget { // a small local model
		m.MaxTokens = m.ContextBudget / 4
	}
	return m
}

func (a *app) initByQuestions(ctx context.Context, s *setup, client *http.Client) error {
	p := terminal.Ask(a.stdin, a.stdout)
	var err error
	if s.chosen, err = a.askModel(ctx, p, client); err != nil {
		return err
	}
	if !s.noTelegram {
		bot, err := a.askToken(ctx, p, s)
		if err != nil {
			return err
		}
		if s.token != "" && len(s.owners) == 0 {
			if err := a.askOwner(ctx, p, s, client, bot); err != nil {
				return err
			}
		}
	}
	if err := a.askTimezone(ctx, p, s); err != nil {
		return err
	}
	return a.askEmbedding(ctx, p, s)
}

func (a *app) askToken(ctx context.Context, p *terminal.Prompter, s *setup) (telegram.Bot, error) {
	for {
		text, err := p.AskSecret(ctx, "Bot token from @BotFather, empty for no Telegram now")
		if err != nil || text == "" {
			return telegram.Bot{}, err
		}
		a.redact.Add(text)
		s.token = text
		bot, err := a.tryToken(ctx, s)
		if err == nil {
			return bot, nil
		}
		s.token = ""
		fmt.Fprintln(a.stdout, "That did not work:", a.redact.Text(err.Error()))
	}
}

func (a *app) tryToken(ctx context.Context, s *setup) (telegram.Bot, error) {
	bot, err := telegram.Probe(ctx, s.token, s.apiURL)
	if err == nil {
		fmt.Fprintf(a.stdout, "Telegram: @%s\n", bot.Username)
	}
	return bot, err
}

// writeSetup writes the configuration and the workspace.
func (a *app) writeSetup(s *setup, file string) (*config.Loaded, config.Folders, error) {
	text := s.yaml(a.dataFlag, a.environ)
	l, err := config.Source{File: file, Environ: a.environ, Redact: a.redact}.Parse([]byte(text))
	if err != nil {
		return nil, config.Folders{}, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, config.Folders{}, err
	}
	old, err := os.ReadFile(file)
	switch {
	case err == nil:
		// Not the .bak of single edits, which the next klawbot allow replaces.
		kept := file + time.Now().Format(".20060102-150405.bak")
		if err := configedit.WriteFile(kept, old, 0o600); err != nil {
			return nil, config.Folders{}, err
		}
		fmt.Fprintf(a.stdout, "The old configuration is kept: %s\n", config.Display(kept))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, config.Folders{}, err
	}
	if err := configedit.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, config.Folders{}, err
	}
	f, err := a.folders(&l.Config)
	if err != nil {
		return nil, config.Folders{}, err
	}
	if err := bot.Furnish(f); err != nil {
		return nil, config.Folders{}, err
	}
	_, err = fmt.Fprintf(a.stdout, "Written: %s\nWorkspace: %s\n", file, f.Workspace)
	return l, f, err
}

// nextStep says what to do now.
func (s *setup) nextStep() string {
	switch {
	case s.token == "":
		return "Next: klawbot chat"
	case len(s.allowed) == 0:
		return "Nobody may talk to the bot yet. Next: klawbot run, then klawbot allow ID"
	}
	return "Next: klawbot run"
}
