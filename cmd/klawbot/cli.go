package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/internal/advice"
	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

// The exit codes.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotRunning = 3
)

type app struct {
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	redact  *redact.Set

	configFlag string
	dataFlag   string
	// called is how the program was started, such as ./bin/klawbot.
	called string
	// started says that the command line was understood.
	started bool
}

// errSilent ends with exitFailed after everything was said on stdout.
var errSilent = errors.New("failed")

// errInterrupted ends as a shell ends after Ctrl-C.
var errInterrupted = errors.New("interrupted")

const exitInterrupted = 130

func newApp(environ []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	secrets := &redact.Set{}
	return &app{environ: environ, stdin: stdin, stdout: secrets.Writer(stdout), stderr: secrets.Writer(stderr), redact: secrets}
}

func (a *app) getenv(name string) string { return config.Source{Environ: a.environ}.Getenv(name) }

func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(protectIDs(args))
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if !errors.Is(err, errSilent) {
		a.complain(err)
	}
	var wrong usage.Error
	var faults keys.Faults
	switch {
	case errors.Is(err, bot.ErrNotRunning):
		return exitNotRunning
	case !a.started, errors.As(err, &wrong), errors.As(err, &faults):
		return exitUsage
	}
	return exitFailed
}

// advice names commands as the program was started, unless it is in PATH.
func (a *app) advice(text string) string {
	if found, err := exec.LookPath("klawbot"); err == nil && found == a.called {
		return text
	}
	return advice.By(a.called, text)
}

// complain prints the error, without secrets: one line, or a line for each fault
// of the configuration.
func (a *app) complain(err error) {
	var faults keys.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			fmt.Fprintln(a.stderr, terminal.Visible(a.redact.Text(a.advice(f.String()))))
		}
		return
	}
	text := strings.TrimPrefix(noCommand(err.Error()), "open store: ")
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	fmt.Fprintln(a.stderr, terminal.Fold(a.stderr, "klawbot: "+terminal.Visible(a.redact.Text(a.advice(text))), 2))
}

// inOneLine is a text in one line, such as that of errors that were joined.
func inOneLine(text string) string {
	var line string
	for part := range strings.Lines(text) {
		part = strings.Join(strings.Fields(part), " ")
		switch {
		case line == "" || part == "":
			line += part
		case strings.HasSuffix(line, ":"):
			line += " " + part
		default:
			line += "; " + part
		}
	}
	return line
}

// unknownCommand is what cobra says of an unknown command.
var unknownCommand = regexp.MustCompile(`^unknown command "(.*)" for "(.*?)"(?: Did you mean this\? (\S+))?`)

// noCommand says what to write instead of an unknown command; other errors are
// joined into one line.
func noCommand(text string) string {
	m := unknownCommand.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		return inOneLine(text)
	}
	meant := ""
	if m[3] != "" {
		meant = "did you mean " + m[3] + "? "
	}
	return fmt.Sprintf("unknown command %q; %ssee %s --help", m[2]+" "+m[1], meant, m[2])
}

var negative = regexp.MustCompile(`^-\d`)

// protectIDs makes ids of groups arguments: a minus and digits are no flag.
func protectIDs(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		if out[i] = arg; negative.MatchString(arg) {
			out[i] = " " + arg
		}
	}
	return out
}

// badValue is what pflag says of a value that it cannot read, with Go's own words.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-., )?(--[^"]*)" flag: `)

// flagError says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		return usage.Errorf("invalid value for %s: %q; see %s --help", m[2], strings.TrimSpace(m[1]), cmd.CommandPath())
	}
	return usage.Errorf("%w; see %s --help", err, cmd.CommandPath())
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "klawbot",
		Short:         "A self-hosted AI assistant for Telegram",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.configFlag, "config", "", "config `file` (default: $KLAWBOT_CONFIG, $KLAWBOT_HOME, $XDG_CONFIG_HOME/klawbot, here)")
	root.PersistentFlags().StringVar(&a.dataFlag, "data", "", "data `directory` (default: dataDir, $KLAWBOT_HOME, $XDG_DATA_HOME/klawbot)")
	root.AddCommand(
		initCommand(a), modelCommand(a), telegramCommand(a), runCommand(a), standbyCommand(a), chatCommand(a), webCommand(a), demoCommand(a),
		allowCommand(a), denyCommand(a), allowedCommand(a),
		statusCommand(a), healthCommand(a), doctorCommand(a), sessionsCommand(a), memoryCommand(a), scheduleCommand(a), logsCommand(a), toolsCommand(a), policyCommand(a), screenCommand(a), mcpCommand(a),
		backupCommand(a), restoreCommand(a), reindexCommand(a), exportCommand(a), importCommand(a), undoCommand(a), skillsCommand(a), assetsCommand(a), versionCommand(a),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Run, cmd.RunE = nil, helpFor
		case "completion":
			cmd.RunE = func(*cobra.Command, []string) error {
				return usage.Errorf("completion needs bash, fish, powershell or zsh")
			}
		}
	}
	return root
}

