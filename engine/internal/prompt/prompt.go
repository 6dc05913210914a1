// Package prompt decides what a model is shown: the system prompt, as much of the past
// as there is room for, what fits from the memory, and the tools. It sums up what is not
// shown word for word any more. It does not run turns: what was asked comes in, and what
// the model gets goes back.
package prompt

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/estimate"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/quote"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/summary"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/find"
)

// Config is what New needs. All of it is required.
type Config struct {
	Store     *store.Store
	Life      *lifecycle.Lifecycle
	Models    *model.Client
	Settings  func() settings.Settings
	Workspace *workspace.Workspace
	Skills    *workspace.Skills
	Memory    *recall.Memory
	Redact    *redact.Set
	// Gateway knows the bot's name on a channel.
	Gateway *gateway.Gateway
	// LoadsSkill reports whether a tool loads skills, by the name that a model wrote.
	LoadsSkill func(tool string) bool
	Log        *slog.Logger
}

// Builder builds what models are shown.
type Builder struct {
	config    Config
	tokens    *estimate.Tokens
	summaries *summary.Maker
	last      last
	// pasts are what some sessions held, so that only later messages are read.
	pasts [8]atomic.Pointer[store.Past]
}

// New returns a Builder.
func New(c Config) *Builder {
	tokens := estimate.New()
	return &Builder{config: c, tokens: tokens, summaries: summary.New(summary.Config{
		Store: c.Store, Models: c.Models, Settings: c.Settings, Redact: c.Redact, Tokens: tokens, Log: c.Log,
	})}
}

// Learn compares the estimate of a request with what the provider counted.
func (b *Builder) Learn(m model.Candidate, a model.Answer) { b.tokens.Learn(m, a) }

// Input is what a turn wants to ask.
type Input struct {
	// Turn is what the usage of calls beside the turn is noted for.
	Turn     store.TurnID
	Settings settings.Settings
	// Address is where the turn answers. Home is the chat for which it acts, and Places
	// are the parts of the core memory that it sees.
	Address gateway.Address
	// Topic is the name of the topic, "" when it is unknown. It is foreign text.
	Topic  string
	Home   gateway.ChatID
	Places []corememory.Place
	// Model is the name of the model that will be asked, as far as that is known.
	Model string
	// Session is the conversation whose past is shown. With 0 that is History, and
	// nothing is summed up or recalled.
	Session store.SessionID
	History []store.Message
	// Asked is what was asked, which is never cut. Note stands below it.
	Asked []store.Message
	Note  string
	// Tools are those that the turn may call, by name.
	Tools []tools.Tool
	// Directed says that no model will be asked.
	Directed bool
	Log      *slog.Logger
}

// Window is what a model is shown in a turn.
type Window struct {
	// System is the system prompt, the same in the whole turn.
	System string
	// Past comes before Asked; Summed says that it begins with the summary.
	Past, Asked []llm.Message
	Summed      bool
	// First is the first message of the history that is shown.
	First store.MessageID
	Tools []llm.Tool
	// Outside says that it holds what tools brought from outside, Others that it holds
	// what people said who are no owners.
	Outside, Others bool

	builder *Builder
	in      Input
	// shorter is how often it was made shorter for a provider.
	shorter int
	shown   shown
	// read is what was read of the session.
	read store.Past
	// fixed is about what prompt and tools take, in tokens.
	fixed int
}

// keptTokens bounds the past of a session that is kept in memory.
const keptTokens = 16_000

// nothingShown is the first shown message where none is.
const nothingShown = store.MessageID(math.MaxInt64)

// Build chooses what the model of a turn is shown.
func (b *Builder) Build(ctx context.Context, in Input) (*Window, error) {
	w := &Window{builder: b, in: in, Others: b.groupKnows(in)}
	w.Asked = w.dated(in.Asked)
	_, m := in.Settings.Models.For(in.Model)
	w.shown.how = cmp.Or(m.Tools, find.ShowAuto)
	parts := b.sections(in, w.shown.how)
	w.System = parts.String()
	var past store.Past
	if in.Session != 0 {
		var err error
		if past, err = w.begin(ctx); err != nil {
			return nil, err
		}
	}
	w.preselect(ctx)
	w.choose()
	if n := len(w.Asked); n > 0 {
		w.Asked[n-1] = w.withNow(w.Asked[n-1])
		if in.Note != "" {
			w.Asked[n-1].Blocks = append(w.Asked[n-1].Blocks, llm.Block{Text: in.Note})
		}
	}
	if in.Session == 0 {
		w.Past, _ = w.newest(in.History, in.Model, w.room(in.Model)-b.tokens.Messages(w.imagesFor(w.Asked, in.Model)))
	} else if err := w.converse(ctx, past); err != nil {
		return nil, err
	}
	w.Outside = w.Outside || quote.Outside(w.Past) || quote.Outside(w.Asked)
	if !in.Directed {
		b.note(w, parts)
	}
	return w, nil
}

