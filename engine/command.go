package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
)

// A command is what people write with a slash. It needs no model.
type command struct {
	name  string
	about locale.Phrase
	// lane commands wait for their turn in the chat; the others are answered
	// at once, also while a turn runs.
	lane bool
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

// CommandInfo describes a command for a messenger's menu.
type CommandInfo struct {
	Name, Description string
}

// Commands lists the commands that everybody may use.
func Commands(language string) []CommandInfo {
	var list []CommandInfo
	for _, c := range commands {
		if !c.owner {
			list = append(list, CommandInfo{c.name, locale.Say(language, c.about)})
		}
	}
	return list
}

func commandNamed(name string) (command, bool) {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return commands[i], true
}

// isCommand reports whether a command is one of ours.
func isCommand(name string) bool {
	_, ok := commandNamed(name)
	return ok || name == "start"
}

// inLane reports whether a command waits for its turn in the chat.
func inLane(name string) bool {
	c, ok := commandNamed(name)
	return ok && c.lane
}

// obey answers a command that calls no tool.
func (e *Engine) obey(ctx context.Context, it item) {
	e.log.Info("command", "chat", it.msg.Address.String(), "command", it.msg.Command)
	if it.msg.Command == "schedule" {
		e.onSchedule(ctx, it)
		return
	}
	text, change, err := e.command(ctx, it)
	if err != nil {
		e.log.Error("command failed", "command", it.msg.Command, "err", err)
		text, change = e.say(locale.Internal), nil
	}
	e.reply(ctx, it.row, label(e.settings(), text), change)
}

// command returns the answer to a command and the change that goes with it.
func (e *Engine) command(ctx context.Context, it item) (string, func(*store.Tx) error, error) {
	c, known := commandNamed(it.msg.Command)
	if known && c.owner && !e.owns(it.msg) {
		return e.say(locale.OwnersOnly, c.name), nil, nil
	}
	switch it.msg.Command {
	case "start":
		return e.say(locale.Greeting), nil, nil
	case "help":
		return e.help(it.msg), nil, nil
	case "new":
		return e.say(locale.NewSession), func(tx *store.Tx) error {
			_, err := tx.Sessions().StartSession(it.row.Address)
			lifecycle.CrashPoint("session.starting")
			return err
		}, nil
	case "model":
		return e.chooseModel(ctx, it)
	case "models":
		return e.listModels(), nil, nil
	case "status":
		text, err := e.statusText(ctx, it)
		return text, nil, err
	case "doctor":
		if it.msg.Group {
			return e.say(locale.Privately, c.name), nil, nil
		}
		return e.examine(ctx), nil, nil
	case "mcp":
		if it.msg.Group {
			return e.say(locale.Privately, c.name), nil, nil
		}
		text, err := e.serversText(ctx, it)
		return text, nil, err
	case "heartbeat":
		text, err := e.heartbeat.Text(ctx)
		return text, nil, err
	case "remind":
		text, change := e.schedules.Remind(it.row, it.msg)
		return text, change, nil
	case "memory":
		text, err := e.memoryText(it.msg)
		return text, nil, err
	case "note":
		return e.say(locale.NoteUsage), nil, nil
	case "tool":
		return e.say(locale.ToolUsage, strings.Join(e.toolNames(), ", ")), nil, nil
	}
	return e.say(locale.UnknownCommand, it.msg.Command), nil, nil
}

// memoryText is the core memory, which is the owners'.
func (e *Engine) memoryText(m gateway.Message) (string, error) {
	switch {
	case strings.TrimSpace(m.Args) != "" || !e.owns(m):
		return e.say(locale.MemoryUsage), nil
	case m.Group:
		return e.say(locale.Privately, "memory"), nil
	}
	facts, err := e.memory.CoreAt(recall.PlacesOf(m.Address.Chat.String()))
	if err != nil { // an owner wrote the file, and reads what is wrong with it
		return locale.CodeBlock(e.redact.Text(err.Error())), nil
	}
	text := facts.String()
	if text == "" {
		return e.say(locale.MemoryEmpty), nil
	}
	return locale.CodeBlock(e.redact.Text(text)), nil
}

// owns reports whether the sender is an owner. Who sits at the terminal is one.
func (e *Engine) owns(m gateway.Message) bool {
	return m.Address.Chat.ID == 0 || slices.Contains(e.settings().Owners[m.Address.Chat.Channel], m.Sender.ID)
}

func (e *Engine) help(m gateway.Message) string {
	var b strings.Builder
	b.WriteString(e.say(locale.HelpHead) + "\n")
	for _, c := range commands {
		if !c.owner || e.owns(m) {
			fmt.Fprintf(&b, "\n/%s — %s", c.name, e.say(c.about))
		}
	}
	return b.String()
}

func (e *Engine) chooseModel(ctx context.Context, it item) (string, func(*store.Tx) error, error) {
	models := e.settings().Models
	wanted := strings.TrimSpace(it.msg.Args)
	if wanted == "" {
		var chosen string
		if s, err := e.session(ctx, it.row.Address); err == nil {
			chosen = s.Model
		}
		name, _ := e.settings().Models.For(chosen)
		if name == "" {
			return e.say(locale.ModelsNone), nil, nil
		}
		return e.say(locale.ModelIs, name), nil, nil
	}
	names := models.Names()
	if len(names) == 0 {
		return e.say(locale.ModelsNone), nil, nil
	}
	i := slices.IndexFunc(names, func(n string) bool { return n == wanted || models.Entries[n].Name == wanted })
	if i < 0 {
		return e.say(locale.ModelUnknown, wanted, strings.Join(names, ", ")), nil, nil
	}
	return e.say(locale.ModelSet, names[i]), func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(it.row.Address)
		if err != nil {
			return err
		}
		return tx.Sessions().SetModel(s.ID, names[i])
	}, nil
}

