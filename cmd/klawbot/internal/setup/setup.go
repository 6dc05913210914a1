// Package setup writes a first configuration: it looks for a model, asks a person,
// tries every answer at once and finds out who the owner is.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/engine/settings"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/gateway/telegram"
	"klawbot/internal/atomicfile"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
)

// Setup writes a configuration: where it goes, and the streams to ask a person on.
type Setup struct {
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Redact  *redact.Set

	ConfigFlag string
	DataFlag   string
	// Advice names commands as the program was started.
	Advice func(text string) string
}

func (s Setup) getenv(name string) string { return config.Source{Environ: s.Environ}.Getenv(name) }

// say prints lines, folded for a terminal.
func (s Setup) say(format string, args ...any) {
	fmt.Fprintln(s.Stdout, terminal.Fold(s.Stdout, s.Advice(fmt.Sprintf(format, args...)), 0))
}

// Answers are what makes a configuration.
type Answers struct {
	Yes, Force, NoTelegram, NoAssets bool
	// Speech wants the speech model; Web turns the web page on.
	Speech, Web bool

	Token, APIURL                    string
	Model, BaseURL, APIKey, Provider string
	Timezone, Embedding, AssetsFrom  string
	Allow, Owner                     []string

	// What comes of them.
	chosen          *settings.Model // nil: no model
	allowed, owners []int64
}

// speaks reports whether a configuration has Telegram in it, or cannot be read.
// One that klawbot chat wrote for the terminal has not, and init completes it.
func (s Setup) speaks(file string) bool {
	l, err := config.Source{File: file, Environ: s.Environ, Redact: s.Redact}.Load()
	return err != nil || l.Channels.Telegram.Token != ""
}

// Run asks, checks the answers, writes the configuration and the workspace, and
// brings the embedding model.
func (s Setup) Run(ctx context.Context, a *Answers) error {
	file, err := s.newConfigFile()
	if err != nil {
		return err
	}
	a.Token, a.APIKey = keys.TrimSecret(a.Token), keys.TrimSecret(a.APIKey)
	s.Redact.Add(a.Token, a.APIKey, s.getenv("TELEGRAM_BOT_TOKEN"))
	if a.owners, err = config.ParseIDs(a.Owner); err != nil {
		return usage.Wrap(err)
	}
	if a.allowed, err = config.ParseIDs(a.Allow); err != nil {
		return usage.Wrap(err)
	}
	a.allowed = config.Unique(slices.Concat(a.allowed, a.owners))
	if a.NoTelegram && (a.Token != "" || len(a.Owner)+len(a.Allow) > 0) {
		return usage.Errorf("--token, --owner and --allow need Telegram; leave out --no-telegram")
	}
	if a.Embedding != "" && !slices.Contains(data.EmbeddingModels(), a.Embedding) {
		return usage.Errorf("--embedding must be one of %s", strings.Join(data.EmbeddingModels(), ", "))
	}
	if err := config.CheckTimezone(a.Timezone); a.Timezone != "" && err != nil {
		return usage.Errorf("--timezone %w", err)
	}
	if _, err := os.Stat(file); err == nil && !a.Force {
		if a.Yes && s.speaks(file) {
			return usage.Errorf("%s already exists. Replace it (the old file is kept): klawbot init --force. Change the model: klawbot model; the token: klawbot telegram; add a chat: klawbot allow ID", config.Display(file))
		}
		return s.again(ctx, file, a)
	}
	client := httpclient.New(httpclient.Options{Proxy: true})
	if a.Yes {
		err = s.initByFlags(ctx, a, client)
	} else {
		err = s.initByQuestions(ctx, a, client, file)
	}
	if err != nil {
		return err
	}
	l, f, err := s.writeSetup(a, file)
	if err != nil {
		return err
	}
	if err := s.download(ctx, &l.Config, f, a); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Stdout, s.Advice(a.nextStep()))
	return err
}