// converse shows the past of the session, summed up when there is no room for it, and
// what fits from the memory.
func (w *Window) converse(ctx context.Context, past store.Past) (err error) {
	fits := w.remember(past, w.in.Model, w.Asked)
	if !fits && !w.builder.summaries.Rests(w.in.Session) && w.compactNow(ctx, w.in.Model, keptShare) {
		if past, err = w.reread(ctx); err != nil {
			return err
		}
		w.remember(past, w.in.Model, w.Asked)
	}
	if text := w.recalled(ctx, past); text != "" {
		last := &w.Asked[len(w.Asked)-1]
		last.Blocks = append(last.Blocks, llm.Block{Text: text})
		w.remember(past, w.in.Model, w.Asked)
	}
	return nil
}

// begin reads what the session holds for a model, and the tools that it has shown.
func (w *Window) begin(ctx context.Context) (past store.Past, err error) {
	before := &w.builder.pasts[w.in.Session%store.SessionID(len(w.builder.pasts))]
	err = w.builder.config.Store.Read(ctx, func(tx *store.Tx) (err error) {
		if past, err = tx.Sessions().Past(w.in.Session, w.in.Settings.ContextWindow, before.Load()); err != nil {
			return err
		}
		kept, err := tx.Sessions().ShownTools(w.in.Session)
		w.shown.resume(kept, past.Summary.ID)
		w.read = past
		return err
	})
	if err != nil {
		return past, fmt.Errorf("read the history: %w", err)
	}
	if w.builder.tokens.Messages(store.Bodies(past.Messages)) < keptTokens {
		before.Store(&past)
	}
	return past, nil
}

// reread reads what the session holds after it was summed up: the request begins in
// another way, so that its tools may, too.
func (w *Window) reread(ctx context.Context) (store.Past, error) {
	past, err := w.begin(ctx)
	if err == nil {
		w.shown.restart(past.Summary.ID)
		w.preselect(ctx)
		w.choose()
	}
	return past, err
}

// remember puts as much of the past into the window as there is room for beside
// the conversation: the summary, and the newest messages. It reports whether all
// of them found room.
func (w *Window) remember(past store.Past, modelName string, conv []llm.Message) (fits bool) {
	messages := past.Messages[min(steps(past.Count, w.in.Settings.ContextWindow), len(past.Messages)):]
	left := w.room(modelName) - w.builder.tokens.Messages(w.imagesFor(conv, modelName))
	w.Past, w.Summed = nil, past.Summary.ID != 0
	if w.Summed {
		w.Past = []llm.Message{summary.Message(past.Summary)}
		left -= w.builder.tokens.Message(w.Past[0])
		w.Outside = w.Outside || past.Summary.Outside
	}
	newest, fits := w.newest(withoutDocuments(w.builder.withoutSkills(messages)), modelName, left)
	w.Past, w.First = append(w.Past, newest...), nothingShown
	if n := len(newest); n > 0 {
		w.First = messages[len(messages)-n].ID
		w.Outside = w.Outside || quote.Outside(store.Bodies(messages[len(messages)-n:]))
		w.Others = w.Others || slices.ContainsFunc(messages[len(messages)-n:], w.fromOthers)
	}
	w.Others = w.Others || w.Summed && w.in.Address.Chat.ID < 0 || slices.ContainsFunc(w.in.Asked, w.fromOthers)
	return fits
}

// withoutDocuments are messages of which people's own have the labels of documents, but
// not their texts.
func withoutDocuments(messages []store.Message) []store.Message {
	messages = slices.Clone(messages)
	for i, m := range messages {
		if m.Body.Role != llm.RoleUser || !tools.HasForeign(m.Body.PlainText()) {
			continue
		}
		messages[i].Body.Blocks = slices.Clone(m.Body.Blocks)
		for j := range messages[i].Body.Blocks {
			b := &messages[i].Body.Blocks[j]
			b.Text = tools.WithoutDocuments(b.Text)
		}
		messages[i].Body.Blocks = slices.DeleteFunc(messages[i].Body.Blocks, func(b llm.Block) bool {
			return b.Image == nil && b.Call == nil && b.Result == nil && strings.TrimSpace(b.Text) == ""
		})
	}
	return messages
}

