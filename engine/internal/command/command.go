// Package command answers slash commands, which need no model. It returns the answer and
// the change to commit; it sends and stores nothing. Some commands are tool calls, which
// a turn makes.
package command

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

// A command starts with a slash and needs no model.
type command struct {
	name  string
	about locale.Phrase
	// queued commands wait in the chat queue; others are answered at once, also while a
	// turn runs.
	queued bool
	// owner commands are for owners and for the terminal.
	owner bool
}

var commands = []command{
	{"new", locale.CommandNew, true, false},
	{"model", locale.CommandModel, true, false},
	{"models", locale.CommandModels, false, false},
	{"status", locale.CommandStatus, false, false},
	{"stop", locale.CommandStop, false, false},
	{"help", locale.CommandHelp, false, false},
	{"remind", locale.CommandRemind, true, false},
	{"schedule", locale.CommandSchedule, true, false},
	{"voice", locale.CommandVoice, true, false},
	{"skills", locale.CommandSkills, true, false},
	{"docs", locale.CommandDocs, true, false},
	{"files", locale.CommandFiles, true, true},
	{"memory", locale.CommandMemory, true, false},
	{"note", locale.CommandNote, true, true},
	{"tool", locale.CommandTool, true, true},
	{"export", locale.CommandExport, true, true},
	{"heartbeat", locale.CommandHeartbeat, true, true},
	{"doctor", locale.CommandDoctor, true, true},
	{"mcp", locale.CommandMCP, false, true},
}

// Info describes a command for a messenger's menu.
type Info struct {
	Name, Description string
}

// List are the commands that all users may use, or all commands.
func List(language string, all bool) []Info {
	var list []Info
	for _, c := range commands {
		if all || !c.owner {
			list = append(list, Info{c.name, locale.Say(language, c.about)})
		}
	}
	return list
}

func named(name string) (command, bool) {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return commands[i], true
}

// Known reports whether a command is one of ours.
func Known(name string) bool {
	_, ok := named(name)
	return ok || name == "start"
}

// InLane reports whether a command waits in the chat queue.
func InLane(name string) bool {
	c, ok := named(name)
	return ok && c.queued
}

// Message is a command from a user.
type Message struct {
	gateway.Message
	// Home is where its chat is now, and ID its row in the inbox.
	Home gateway.Address
	ID   store.InboxID
}

// Reply is the answer to a command.
type Reply struct {
	Text    string
	Buttons [][]gateway.Button
	// Change is committed together with the reply, and may set its text; nil
	// changes nothing. It may be called several times.
	Change func(*store.Tx, *Reply) error
}

// Servers are the MCP servers.
type Servers interface {
	Statuses() []mcp.Status
	Waiting(server string) []mcp.Definition
	Accept(ctx context.Context, server string, shown []mcp.Definition, by int64) ([]mcp.Accepted, error)
}

// Config is what New needs.
type Config struct {
	Settings  func() settings.Settings
	Read      func(context.Context, func(*store.Tx) error) error
	Schedules *schedule.Editor
	Heartbeat *schedule.Heartbeat
	Servers   Servers
	// SignIn begins to sign the sender of a command in at an MCP server.
	SignIn func(m Message, server string)
	// Status says how the bot is, Examine what is wrong with it.
	Status  func(context.Context, Message) (string, error)
	Examine func(context.Context) string
	// Memory is the core memory that a chat sees.
	Memory func(chat string) (string, error)
	// Tools are the names of all tools.
	Tools func() []string
	// Speaks reports whether something can speak.
	Speaks func() bool
	Redact *redact.Set
	Log    *slog.Logger
}

// Commands answers commands.
type Commands struct{ Config }

// New returns Commands.
func New(c Config) *Commands { return &Commands{c} }

// Answer answers a command that calls no tool.
func (c *Commands) Answer(ctx context.Context, m Message) Reply {
	c.Log.Info("command", "chat", m.Address.String(), "command", m.Command)
	r, err := c.answer(ctx, m)
	if err != nil {
		c.Log.Error("command failed", "command", m.Command, "err", err)
		return Reply{Text: c.say(locale.Internal)}
	}
	return r
}

func (c *Commands) answer(ctx context.Context, m Message) (r Reply, err error) {
	if one, known := named(m.Command); known && one.owner && !c.owns(m) {
		return Reply{Text: c.say(locale.OwnersOnly, one.name)}, nil
	}
	switch m.Command {
	case "model":
		return c.chooseModel(ctx, m), nil
	case "voice":
		return c.voice(m), nil
	case "schedule":
		r.Change = func(tx *store.Tx, r *Reply) error {
			a, err := c.Schedules.Command(tx, m.Message)
			r.Text, r.Buttons = a.Text, a.Buttons
			return err
		}
	case "remind":
		text, change := c.Schedules.Remind(m.Message, m.Home, m.ID)
		r.Text = text
		if change != nil {
			r.Change = func(tx *store.Tx, r *Reply) (err error) {
				r.Buttons, err = change(tx)
				return err
			}
		}
	case "new":
		r.Text = c.say(locale.NewSession)
		r.Change = func(tx *store.Tx, _ *Reply) error {
			_, err := tx.Sessions().StartSession(m.Home)
			lifecycle.CrashPoint("session.starting")
			return err
		}
	default:
		r.Text, err = c.text(ctx, m)
	}
	return r, err
}