// download brings the models that the answers want.
func (s Setup) download(ctx context.Context, c *config.Config, f config.Folders, a *Answers) error {
	if !a.NoAssets {
		if err := s.setUpAssets(ctx, c, f, a.AssetsFrom); err != nil {
			return err
		}
	}
	if a.Speech {
		return s.setUpSpeech(ctx, f, a.AssetsFrom)
	}
	return nil
}

func (s Setup) newConfigFile() (string, error) {
	for _, named := range []string{s.ConfigFlag, s.getenv("KLAWBOT_CONFIG")} {
		if named != "" {
			return filepath.Abs(named)
		}
	}
	return filepath.Abs(config.Paths(s.getenv)[0])
}

func (s Setup) initByFlags(ctx context.Context, a *Answers, client *http.Client) error {
	if a.Timezone == "" {
		a.Timezone = config.GuessTimezone(s.getenv, "/etc/localtime")
	}
	if err := a.CheckModel(); err != nil {
		return err
	}
	if a.Model != "" {
		m := a.flagModel(s.getenv)
		if err := s.tryModel(ctx, client, m); err != nil {
			return err
		}
		a.chosen = &m
	}
	if a.Token == "" {
		a.Token = s.getenv("TELEGRAM_BOT_TOKEN")
	}
	switch {
	case a.NoTelegram:
		a.Token = ""
	case a.Token == "":
		return usage.Errorf("--token is missing; @BotFather gives one, --no-telegram does without")
	default:
		_, err := s.tryToken(ctx, a)
		return err
	}
	return nil
}

func (a *Answers) flagModel(getenv func(string) string) settings.Model {
	m := settings.Model{Provider: a.Provider, Type: "openai", BaseURL: a.BaseURL, APIKey: a.APIKey, Name: a.Model}
	if m.BaseURL == "" {
		m.BaseURL = config.OpenAI
	}
	m.Provider = cmp.Or(m.Provider, providerName(m.BaseURL))
	if m.APIKey == "" && m.BaseURL == config.OpenAI {
		m.APIKey = getenv("OPENAI_API_KEY")
	}
	return newModel(m)
}

// CheckModel says what is wrong with the flags about the model.
func (a *Answers) CheckModel() error {
	switch {
	case a.Model == "" && a.BaseURL+a.APIKey != "":
		return usage.Errorf("--model is missing: name a model of that server")
	case a.BaseURL != "" && config.CheckAddress(a.BaseURL) != nil:
		return usage.Errorf("--base-url %w", config.CheckAddress(a.BaseURL))
	}
	return nil
}