// fromOthers reports whether somebody else than an owner has a part in a message:
// another person, a run that has put its result into the chat, or somebody whose
// words are passed on in it.
func (w *Window) fromOthers(m store.Message) bool {
	chat := w.in.Address.Chat
	own := chat.Local() || w.in.Settings.Owns(chat.Channel, m.Sender)
	return m.Body.Role == llm.RoleUser && !own || quote.PassesOn(m.Body)
}

// groupKnows reports whether the prompt holds facts that people of a group have
// had stored.
func (b *Builder) groupKnows(in Input) bool {
	return in.Home.ID < 0 && slices.ContainsFunc(in.Places, func(at corememory.Place) bool {
		facts, err := b.config.Memory.CoreAt([]corememory.Place{at})
		return at.Kind != "" && (err != nil || facts.String() != "")
	})
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

// newest is the newest part of the history that takes no more than so many
// tokens. It begins with a message of a person, so that no answer stands there
// without its question and no result without its call. fits says that nothing
// was left out for its length.
func (w *Window) newest(history []store.Message, modelName string, left int) (newest []llm.Message, fits bool) {
	bodies := w.imagesFor(w.dated(history), modelName)
	first := len(history)
	for first > 0 {
		left -= w.builder.tokens.Message(bodies[first-1])
		if left < 0 {
			break
		}
		first--
	}
	fits = first == 0
	for first < len(history) && history[first].Body.Role != llm.RoleUser {
		first++
	}
	return bodies[first:], fits
}

// room is how many tokens the messages of a request to a model may take.
func (w *Window) room(modelName string) int {
	name, m := w.builder.config.Settings().Models.For(modelName)
	return w.builder.tokens.Room(model.Candidate{Name: name, Model: m}, w.fixed)
}

// sections are the system prompt: that of the workspace, which knows the bot's name on
// the channel, with the skills that there are and some parts of the core memory.
type sections struct{ instructions, skills, memory string }

func (s sections) String() string {
	text := s.instructions
	for _, more := range []string{s.skills, s.memory} {
		if more != "" {
			text += "\n\n" + more
		}
	}
	return text
}

// sections are the parts of the system prompt. A model that sees few tools reads of no
// skills.
func (b *Builder) sections(in Input, show string) (s sections) {
	s.instructions = b.config.Workspace.Prompt(b.config.Gateway.HealthOf(in.Address.Chat.Channel).Name)
	if show != find.ShowFew {
		s.skills = b.config.Skills.Index()
	}
	facts, err := b.config.Memory.CoreAt(in.Places)
	if err != nil {
		b.config.Log.Warn("core memory not read", "err", err)
	}
	if known := facts.String(); known != "" {
		s.memory = "## Core Memory\n\n" + known
	}
	return s
}

// dated are messages of which those of people say when they were sent: "tomorrow" in one
// that waited is the day after that. The same message always reads the same, so that
// providers find it in their caches.
func (w *Window) dated(messages []store.Message) []llm.Message {
	bodies := store.Bodies(messages)
	for i, m := range messages {
		if m.Body.Role == llm.RoleUser && !m.At.IsZero() {
			bodies[i] = noted(m.Body, "sent: "+m.At.In(w.in.Settings.Zone()).Format("2006-01-02 15:04 Monday"))
		}
	}
	return bodies
}

// noted is a message with a note below it.
func noted(m llm.Message, note string) llm.Message {
	return llm.Message{Role: m.Role, Blocks: append(m.Blocks[:len(m.Blocks):len(m.Blocks)], llm.Block{Text: "(" + note + ")"})}
}

// withNow adds what changes from minute to minute to the last message, where
// it does not spoil the provider's cache of the rest.
func (w *Window) withNow(m llm.Message) llm.Message {
	zone := w.in.Settings.Zone()
	name := zone.String()
	if name == time.Local.String() {
		name = time.Now().In(zone).Format("UTC-07:00")
	}
	note := fmt.Sprintf("now: %s; this chat: %s", time.Now().In(zone).Format("2006-01-02 15:04 Monday ")+name, w.in.Address.Chat)
	if w.in.Address.Thread != 0 {
		note += fmt.Sprintf(", topic %d", w.in.Address.Thread)
	}
	if w.in.Topic != "" {
		note += fmt.Sprintf(" (%q)", clip.Name(w.in.Topic))
	}
	if sender := w.in.Asked[len(w.in.Asked)-1].SenderName; sender != "" {
		note += fmt.Sprintf("; sender: %q", clip.Name(sender))
	}
	return noted(m, note)
}
