package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/tty"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/gateway/console"
)

func chatCommand(a *app) *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Chat in this terminal",
		Long: "Talks to the bot in this terminal: to the one that runs on the data directory, else to one of its own.\n" +
			"With -m it says one thing, prints the answer and ends; lines on standard input are said one after another.\n" +
			"Then the exit code is 1 when the bot could not answer, such as when the model cannot be reached.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			if cmd.Flags().Changed("message") && strings.TrimSpace(message) == "" {
				return usage.Errorf("-m needs a text")
			}
			return a.chat(ctx, strings.TrimSpace(message))
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "send `text`, print the answer and exit")
	return cmd
}

func (a *app) chat(ctx context.Context, message string) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	r, err := bot.AskStatus(ctx, f.Data)
	switch {
	case err == nil:
		return attach(ctx, a, f, banner(ctx, a, r.Model, "running"), message)
	case !errors.Is(err, bot.ErrNotRunning):
		return err
	}
	if l.Source.File == "" && message == "" && a.interactive() {
		l, err = a.setup().OfferModel(ctx, l)
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(a.stdout)
			return errInterrupted
		}
		if err != nil {
			return err
		}
	}
	return chatAlone(ctx, a, l, f, banner(ctx, a, l.Config().EngineModels().Default, ""), message)
}

// banner are the lines before the first prompt.
func banner(ctx context.Context, a *app, model, note string) string {
	text := "klawbot " + version + " · model " + model
	if model == "" {
		text = "klawbot " + version + " · no model yet: commands, notes, reminders work."
	}
	if note != "" {
		text += " (" + note + ")"
	}
	if model != "" || !a.interactive() {
		return text
	}
	if found := a.setup().Found(ctx); found != "" {
		return text + "\nFound " + found + " → klawbot model"
	}
	return text + "\nAnswers: klawbot model, or start Ollama and run this again."
}

// chatAlone runs a bot for this terminal, as long as it lasts.
func chatAlone(ctx context.Context, a *app, l *config.Live, f config.Folders, banner, message string) error {
	c := a.botConfig(l, f, logOf(a, l, message))
	c.Console = true
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var said error
	err = p.Serve(ctx, func(ctx context.Context, _ *engine.Engine) {
		defer stop()
		said = attach(ctx, a, f, banner, message)
	})
	return errors.Join(said, err)
}

// attach talks over the socket until the person ends, or until the last answer.
func attach(ctx context.Context, a *app, f config.Folders, banner, message string) error {
	client, done := bot.Console(f.Data)
	defer done()
	var err error
	switch {
	case message != "":
		err = terminal.Say(ctx, client, message, a.stdout, a.stderr)
	case a.interactive():
		if bot.Offline(filepath.Join(f.Data, "assets")) {
			banner += "\nOffline: search goes by words until the 43 MB model is here."
		}
		fmt.Fprintln(a.stdout, terminal.Fold(a.stdout, a.advice(banner)+"\n/help lists commands · Tab completes · Ctrl-D ends", 0))
		err = a.converse(ctx, client, f)
	default:
		err = terminal.Recite(ctx, client, a.stdin, a.stdout)
	}
	if errors.Is(err, tty.ErrInterrupted) {
		return errInterrupted
	}
	if errors.Is(err, terminal.ErrFailed) {
		return errSilent
	}
	return err
}

// converse is the talk with a person: with an editor where the terminal can do more than
// print lines.
func (a *app) converse(ctx context.Context, bot *console.Client, f config.Folders) error {
	in, out, ok := editable(a)
	if !ok {
		return terminal.Converse(ctx, bot, a.stdin, a.stdout)
	}
	var commands []string
	for _, c := range engine.Commands("en", true) {
		commands = append(commands, "/"+c.Name)
	}
	return tty.Converse(ctx, tty.Config{
		Bot: bot, In: in, Out: out, Environ: a.environ, History: filepath.Join(f.Data, "chat_history"),
		Commands: append(commands, "/file", "/quit"), Names: func(words []string) []string { return names(ctx, a, words) }, Redact: a.redact.Text,
	})
}

// editable is the terminal of a person, if it can do more than print lines.
func editable(a *app) (in, out *os.File, ok bool) {
	in, inOK := a.stdin.(*os.File)
	out, outOK := terminal.Unwrap(a.stdout).(*os.File)
	term := a.getenv("TERM")
	return in, out, a.interactive() && inOK && outOK && term != "" && term != "dumb"
}

// logOf is the log of a bot that talks in this terminal. Beside an editor, which draws,
// there is none unless the configuration asks for debugging: the answers say what fails.
func logOf(a *app, l *config.Live, message string) *slog.Logger {
	least := bot.Quiet(l)
	if _, _, ok := editable(a); ok && message == "" && least > slog.LevelDebug {
		least = math.MaxInt
	}
	return bot.NewLog(a.stderr, l, a.redact, least)
}

func demoCommand(a *app) *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try the bot with a scripted model, in a temporary directory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.demo(ctx, strings.TrimSpace(message))
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "send `text`, print the answer and exit")
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
	banner := "klawbot " + version + " demo: scripted, no AI; files are deleted on exit"
	if message != "" || !a.interactive() { // the label must be seen where no banner is
		fmt.Fprintln(a.stderr, banner)
	}
	return chatAlone(ctx, a, l, f, banner, message)
}
