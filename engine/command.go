package engine

import (
	"context"
	"strings"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/workspace"
	"klawbot/tools/mcp"
)

// CommandInfo describes a command for a messenger's menu.
type CommandInfo = command.Info

// Commands lists the commands that everybody may use, or all, which owners may use.
func Commands(language string, all bool) []CommandInfo { return command.List(language, all) }

// newCommands makes what answers commands.
func (e *Engine) newCommands(files *workspace.Workspace) *command.Commands {
	running := health.Running{Config: e.config.Base, Store: e.store, Set: e.set, Workspace: files, Around: e.config.Examine}
	return command.New(command.Config{
		Settings: e.settings, Read: e.store.Read, Schedules: e.plans.schedules, Heartbeat: e.plans.heartbeat, Servers: e.set.Servers,
		SignIn: func(m command.Message, server string) {
			e.life.Go(func(ctx context.Context) { e.questions.SignIn(ctx, e.set.Servers, m.Home, m.Sender.ID, server) })
		},
		Status: e.report.text, Examine: running.Doctor,
		Memory: func(chat string) (string, error) {
			facts, err := e.memory.CoreAt(corememory.PlacesOf(chat))
			return facts.String(), err
		},
		Tools: func() (names []string) {
			for _, t := range e.set.Executor.Registry().All() {
				names = append(names, t.Spec().Name)
			}
			return names
		},
		Speaks: toolset.Mouth(e.config.Base).Speaks, Redact: e.config.Redact, Log: e.log,
	})
}

// commandOf is a message as what answers commands takes it.
func commandOf(it chatqueue.Item) command.Message {
	return command.Message{Message: it.Msg, Home: it.Row.Address, ID: it.Row.ID}
}

// toolsChanged tells the owners that the tools of a server differ from those that they
// have approved, once for each difference.
func (c *chats) toolsChanged(ctx context.Context, server string, now []mcp.Definition) {
	names := make([]string, len(now))
	for i, d := range now {
		names[i] = d.Tool
	}
	c.tellOwners(ctx, "mcp/"+server+"/"+command.Fingerprint(now), c.say(locale.MCPChanged, server, strings.Join(names, ", "), server))
}

// signInWanted tells the owners, once a day, that an MCP server needs a sign-in.
func (c *chats) signInWanted(ctx context.Context, server string) {
	day := time.Now().UTC().Format(time.DateOnly)
	c.tellOwners(ctx, "mcp/"+server+"/signin/"+day, c.say(locale.MCPWantsSignIn, server, server))
}