// helpFor is klawbot help, which fails for what there is not.
func helpFor(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return usage.Errorf("unknown command %q; see klawbot help", strings.Join(args, " "))
	}
	return about.Help()
}

// parent is a command that does nothing but hold others.
func parent(name, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	names := make([]string, len(below))
	for i, c := range below {
		names[i] = c.Name()
	}
	last := len(names) - 1
	cmd.RunE = func(*cobra.Command, []string) error {
		return usage.Errorf("%s needs %s or %s", name, strings.Join(names[:last], ", "), names[last])
	}
	cmd.AddCommand(below...)
	return cmd
}

// listCommand is a command that reads something and prints it.
func listCommand[T any](a *app, name, short string, read func(context.Context, *data.Data) (T, error), print func(io.Writer, T, *config.Config) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *data.Data) error {
			list, err := read(cmd.Context(), d)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, list)
			}
			return print(a.stdout, list, l.Config())
		})
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// takes is a command with so many arguments. They are named in its Use.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n >= least && n <= most {
			return nil
		}
		_, form, _ := strings.Cut(cmd.Use, " ")
		return usage.Errorf("usage: %s %s. See %[1]s --help", cmd.CommandPath(), form)
	}
}

// open loads the configuration and prints what is odd about it.
func (a *app) open() (*config.Live, error) {
	file, err := config.Find(a.configFlag, a.getenv)
	if err != nil {
		return nil, err
	}
	l, err := config.Open(config.Source{File: file, Environ: a.environ, Redact: a.redact})
	if err != nil {
		return nil, err
	}
	for _, line := range l.Notices() {
		fmt.Fprintln(a.stderr, a.advice(line))
	}
	return l, nil
}

func (a *app) openFolders() (*config.Live, config.Folders, error) {
	l, err := a.open()
	if err != nil {
		return nil, config.Folders{}, err
	}
	f, err := a.folders(l.Config())
	return l, f, err
}

func (a *app) folders(c *config.Config) (config.Folders, error) {
	file, err := config.Find(a.configFlag, a.getenv)
	if err != nil {
		return config.Folders{}, err
	}
	return config.FindFolders(a.dataFlag, file, c, a.getenv)
}

func (a *app) interactive() bool {
	return terminal.Is(a.stdin) && terminal.Is(a.stdout)
}

// botConfig is what a bot for a command is made of, without its channels.
func (a *app) botConfig(l *config.Live, f config.Folders, log *slog.Logger) bot.Config {
	return bot.Config{Live: l, Folders: f, Redact: a.redact, Log: log, Version: version}
}

// withData runs fn with the data directory open beside a bot that may run, or not.
func (a *app) withData(ctx context.Context, fn func(*config.Live, config.Folders, *data.Data) error) error {
	return a.withDataAs(ctx, mcp.SignIn{}, fn)
}

func (a *app) withWorkspace(ctx context.Context, fn func(*config.Live, config.Folders, *data.Data) error) error {
	return a.withData(ctx, func(l *config.Live, f config.Folders, d *data.Data) error {
		if err := bot.Furnish(f); err != nil {
			return err
		}
		return fn(l, f, d)
	})
}

// withDataAs is withData for a person who can sign in at MCP servers.
func (a *app) withDataAs(ctx context.Context, signIn mcp.SignIn, fn func(*config.Live, config.Folders, *data.Data) error) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	c := a.botConfig(l, f, bot.NewLog(a.stderr, l, a.redact, slog.LevelWarn))
	c.Telegram, c.Console, c.SignIn = true, true, signIn
	b, err := bot.New(c)
	if err != nil {
		return err
	}
	return b.WithData(ctx, func(d *data.Data) error { return fn(l, f, d) })
}
