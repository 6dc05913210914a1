package engine

import (
	"context"
	"slices"

	"klawbot/engine/health"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
)

// CommandInfo describes a command for a messenger's menu.
type CommandInfo = command.Info

// Commands lists the commands that everybody may use.
func Commands(language string) []CommandInfo { return command.List(language) }

// newCommands makes what answers commands.
func (e *Engine) newCommands() *command.Commands {
	return command.New(command.Config{
		Settings: e.settings, Read: e.store.Read, Schedules: e.schedules, Heartbeat: e.heartbeat, Servers: e.set.Servers,
		SignIn: func(m command.Message, server string) {
			e.life.Go(func(ctx context.Context) { e.questions.SignIn(ctx, e.set.Servers, m.Home, m.Sender.ID, server) })
		},
		Status: e.statusText, Examine: health.Running{Config: e.config.Base, Store: e.store, Set: e.set, Workspace: e.workspace, Around: e.config.Examine}.Doctor,
		Memory: func(chat string) (string, error) {
			facts, err := e.memory.CoreAt(recall.PlacesOf(chat))
			return facts.String(), err
		},
		Tools: e.toolNames, Redact: e.redact, Log: e.log,
	})
}

// command is a message as what answers commands takes it.
func (it item) command() command.Message {
	return command.Message{Message: it.msg, Home: it.row.Address, ID: it.row.ID}
}

// obey answers a command that calls no tool.
func (e *Engine) obey(ctx context.Context, it item) {
	r := e.commands.Answer(ctx, it.command())
	change := r.Change
	r.Change = func(tx *store.Tx, r *command.Reply) error {
		if change != nil {
			if err := change(tx, r); err != nil {
				return err
			}
		}
		r.Text = turn.Label(e.settings(), r.Text)
		return nil
	}
	e.reply(ctx, it.row, r)
}

// owns reports whether the sender is an owner. Who sits at the terminal is one.
func (e *Engine) owns(m gateway.Message) bool {
	return m.Address.Chat.ID == 0 || slices.Contains(e.settings().Owners[m.Address.Chat.Channel], m.Sender.ID)
}

func (e *Engine) toolNames() []string {
	var names []string
	for _, t := range e.set.Executor.Registry().All() {
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