// newModel gives a model the bounds that a new entry has.
func newModel(m settings.Model) settings.Model {
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

func (s Setup) initByQuestions(ctx context.Context, a *Answers, client *http.Client, file string) error {
	p := terminal.Ask(s.Stdin, s.Stdout)
	var err error
	if a.chosen, err = s.askModel(ctx, p, client, file); err != nil {
		return err
	}
	if !a.NoTelegram {
		bot, err := s.askToken(ctx, p, a, askForToken)
		if err != nil {
			return err
		}
		if a.Token != "" && len(a.owners) == 0 {
			if err := s.askOwner(ctx, p, a, client, bot); err != nil {
				return err
			}
		}
	}
	if err := s.askTimezone(ctx, p, a); err != nil {
		return err
	}
	return s.askExtras(ctx, p, a)
}

// askExtras asks about what works without an answer, too.
func (s Setup) askExtras(ctx context.Context, p *terminal.Prompter, a *Answers) (err error) {
	if !a.Web && s.getenv("container") == "" { // no browser reaches it there
		if a.Web, err = p.Confirm(ctx, "Web page on this machine?"); err != nil {
			return err
		}
	}
	if err := s.askEmbedding(ctx, p, a); err != nil {
		return err
	}
	return s.askSpeech(ctx, p, a)
}

const askForToken = "Bot token from @BotFather, or Enter to skip"

func (s Setup) askToken(ctx context.Context, p *terminal.Prompter, a *Answers, question string) (telegram.Bot, error) {
	for {
		text, err := p.AskSecret(ctx, question)
		if err != nil || text == "" {
			return telegram.Bot{}, err
		}
		s.Redact.Add(text)
		a.Token = text
		bot, err := s.tryToken(ctx, a)
		if err == nil {
			return bot, nil
		}
		a.Token = ""
		fmt.Fprintln(s.Stdout, "Can't connect to Telegram:", s.Redact.Text(err.Error()))
	}
}

func (s Setup) tryToken(ctx context.Context, a *Answers) (telegram.Bot, error) {
	if err := config.CheckToken(a.Token); err != nil {
		return telegram.Bot{}, usage.Errorf("the token %w", err)
	}
	bot, err := telegram.Probe(ctx, a.Token, a.APIURL)
	if err == nil {
		fmt.Fprintf(s.Stdout, "Telegram: @%s\n", bot.Username)
		s.showLink("https://t.me/" + bot.Username)
	}
	return bot, err
}

func (s Setup) writeSetup(a *Answers, file string) (*config.Loaded, config.Folders, error) {
	text := a.yaml(s.DataFlag, s.Environ)
	l, err := config.Source{File: file, Environ: s.Environ, Redact: s.Redact}.Parse([]byte(text))
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
		if err := atomicfile.Write(kept, old, 0o600); err != nil {
			return nil, config.Folders{}, err
		}
		fmt.Fprintf(s.Stdout, "Old configuration: %s\n", config.Display(kept))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, config.Folders{}, err
	}
	if err := atomicfile.Write(file, []byte(text), 0o600); err != nil {
		return nil, config.Folders{}, err
	}
	f, err := config.FindFolders(s.DataFlag, file, &l.Config, s.getenv)
	if err != nil {
		return nil, config.Folders{}, err
	}
	if err := bot.Furnish(f); err != nil {
		return nil, config.Folders{}, err
	}
	_, err = fmt.Fprintf(s.Stdout, "Written: %s\nWorkspace: %s\n", file, f.Workspace)
	return l, f, err
}

func (a *Answers) nextStep() string {
	switch {
	case a.Token == "" && a.Web:
		return "Next: klawbot chat, or klawbot web"
	case a.Token == "":
		return "Next: klawbot chat"
	case len(a.allowed) == 0:
		return "No chats allowed. Next: klawbot run, then klawbot allow ID"
	}
	return "Next: klawbot run"
}

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
		fmt.Fprintln(s.Stdout, "Unknown time zone. Example: Europe/Berlin")
	}
}

// askEmbedding proposes the multilingual model where the system does not speak
// English.
func (s Setup) askEmbedding(ctx context.Context, p *terminal.Prompter, a *Answers) error {
	language := localLanguage(s.getenv)
	if a.Embedding != "" || language == "en" {
		return nil
	}
	yes, err := p.Confirm(ctx, fmt.Sprintf("Your system speaks %q. Use semantic search for more languages than English, with %s (135 MB)?", language, data.MultilingualEmbedding))
	if yes {
		a.Embedding = data.MultilingualEmbedding
	}
	return err
}

// askSpeech offers ears to a person who speaks what the speech model knows.
func (s Setup) askSpeech(ctx context.Context, p *terminal.Prompter, a *Answers) (err error) {
	if !a.Speech && !a.NoAssets && p.AtTerminal() && localLanguage(s.getenv) == "en" {
		a.Speech, err = p.Confirm(ctx, "Understand voice messages on this machine (44 MB)?")
	}
	return err
}

// setUpSpeech brings the speech model. As with setUpAssets, nothing that fails is a failure.
func (s Setup) setUpSpeech(ctx context.Context, f config.Folders, from string) error {
	fmt.Fprintf(s.Stdout, "Downloading the speech model %s ...\n", data.SpeechModel)
	err := bot.PullSpeech(ctx, s.Stdout, bot.Pull{Dir: filepath.Join(f.Data, "assets"), From: from, Patience: setupPatience})
	return s.unless(ctx, err, "speech model", "doesn't understand voice messages")
}