// text answers a command that changes nothing.
func (c *Commands) text(ctx context.Context, m Message) (string, error) {
	if m.Group && (m.Command == "doctor" || m.Command == "mcp") {
		return c.say(locale.Privately, m.Command), nil
	}
	switch m.Command {
	case "start":
		return c.say(locale.Greeting), nil
	case "help":
		return c.help(m), nil
	case "models":
		return c.models(), nil
	case "status":
		return c.Status(ctx, m)
	case "doctor":
		return c.Examine(ctx), nil
	case "mcp":
		return c.servers(ctx, m)
	case "heartbeat":
		return c.Heartbeat.Text(ctx)
	case "memory":
		return c.memory(m), nil
	case "note":
		return c.say(locale.NoteUsage), nil
	case "tool":
		return c.say(locale.ToolUsage, strings.Join(c.Tools(), ", ")), nil
	}
	return c.say(locale.UnknownCommand, m.Command), nil
}

// say is one of the bot's sentences in its language.
func (c *Commands) say(p locale.Phrase, args ...any) string {
	return locale.Say(c.Settings().Language, p, args...)
}

// owns reports whether the sender is an owner. A user at the terminal is one.
func (c *Commands) owns(m Message) bool {
	return m.Address.Chat.Local() || c.Settings().Owns(m.Address.Chat.Channel, m.Sender.ID)
}

// memory is the core memory, which is the owners'.
func (c *Commands) memory(m Message) string {
	switch {
	case strings.TrimSpace(m.Args) != "" || !c.owns(m):
		return c.say(locale.MemoryUsage)
	case m.Group:
		return c.say(locale.Privately, "memory")
	}
	text, err := c.Memory(m.Address.Chat.String())
	if err != nil { // an owner wrote the file and may read its errors
		text = err.Error()
	} else if text == "" {
		return c.say(locale.MemoryEmpty)
	}
	return locale.CodeBlock(c.Redact.Text(text))
}

func (c *Commands) help(m Message) string {
	var b strings.Builder
	b.WriteString(c.say(locale.HelpHead) + "\n")
	for _, one := range commands {
		if !one.owner || c.owns(m) {
			fmt.Fprintf(&b, "\n/%s — %s", one.name, c.say(one.about))
		}
	}
	if m.Address.Chat.Channel == "console" { // the terminal's own
		fmt.Fprintf(&b, "\n/file — %s\n/quit — %s", c.say(locale.CommandFile), c.say(locale.CommandQuit))
	}
	return b.String()
}

func (c *Commands) chooseModel(ctx context.Context, m Message) Reply {
	models := c.Settings().Models
	wanted := strings.TrimSpace(m.Args)
	if wanted == "" {
		var session store.Session
		err := c.Read(ctx, func(tx *store.Tx) (err error) {
			session, err = tx.Sessions().Session(m.Home)
			return err
		})
		if err != nil {
			session.Model = ""
		}
		name, _ := models.For(session.Model)
		if name == "" {
			return Reply{Text: c.say(locale.ModelsNone)}
		}
		return Reply{Text: c.say(locale.ModelIs, name)}
	}
	names := models.Names()
	if len(names) == 0 {
		return Reply{Text: c.say(locale.ModelsNone)}
	}
	i := slices.IndexFunc(names, func(n string) bool { return n == wanted || models.Entries[n].Name == wanted })
	if i < 0 {
		return Reply{Text: c.say(locale.ModelUnknown, wanted, strings.Join(names, ", "))}
	}
	return Reply{Text: c.say(locale.ModelSet, names[i]), Change: func(tx *store.Tx, _ *Reply) error {
		s, err := tx.Sessions().Session(m.Home)
		if err != nil {
			return err
		}
		return tx.Sessions().SetModel(s.ID, names[i])
	}}
}

func (c *Commands) models() string {
	models := c.Settings().Models
	if len(models.Entries) == 0 || models.Default == "" {
		return c.say(locale.ModelsNone)
	}
	var b strings.Builder
	b.WriteString(c.say(locale.ModelsHead))
	for _, name := range models.Names() {
		fmt.Fprintf(&b, "\n  %s (context budget: %d)", name, models.Entries[name].ContextBudget)
	}
	return b.String()
}
