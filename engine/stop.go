package engine

import (
	"context"
	"fmt"
	"strings"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/command"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// stop drops what waits at an address, cancels its turn and says so once.
func (e *Engine) stop(ctx context.Context, it chatqueue.Item) {
	dropped, running := e.queues.Stop(it.Row.Address)
	if len(dropped) > 0 {
		e.dropStopped(ctx, dropped)
	}
	subagents := e.plans.runs.StopSubagents(ctx, it.Row.Address)
	e.log.Info("stop", "chat", it.Msg.Address.String(), "running", running, "dropped", len(dropped), "subagents", subagents)
	behind := background(e.config, it.Msg.Address.Chat, e.say)
	text := e.say(locale.NothingRuns)
	switch {
	case len(dropped) > 0:
		text = e.say(locale.StoppedDropped, len(dropped))
	case running || subagents > 0:
		text = e.say(locale.Stopped)
	case behind != "":
		text = ""
	}
	if subagents > 0 {
		text += " " + e.say(locale.StoppedSubagents, subagents)
	}
	e.reply(ctx, it.Row, command.Reply{Text: strings.TrimSpace(text + "\n" + behind)})
}

// dropStopped ends messages that /stop has taken out of their chat queue.
func (e *Engine) dropStopped(ctx context.Context, items []chatqueue.Item) {
	e.endUpdates(context.WithoutCancel(ctx), store.InboxDone, "dropped by /stop", chatqueue.Rows(items)...)
}

// background lists the commands that run in the background of a chat and how to end
// the first, "" when there are none. /stop leaves them alone: a command is started in
// the background to outlive the turn.
func background(c Config, chat gateway.ChatID, say func(locale.Phrase, ...any) string) string {
	if c.Background == nil {
		return ""
	}
	ids, commands := c.Background(chat.String())
	if len(ids) == 0 {
		return ""
	}
	var lines []string
	for i, id := range ids {
		lines = append(lines, id+": "+commands[i])
	}
	end := fmt.Sprintf(`/tool shell_manage {"action": "kill", "id": %q}`, ids[0])
	return say(locale.Background, locale.CodeBlock(c.Redact.Text(strings.Join(lines, "\n"))), locale.CodeBlock(end))
}