// localLanguage is the language of the system, such as "ru"; "en" when it names
// none.
func localLanguage(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			language, _, _ := strings.Cut(value, ".")
			language, _, _ = strings.Cut(language, "_")
			if language == "C" || language == "POSIX" {
				return "en"
			}
			return strings.ToLower(language)
		}
	}
	return "en"
}

// setupPatience is how long klawbot init waits for files when nothing comes.
const setupPatience = 10 * time.Second

// setUpAssets brings what search by meaning needs at the end of klawbot init.
// Nothing that fails here is a failure: without it klawbot uses keyword search.
func (s Setup) setUpAssets(ctx context.Context, c *config.Config, f config.Folders, from string) error {
	p := bot.AssetPlaces(ctx, c, f)
	if c.Memory.Embedding.Type != "onnx" || !slices.Contains(data.EmbeddingModels(), p.Model) || bot.Complete(p.Files()) {
		return nil
	}
	fmt.Fprintf(s.Stdout, "Downloading the embedding model %s for semantic search ...\n", p.Model)
	err := bot.PullAssets(ctx, s.Stdout, bot.Pull{Model: p.Model, Dir: filepath.Join(f.Data, "assets"), From: from, Patience: setupPatience})
	return s.unless(ctx, err, "embedding model", "uses keyword search")
}

// unless says what klawbot does without a model that could not be downloaded.
func (s Setup) unless(ctx context.Context, err error, model, without string) error {
	if err != nil && ctx.Err() == nil {
		s.say("Can't download the %s: %s\nUntil then, klawbot %s.", model, s.Redact.Text(err.Error()), without)
	}
	return ctx.Err()
}

// yaml is the text of the new config.yaml. A secret that stands in a variable
// of the environment is written as a reference to it.
func (a *Answers) yaml(data string, environ []string) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	line(0, "# Written by klawbot init. Every key with its meaning: config.yaml.example.")
	if data != "" {
		if abs, err := filepath.Abs(data); err == nil {
			data = abs
		}
		line(0, "dataDir: %s", configedit.Quote(data))
	}
	line(0, "channels:")
	if a.Token != "" {
		line(1, "telegram:")
		line(2, "token: %s", configedit.Reference(a.Token, environ))
		line(2, "allowedChatIds: %s", list(a.allowed))
		line(2, "ownerIds: %s", list(a.owners))
		if a.APIURL != "" {
			line(2, "apiURL: %s", configedit.Quote(a.APIURL))
		}
	}
	line(1, "console: {enabled: true}")
	if a.Web {
		line(1, "web: {enabled: true}")
	}
	if a.Timezone != "" {
		line(0, "agent:")
		line(1, "timezone: %s", configedit.Quote(a.Timezone))
	}
	if a.Embedding != "" {
		line(0, "memory:")
		line(1, "embedding: {model: %s}", configedit.Quote(a.Embedding))
	}
	line(0, "models:")
	if m := a.chosen; m == nil {
		line(1, `default: ""   # empty: no model, commands only`)
	} else {
		line(1, "default: main")
		line(1, "providers:")
		line(2, "%s:", configedit.Quote(m.Provider))
		line(3, "type: %s", m.Type)
		if m.Type != "managed" {
			line(3, "baseURL: %s", configedit.Quote(m.BaseURL))
			line(3, "apiKey: %s", configedit.Reference(m.APIKey, environ))
		}
		line(1, "entries:")
		line(2, "main:")
		line(3, "provider: %s", configedit.Quote(m.Provider))
		line(3, "model: %s", configedit.Quote(m.Name))
		line(3, "maxTokens: %d", m.MaxTokens)
		line(3, "contextBudget: %d", m.ContextBudget)
	}
	return b.String()
}

func list(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
