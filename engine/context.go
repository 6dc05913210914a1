package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

const (
	// minBudget is the least that a request may have when the configuration
	// does not say.
	minBudget = 4000
	// budgetMargin is the share of the budget that is used: estimates err.
	budgetMargin = 0.9
)

// conversation is everything that was asked, which is never cut. What the model
// gets of the past before it stands in t.past then.
func (t *turn) conversation(ctx context.Context) ([]llm.Message, error) {
	t.others = t.others || t.groupKnows()
	if t.job != nil {
		return t.runConversation(ctx)
	}
	asked := make([]llm.Message, len(t.asked))
	for i, m := range t.asked {
		asked[i] = m.Body
	}
	if n := len(asked); n > 0 {
		asked[n-1] = t.withNow(asked[n-1])
	}
	past, err := t.readPast(ctx)
	if err != nil {
		return nil, err
	}
	fits := t.remember(past, asked)
	if !fits && !t.e.compactor.rests(t.row.Session) && t.compactAtOnce(ctx, keptShare) {
		if past, err = t.readPast(ctx); err != nil {
			return nil, err
		}
		t.remember(past, asked)
	}
	if text := t.recalled(ctx, past); text != "" {
		last := &asked[len(asked)-1]
		last.Blocks = append(last.Blocks, llm.Block{Text: text})
		t.remember(past, asked)
	}
	return asked, nil
}

// readPast reads what the session holds for a model.
func (t *turn) readPast(ctx context.Context) (past store.Past, err error) {
	err = t.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		past, err = tx.Sessions().Past(t.row.Session, t.settings.ContextWindow)
		return err
	})
	if err != nil {
		return past, fmt.Errorf("read the history: %w", err)
	}
	return past, nil
}

// remember puts as much of the past into the request as there is room for beside
// what was asked: the summary, and the newest messages. It reports whether all
// of the window found room.
func (t *turn) remember(past store.Past, asked []llm.Message) (fits bool) {
	messages := past.Messages[min(steps(past.Count, t.settings.ContextWindow), len(past.Messages)):]
	left := t.room()
	for _, m := range asked {
		left -= t.e.estimates.message(m)
	}
	t.past, t.summed = nil, past.Summary.ID != 0
	if t.summed {
		t.past = []llm.Message{summaryMessage(past.Summary)}
		left -= t.e.estimates.message(t.past[0])
		t.heard = t.heard || past.Summary.Outside
	}
	window, fits := t.window(t.e.withoutSkills(messages), left)
	t.past, t.first = append(t.past, window...), nothingShown
	if n := len(window); n > 0 {
		t.first = messages[len(messages)-n].ID
		t.others = t.others || slices.ContainsFunc(messages[len(messages)-n:], t.fromOthers)
	}
	t.others = t.others || t.summed && isGroup(t.row) || slices.ContainsFunc(t.asked, t.fromOthers)
	return fits
}

// fromOthers reports whether somebody else than an owner has a part in a message:
// another person, a run that has put its result into the chat, or somebody whose
// words are passed on in it.
func (t *turn) fromOthers(m store.Message) bool {
	own := t.row.Address.Chat.Local() || t.settings.Owns(t.row.Address.Chat.Channel, m.Sender)
	return m.Body.Role == llm.RoleUser && !own || passesOn(m.Body)
}

// passesOn reports whether a message holds words of somebody else than its sender:
// what it answers or forwards, or what a tool has found.
func passesOn(m llm.Message) bool {
	if m.Role == llm.RoleUser {
		for line := range strings.Lines(m.PlainText()) {
			if !strings.HasPrefix(line, replyMark+itself+": ") {
				return strings.HasPrefix(line, replyMark) || strings.HasPrefix(line, forwardMark)
			}
		}
	}
	return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil && b.Result.Others })
}

// holdsOthers reports whether a message of a private chat, 0 for a local one, holds words
// of somebody else than its person.
func holdsOthers(m store.Message, chat int64) bool {
	return passesOn(m.Body) || m.Body.Role == llm.RoleUser && chat != 0 && m.Sender != chat
}

// groupKnows reports whether the prompt holds facts that people of a group have
// had stored.
func (t *turn) groupKnows() bool {
	if t.home().Chat.ID >= 0 {
		return false
	}
	for _, at := range t.corePlaces() {
		if facts, err := t.e.memory.CoreAt([]corememory.Place{at}); at.Kind != "" && (err != nil || facts.String() != "") {
			return true
		}
	}
	return false
}

// steps is how many of the oldest messages that were read are left out, so that
// the window moves in steps and not with every turn: providers charge less for a
// request that begins like the one before. There are count messages, of which at
// most window were read.
func steps(count, window int) int {
	over := count - window
	if over <= 0 {
		return 0
	}
	step := max(window/4, 1)
	return (step - over%step) % step
}

// window is the newest part of the history that takes no more than so many
// tokens. It begins with a message of a person, so that no answer stands there
// without its question and no result without its call. fits says that nothing
// was left out for its length.
func (t *turn) window(history []store.Message, left int) (window []llm.Message, fits bool) {
	first := len(history)
	for first > 0 {
		left -= t.e.estimates.message(history[first-1].Body)
		if left < 0 {
			break
		}
		first--
	}
	fits = first == 0
	for first < len(history) && history[first].Body.Role != llm.RoleUser {
		first++
	}
	return bodies(history[first:]), fits
}