func (e *Engine) listModels() string {
	models := e.settings().Models
	if len(models.Entries) == 0 || models.Default == "" {
		return e.say(locale.ModelsNone)
	}
	var b strings.Builder
	b.WriteString(e.say(locale.ModelsHead))
	for _, name := range models.Names() {
		fmt.Fprintf(&b, "\n  %s (context budget: %d)", name, models.Entries[name].ContextBudget)
	}
	return b.String()
}

func (e *Engine) toolNames() []string {
	var names []string
	for _, t := range e.executor.Registry().All() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// session returns the current session of an address.
func (e *Engine) session(ctx context.Context, a gateway.Address) (s store.Session, err error) {
	err = e.store.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.Sessions().Session(a)
		return err
	})
	return s, err
}

// direct returns the tool call that a command stands for, nil when it is another
// command, an owner's from somebody else, or a misuse. Such a command is a turn
// like any other, so that a crash repeats no effect; only no model is asked.
func (e *Engine) direct(ctx context.Context, it item) *llm.ToolCall {
	c := e.directCall(ctx, it)
	if c != nil && c.Fault == "" && strings.Contains(it.msg.Args, redact.Bars) {
		c.Fault = e.say(locale.SecretLost)
	}
	return c
}

// directCall is direct for a command of which nothing was lost.
func (e *Engine) directCall(ctx context.Context, it item) *llm.ToolCall {
	if c, ok := commandNamed(it.msg.Command); !ok || c.owner && !e.owns(it.msg) {
		return nil
	}
	args := strings.TrimSpace(it.msg.Args)
	switch it.msg.Command {
	case "skills":
		return directedCall("skill_list", map[string]any{})
	case "docs":
		if args == "" {
			return directedCall("docs_list", map[string]any{})
		}
		return directedCall("docs_search", map[string]any{"query": args, "topK": docsShown})
	case "files":
		return directedCall("file_list", map[string]any{"path": cmp.Or(args, "."), "recursive": args == ""})
	case "memory":
		verb, query, _ := strings.Cut(args, " ")
		if query = strings.TrimSpace(query); verb != "search" || query == "" {
			return nil
		}
		return directedCall("memory_search", map[string]any{"query": query, "topK": cmp.Or(e.settings().Memory.TopK, 10)})
	case "note":
		if args == "" {
			return nil
		}
		line := fmt.Sprintf("- %s %s\n", it.msg.Time.In(e.settings().Zone()).Format("2006-01-02 15:04"), args)
		return directedCall("file_write", map[string]any{"path": "notes.md", "content": line, "mode": "append"})
	case "export":
		text, err := e.conversationText(ctx, it.row.Address)
		if err != nil {
			e.log.Error("conversation not read", "err", err)
			return nil
		}
		return directedCall("file_write", map[string]any{"path": exportPath(it), "content": text})
	case "tool":
		return schedule.ToolCall(args)
	}
	return nil
}

// docsShown is how many sections of the manual /docs shows in a chat.
const docsShown = 2

func exportPath(it item) string {
	return fmt.Sprintf("exports/%s-%s.md", it.msg.Address, it.msg.Time.UTC().Format("20060102-150405"))
}

func directedCall(name string, arguments map[string]any) *llm.ToolCall {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings and booleans
	}
	return &llm.ToolCall{Name: name, Arguments: string(b)}
}

// directedAnswer stands in for a model in a turn that a command directs: first
// the call, then its result in words.
func (t *turn) directedAnswer(conv []llm.Message, round int) llm.Message {
	if round == 0 {
		call := *t.directed
		return llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &call}}}
	}
	last := conv[len(conv)-1]
	result := last.Blocks[len(last.Blocks)-1].Result
	text := locale.CodeBlock(cmp.Or(tools.Bare(result.Text), "(no output)"))
	if t.command == "docs" || t.command == "skills" {
		text = tools.Bare(result.Text) // Markdown
	}
	if !result.Failed && t.command == "note" {
		text = locale.Say(t.settings.Language, locale.NoteDone)
	}
	if !result.Failed && t.command == "export" {
		text = locale.Say(t.settings.Language, locale.Exported, writtenPath(t.directed.Arguments))
	}
	return llm.Text(llm.RoleAssistant, text)
}

// writtenPath is the file of a call of file_write.
func writtenPath(arguments string) string {
	var call struct{ Path string }
	if err := json.Unmarshal([]byte(arguments), &call); err != nil {
		return ""
	}
	return call.Path
}

// conversationText is the current conversation of an address as Markdown.
func (e *Engine) conversationText(ctx context.Context, a gateway.Address) (string, error) {
	const everything = -1
	var b strings.Builder
	fmt.Fprintf(&b, "# Conversation %s\n", a)
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(a)
		if err != nil {
			return err
		}
		messages, err := tx.Sessions().History(s.ID, everything)
		for _, m := range messages {
			if text := strings.TrimSpace(m.Body.PlainText()); text != "" {
				who := cmp.Or(m.SenderName, string(m.Body.Role))
				fmt.Fprintf(&b, "\n## %s, %s\n\n%s\n", who, m.At.UTC().Format(time.RFC3339), text)
			}
		}
		return err
	})
	return b.String(), err
}
