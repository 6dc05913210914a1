package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
)

// Direct returns the tool call of a command, nil when it has none, is misused, or is an
// owner command from another user. Such a command is a turn without a model, so that a
// crash repeats no effect.
func (c *Commands) Direct(ctx context.Context, m Message) *llm.ToolCall {
	call := c.direct(ctx, m)
	if call != nil && call.Fault == "" && strings.Contains(m.Args, redact.Bars) {
		call.Fault = c.say(locale.SecretLost)
	}
	return call
}

// direct is Direct without the check for lost secrets.
func (c *Commands) direct(ctx context.Context, m Message) *llm.ToolCall {
	if one, ok := named(m.Command); !ok || one.owner && !c.owns(m) {
		return nil
	}
	args := strings.TrimSpace(m.Args)
	switch m.Command {
	case "skills":
		return callOf("skill_list", map[string]any{})
	case "docs":
		if args == "" {
			return callOf("docs_list", map[string]any{})
		}
		return callOf("docs_search", map[string]any{"query": args, "topK": docsShown})
	case "files":
		return callOf("file_list", map[string]any{"path": cmp.Or(args, "."), "recursive": args == ""})
	case "memory":
		verb, query, _ := strings.Cut(args, " ")
		if query = strings.TrimSpace(query); verb != "search" || query == "" {
			return nil
		}
		return callOf("memory_search", map[string]any{"query": query, "topK": cmp.Or(c.Settings().Memory.TopK, 10)})
	case "note":
		if args == "" {
			return nil
		}
		line := fmt.Sprintf("- %s %s\n", m.Time.In(c.Settings().Zone()).Format("2006-01-02 15:04"), args)
		return callOf("file_write", map[string]any{"path": "notes.md", "content": line, "mode": "append"})
	case "export":
		text, err := c.conversation(ctx, m.Home)
		if err != nil {
			c.Log.Error("conversation not read", "err", err)
			return nil
		}
		return callOf("file_write", map[string]any{"path": exportPath(m, c.Settings().Zone()), "content": text})
	case "tool":
		return schedule.ToolCall(args)
	}
	return nil
}

// docsShown is how many sections of the manual /docs shows in a chat.
const docsShown = 2

func exportPath(m Message, zone *time.Location) string {
	return fmt.Sprintf("exports/%s-%s.md", m.Address, m.Time.In(zone).Format("20060102-150405"))
}

func callOf(name string, arguments map[string]any) *llm.ToolCall {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings, numbers and booleans always encode
	}
	return &llm.ToolCall{Name: name, Arguments: string(b)}
}

// DirectedAnswer replaces the model in the turn of such a command: first the call, then
// its result as text.
func DirectedAnswer(language, command string, call llm.ToolCall, conv []llm.Message, round int) llm.Message {
	if round == 0 {
		return llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Call: &call}}}
	}
	last := conv[len(conv)-1]
	result := last.Blocks[len(last.Blocks)-1].Result
	text := locale.CodeBlock(cmp.Or(tools.Bare(result.Text), "(no output)"))
	switch {
	case command == "docs" || command == "skills":
		text = tools.Bare(result.Text) // Markdown
	case !result.Failed && command == "note":
		text = locale.Say(language, locale.NoteDone)
	case !result.Failed && command == "export":
		text = locale.Say(language, locale.Exported, writtenPath(call.Arguments))
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

// conversation is the current conversation of an address as Markdown.
func (c *Commands) conversation(ctx context.Context, a gateway.Address) (string, error) {
	const everything = -1
	var b strings.Builder
	fmt.Fprintf(&b, "# Conversation %s\n", a)
	err := c.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Sessions().Session(a)
		if err != nil {
			return err
		}
		messages, err := tx.Sessions().History(s.ID, everything)
		for _, m := range messages {
			if text := strings.TrimSpace(m.Body.PlainText()); text != "" {
				who := cmp.Or(m.SenderName, string(m.Body.Role))
				fmt.Fprintf(&b, "\n## %s, %s\n\n%s\n", who, m.At.In(c.Settings().Zone()).Format("2006-01-02 15:04:05"), text)
			}
		}
		return err
	})
	return b.String(), err
}