// room is how many tokens the messages of a request to the turn's model may take.
func (t *turn) room() int {
	name, m := t.e.settings().Models.For(t.row.Model)
	return t.e.estimates.room(model.Candidate{Name: name, Model: m}, t.fixed())
}

// fixed is about what the system prompt and the tools take.
func (t *turn) fixed() int {
	if t.overhead == 0 {
		t.overhead = t.e.estimates.fixed(t.system(), t.offered())
	}
	return t.overhead
}

// system is the system prompt, the same in the whole turn.
func (t *turn) system() string {
	if t.prompt == "" {
		t.prompt = t.e.prompt(t.row.Address.Chat.Channel, t.corePlaces())
	}
	return t.prompt
}

// prompt is the system prompt for a channel, which knows the bot's name there,
// with the skills that there are and some parts of the core memory.
func (e *Engine) prompt(channel string, places []corememory.Place) string {
	prompt := e.workspace.Prompt(e.gateway.HealthOf(channel).Name)
	if index := e.skills.Index(); index != "" {
		prompt += "\n\n" + index
	}
	facts, err := e.memory.CoreAt(places)
	if err != nil {
		e.log.Warn("core memory not read", "err", err)
	}
	if known := facts.String(); known != "" {
		prompt += "\n\n## Core Memory\n\n" + known
	}
	return prompt
}

// withNow adds what changes from minute to minute to the last message, where
// it does not spoil the provider's cache of the rest.
func (t *turn) withNow(m llm.Message) llm.Message {
	zone := t.settings.Location
	if zone == nil {
		zone = time.UTC
	}
	to := t.row.Address
	name := zone.String()
	if name == time.Local.String() {
		name = time.Now().In(zone).Format("UTC-07:00")
	}
	note := fmt.Sprintf("now: %s; this chat: %s", time.Now().In(zone).Format("2006-01-02 15:04 Monday ")+name, to.Chat)
	if n := len(t.asked); n > 0 && t.asked[n-1].SenderName != "" {
		note += fmt.Sprintf("; sender: %q", clip.Name(t.asked[n-1].SenderName))
	}
	return llm.Message{Role: m.Role, Blocks: append(m.Blocks[:len(m.Blocks):len(m.Blocks)], llm.Block{Text: "(" + note + ")"})}
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

// withAuthors are messages of which those of owners say when they answer words of the
// bot that are no answer to owners: another chat may have had the bot send them.
func withAuthors(ctx context.Context, e *Engine, items []item) []item {
	items = slices.Clone(items)
	for i, it := range items {
		if q := it.msg.Reply; q != nil && q.Own && q.ID != 0 && e.owns(it.msg) && !answeredOwners(ctx, e, it.row.Address, q.ID) {
			items[i].msg.Reply = &gateway.Quote{Author: itself + ", for somebody else", Text: q.Text}
		}
	}
	return items
}

// answeredOwners reports whether a message of the bot is known to answer owners alone.
func answeredOwners(ctx context.Context, e *Engine, at gateway.Address, message int64) bool {
	var asked []store.Update
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		outs, err := tx.Outbox().OutsOf(at, message)
		for _, o := range outs {
			var turn store.TurnID
			if _, other := fmt.Sscanf(o.Key, "turn/%d/", &turn); other == nil && err == nil {
				asked, err = tx.Inbox().TurnUpdates(turn)
			}
		}
		return err
	})
	return err == nil && len(asked) > 0 && !slices.ContainsFunc(asked, func(u store.Update) bool { return !e.settings().Owns(at.Chat.Channel, u.From) })
}

// What asModelReads sets before the words of somebody else, and what it calls the
// bot there.
const (
	replyMark   = "[in reply to "
	forwardMark = "[forwarded from "
	itself      = "you"
)

// asModelReads is a message with what stands around it: who wrote it, where a
// group leaves that open, what it answers, where it was forwarded from. Names
// and quotes are foreign text and are set as data.
func asModelReads(m gateway.Message) string {
	var b strings.Builder
	if m.Reply != nil {
		author := clip.Name(m.Reply.Author)
		switch {
		case m.Reply.Own:
			author = itself
		case author == itself || strings.HasPrefix(author, itself+":"):
			author = clip.Nobody // whatever they call themselves
		}
		fmt.Fprintf(&b, replyMark+"%s: %q]\n", author, m.Reply.Text)
	}
	if m.Forwarded != "" {
		fmt.Fprintf(&b, forwardMark+"%s]\n", clip.Name(m.Forwarded))
	}
	if m.Group {
		fmt.Fprintf(&b, "[%s] ", clip.Name(m.Sender.Name))
	}
	b.WriteString(m.Text)
	return b.String()
}

// corePlaces are those that the turn sees: what its chat sees, unless its answer
// goes to another one.
func (t *turn) corePlaces() []corememory.Place {
	home := t.home()
	if t.job != nil && !sameChat(home, t.e.outbox.Now(workplace(t.job.job))) {
		return recall.PlacesOf("")
	}
	return recall.PlacesOf(home.Chat.String())
}
