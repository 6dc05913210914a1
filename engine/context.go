package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// minBudget is the least that a request may have when the configuration
	// does not say.
	minBudget = 4000
	// budgetMargin is the share of the budget that is used: estimates err.
	budgetMargin = 0.9
	// nameLength cuts what people call themselves: it is foreign text.
	nameLength = 64
)

// conversation is what the model gets: as much of the history of this session
// as fits, newest last, and then everything that was asked, which is never cut.
func (t *turn) conversation(ctx context.Context) ([]llm.Message, error) {
	if t.job != nil {
		return t.runConversation(ctx)
	}
	var history []store.Message
	err := t.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		history, err = tx.History(t.row.Session, t.settings.ContextWindow)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	asked := make([]llm.Message, len(t.asked))
	for i, m := range t.asked {
		asked[i] = m.Body
	}
	if n := len(asked); n > 0 {
		asked[n-1] = t.withNow(asked[n-1])
	}
	return append(t.window(t.e.withoutSkills(history), asked), asked...), nil
}

// window is the part of the history that fits into the budget beside the rest
// of the request. It begins with a message of a person, so that no answer
// stands there without its question and no result without its call.
func (t *turn) window(history []store.Message, asked []llm.Message) []llm.Message {
	_, model := t.e.modelFor(t.row.Model)
	left := int(float64(max(model.ContextBudget, minBudget))*budgetMargin) - model.MaxTokens - llm.EstimateRequest(llm.Request{
		System: t.e.prompt(t.row.Address.Channel), Messages: asked, Tools: t.offered(),
	})
	first := len(history)
	for first > 0 {
		left -= llm.EstimateMessage(history[first-1].Body)
		if left < 0 {
			break
		}
		first--
	}
	for first < len(history) && history[first].Body.Role != llm.RoleUser {
		first++
	}
	window := make([]llm.Message, 0, len(history)-first+len(asked))
	for _, m := range history[first:] {
		window = append(window, m.Body)
	}
	return window
}

// prompt is the system prompt for a channel, which knows the bot's name there,
// with the skills that there are.
func (e *Engine) prompt(channel string) string {
	prompt := e.workspace.Prompt(e.health(channel).Name)
	if index := e.skills.Index(); index != "" {
		prompt += "\n\n" + index
	}
	return prompt
}

// health is how a channel fares, zero for one that is not on.
func (e *Engine) health(channel string) gateway.Health {
	for _, h := range e.gateway.Health() {
		if h.Channel == channel {
			return h
		}
	}
	return gateway.Health{}
}

// withNow adds what changes from minute to minute to the last message, where
// it does not spoil the provider's cache of the rest.
func (t *turn) withNow(m llm.Message) llm.Message {
	zone := t.settings.Location
	if zone == nil {
		zone = time.UTC
	}
	to := reachable(t.row.Address)
	name := zone.String()
	if name == time.Local.String() {
		name = time.Now().In(zone).Format("UTC-07:00")
	}
	note := fmt.Sprintf("(now: %s; this chat: %s)", time.Now().In(zone).Format("2006-01-02 15:04 Monday ")+name, to.Chat)
	return llm.Message{Role: m.Role, Blocks: append(m.Blocks[:len(m.Blocks):len(m.Blocks)], llm.Block{Text: note})}
}

// askedMessages are the messages of a turn as the model and the history get
// them: one user message for each that a person wrote, where the pieces of a
// text that a client has cut are one.
func askedMessages(items []item) []store.Message {
	var asked []store.Message
	for i, it := range items {
		if i > 0 && continues(items[i-1], it) {
			last := &asked[len(asked)-1].Body
			last.Blocks[0].Text += it.msg.Text
			continue
		}
		asked = append(asked, store.Message{
			Body:   llm.Text(llm.RoleUser, asModelReads(it.msg)),
			Sender: it.msg.Sender.ID, SenderName: it.msg.Sender.Name, At: it.msg.Time,
		})
	}
	return asked
}

// asModelReads is a message with what stands around it: who wrote it, where a
// group leaves that open, what it answers, where it was forwarded from. Names
// and quotes are foreign text and are set as data.
func asModelReads(m gateway.Message) string {
	var b strings.Builder
	if m.Reply != nil {
		author := asName(m.Reply.Author)
		if m.Reply.Own {
			author = "you"
		}
		fmt.Fprintf(&b, "[in reply to %s: %q]\n", author, m.Reply.Text)
	}
	if m.Forwarded != "" {
		fmt.Fprintf(&b, "[forwarded from %s]\n", asName(m.Forwarded))
	}
	if m.Group {
		fmt.Fprintf(&b, "[%s] ", asName(m.Sender.Name))
	}
	b.WriteString(m.Text)
	return b.String()
}

// asName makes a foreign name fit for one line: no control or format
// characters, no brackets, not too long.
func asName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '[' || r == ']' {
			return -1
		}
		return r
	}, name)
	if runes := []rune(clean); len(runes) > nameLength {
		clean = string(runes[:nameLength]) + "…"
	}
	if strings.TrimSpace(clean) == "" {
		return "somebody"
	}
	return clean
}
