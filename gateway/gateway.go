// Package gateway connects messengers and enforces the allow list: messages of allowed
// chats come in, replies go out, and nothing passes without it.
//
// Its shape is net/http's. A Channel speaks with one messenger, a Handler
// answers; Serve connects them. On the way in a Channel hands raw updates to
// Accept and acknowledges them to its messenger only after Accept returned nil,
// which a Handler does only when they are stored. On the way out Send and Edit
// take exactly one rendered Part. The gateway decides who may pass; it never
// looks into what is said, keeps no queue and stores nothing.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"klawbot/internal/clip"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// Accept takes updates over. It returns nil only when they are stored; until
// then the messenger must not be told that they arrived. It may be called from
// several goroutines.
type Accept func(context.Context, []Update) error

// Handler answers what comes in.
type Handler interface {
	// Accept stores the updates in one transaction, in the given order, and
	// returns. It does not wait for answers. Updates that it has seen before
	// are no error.
	Accept(ctx context.Context, updates []Update) error
}

// Doorkeeper is a Handler that is told who wrote without being allowed to.
type Doorkeeper interface {
	// Knocked is told of chats, each at most once a minute. What they said is dropped.
	Knocked(ctx context.Context, knocks []Knock)
}

// Channel speaks with one messenger. All methods but Serve may be called at
// any time and from several goroutines, also before Serve.
type Channel interface {
	// Name is the channel's name in ids, "telegram".
	Name() string
	// Serve receives updates until ctx ends and then returns nil. It returns
	// an error only when the channel can never work again (a revoked token).
	Serve(ctx context.Context, accept Accept) error
	// Decode reads an update, live or stored long ago. It does no I/O.
	Decode(Update) (Message, error)
	// Render turns Markdown into the fewest parts that the messenger takes,
	// at least one for text that is not blank. It is pure.
	Render(markdown string) []Part
	// Send delivers one part and returns the new message's id. It waits for
	// the chat's pace. The error is a *SendError or ctx's.
	Send(ctx context.Context, to Address, p Part) (int64, error)
	// Edit replaces a message. It is idempotent. Errors are as of Send.
	Edit(ctx context.Context, to Address, id int64, p Part) error
	// Delete removes a message of the bot; one that is gone is no error.
	Delete(ctx context.Context, to Address, id int64) error
	// Health reports how the channel fares, without I/O.
	Health() Health
}

// Typer is a Channel that can show that the bot is at work.
type Typer interface {
	// Typing shows it for some seconds. It never waits for the pace.
	Typing(ctx context.Context, to Address) error
}

// Worker is a Channel that can show what the bot is doing.
type Worker interface {
	// Work says what the bot does for a chat from now on, until the next call. It is
	// shown at once or not at all, and stored nowhere: it never waits for a reader.
	Work(ctx context.Context, to Address, w Work) error
}

// Pacer is a Channel that must not send too fast. Taking the place first lets the
// sender write down that it sends only when it does.
type Pacer interface {
	// Pace waits until a part may leave for the chat and takes its place. The
	// error is a *SendError or ctx's.
	Pace(ctx context.Context, to Address) error
}

// Starter is a Channel that must learn something before Decode can be trusted,
// such as the bot's own name.
type Starter interface {
	// Ready is closed when Decode can be trusted. Accept may be called before
	// that; the Handler stores then and decodes later.
	Ready() <-chan struct{}
}

// Answerer is a Channel with buttons.
type Answerer interface {
	// Answer acknowledges a button press, with a short text to show, or none.
	Answer(ctx context.Context, query, text string) error
}

// Keyed is a Channel that shows parts with the same Key once, however often they are sent.
// It also takes an Edit of a message that it does not have: then it shows it.
type Keyed interface {
	// Keyed does nothing.
	Keyed()
}

// Drafter is a Channel that can show an answer while it grows without sending a
// message.
type Drafter interface {
	// Draft shows p as what the bot is about to say, for half a minute or until
	// the next message; a blank text says only that it thinks. The id, not 0,
	// stays the same while one answer grows. It never waits for the pace. The
	// error is a *SendError: Busy when there is no room now, Rejected when this
	// chat or this server knows no drafts.
	Draft(ctx context.Context, to Address, id int64, p Part) error
}

// Config is what New needs.
type Config struct {
	// Channels in the order of the start table. At least one.
	Channels []Channel
	// Whitelist is asked for the list as it is now. Required.
	Whitelist func() whitelist.List
	// Migrated puts the new id of a listed chat in the place of its old one, in
	// what Whitelist returns from now on and in what is kept. It is also called
	// for a chat that was moved before, which changes nothing. Nil: the new id
	// has to be listed by hand after the next start.
	Migrated func(chat ChatID, to int64)
	// Redact holds the known secrets, which no message shows. Nil: only what has
	// the shape of one is kept back.
	Redact *redact.Set
	// Replicated returns when another host could continue from what was stored so far;
	// see Gateway.Replicated. Nil: there is none.
	Replicated func(context.Context) error
	// Log is required.
	Log *slog.Logger
}

// Gateway is the only way in and out.
type Gateway struct {
	channels  []Channel
	byName    map[string]Channel
	whitelist func() whitelist.List
	migrated  func(ChatID, int64)
	moves     moves
	unknown   unknownSenders
	secrets   *redact.Set
	durable   func(context.Context) error
	log       *slog.Logger
}

// New checks the configuration and returns a Gateway that is ready.
func New(c Config) (*Gateway, error) {
	g := &Gateway{channels: c.Channels, byName: map[string]Channel{}, whitelist: c.Whitelist, migrated: c.Migrated, secrets: cmp.Or(c.Redact, new(redact.Set)), durable: c.Replicated, log: c.Log}
	g.unknown = unknownSenders{log: c.Log, last: map[ChatID]time.Time{}, knocks: map[ChatID]*knocking{}, counts: map[string]*atomic.Int64{}}
	for _, ch := range c.Channels {
		if g.byName[ch.Name()] != nil {
			return nil, fmt.Errorf("channel %q is there twice", ch.Name())
		}
		g.byName[ch.Name()] = ch
		g.unknown.counts[ch.Name()] = new(atomic.Int64)
	}
	if len(c.Channels) == 0 {
		return nil, errors.New("no channel set up; run klawbot init, or set channels.telegram.token or channels.console.enabled")
	}
	return g, nil
}

// Serve runs every channel until ctx ends. A channel that stops for good leaves
// the others running; the error of the last one ends Serve.
func (g *Gateway) Serve(ctx context.Context, h Handler) error {
	var group errgroup.Group
	var alive atomic.Int64
	alive.Store(int64(len(g.channels)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, ch := range g.channels {
		group.Go(func() error {
			err := ch.Serve(ctx, func(ctx context.Context, updates []Update) error {
				kept, knocks := g.admit(updates)
				if keeper, ok := h.(Doorkeeper); ok && len(knocks) > 0 {
					keeper.Knocked(ctx, knocks)
				}
				if err := h.Accept(ctx, kept); err != nil || len(kept) == 0 {
					return err
				}
				return g.Replicated(ctx)
			})
			if err == nil || ctx.Err() != nil {
				return nil
			}
			g.log.Error("channel stopped", "channel", ch.Name(), "err", err)
			if alive.Add(-1) == 0 {
				return fmt.Errorf("%s: %w", ch.Name(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// admit keeps what the allow list lets in, and tells which other chats wrote.
func (g *Gateway) admit(updates []Update) (kept []Update, knocks []Knock) {
	kept = make([]Update, 0, len(updates))
	for _, u := range updates {
		if err := g.admissible(u); err != nil {
			g.unknown.block(u, g.nameOf, err)
			if g.listed(u.Address.Chat) != nil {
				knocks = g.unknown.knock(knocks, u, g.Decode)
			}
			continue
		}
		if u.Fault == "" {
			// What follows may come from the new id already.
			g.moves.note(u.Address.Chat, u.MovedTo)
		}
		kept = append(kept, u)
	}
	return kept, knocks
}

// admissible checks an update that has just come. One that could not be read is
// stored as a dead row, so that nothing is lost, unless its chat is known and not listed.
func (g *Gateway) admissible(u Update) error {
	switch {
	case u.Fault == "":
		return g.Allowed(u)
	case u.Address.Chat.ID != 0:
		return g.listed(u.Address.Chat)
	}
	return nil
}

// Allowed checks the allow list as it is now for an update that was stored: nil, or
// why it may not come in any more. The messenger itself says that a chat moved, so the
// sender does not count; the old or the new id must be listed. What came from the old
// id is let in by the new one.
func (g *Gateway) Allowed(u Update) error {
	if u.MovedTo != 0 {
		if err := g.listed(u.Address.Chat); err == nil {
			return nil
		}
		return g.listed(ChatID{u.Channel, u.MovedTo})
	}
	list, source := g.whitelist(), u.source()
	err := list.In(source)
	if err == nil {
		return nil
	}
	if old, moved := g.moves.from(u.Address.Chat); moved {
		source.Chat = old
		return list.In(source)
	}
	if to, moved := g.moves.to(u.Address.Chat); moved {
		source.Chat = to
		return list.In(source)
	}
	return err
}

// listed reports whether the allow list lets a message leave for the chat.
func (g *Gateway) listed(chat ChatID) error {
	list := g.whitelist()
	err := list.Out(chat.Channel, chat.ID)
	if old, moved := g.moves.from(chat); err != nil && moved {
		return list.Out(chat.Channel, old)
	}
	return err
}

// Reachable reports whether a message may leave for the chat: nil, or why not.
func (g *Gateway) Reachable(chat ChatID) error {
	if err := g.listed(chat); err != nil {
		return err
	}
	if g.byName[chat.Channel] == nil {
		return fmt.Errorf("channel %q is not on", chat.Channel)
	}
	return nil
}

// Decode reads an update with its channel.
func (g *Gateway) Decode(u Update) (Message, error) {
	ch := g.byName[u.Channel]
	if ch == nil {
		return Message{}, fmt.Errorf("channel %q is not on", u.Channel)
	}
	return ch.Decode(u)
}

// nameOf is what the sender of an update calls itself, empty when it is unknown.
func (g *Gateway) nameOf(u Update) string {
	m, err := g.Decode(u)
	if err != nil {
		return ""
	}
	return m.Sender.Name
}

// Ready is closed when the channel can decode everything, stored updates too.
func (g *Gateway) Ready(channel string) <-chan struct{} {
	if s, ok := g.byName[channel].(Starter); ok {
		return s.Ready()
	}
	return always
}

// always is the Ready of channels that need no start.
var always = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Render turns Markdown into parts for the channel, without the secrets that the
// rendered text would show. For a channel that is not on it returns none.
func (g *Gateway) Render(channel, markdown string) []Part {
	if ch := g.byName[channel]; ch != nil {
		return masked(g.secrets, ch.Render(markdown))
	}
	return nil
}

// Pace waits until a part may leave for a listed chat and takes its place; the
// part then goes with Paced set.
func (g *Gateway) Pace(ctx context.Context, to Address) error {
	p, err := able[Pacer](g, to)
	if err != nil || p == nil {
		return err
	}
	return p.Pace(ctx, to)
}

// SendWithin is how long one call to a messenger may take.
const SendWithin = 30 * time.Second

// Replicated is called between storing something and its effect outside. Where a second
// host stands by, it returns when that host could continue from there, or an error when
// that host may have taken over: then the effect must not happen.
func (g *Gateway) Replicated(ctx context.Context) error {
	if g.durable == nil {
		return nil
	}
	return g.durable(ctx)
}

// Send delivers one part to a listed chat and returns the new message's id.
func (g *Gateway) Send(ctx context.Context, to Address, p Part) (int64, error) {
	ch, err := g.out(to)
	if err != nil {
		return 0, err
	}
	if err := g.Replicated(ctx); err != nil {
		return 0, &SendError{Kind: Retry, Err: err}
	}
	return ch.Send(ctx, to, g.masked(p))
}

// Edit replaces a message in a listed chat.
func (g *Gateway) Edit(ctx context.Context, to Address, id int64, p Part) error {
	ch, err := g.out(to)
	if err != nil {
		return err
	}
	return ch.Edit(ctx, to, id, g.masked(p))
}

// Delete removes a message of the bot in a listed chat.
func (g *Gateway) Delete(ctx context.Context, to Address, id int64) error {
	ch, err := g.out(to)
	if err != nil {
		return err
	}
	return ch.Delete(ctx, to, id)
}

// Typing shows that the bot is at work, where the channel can.
func (g *Gateway) Typing(ctx context.Context, to Address) error {
	t, err := able[Typer](g, to)
	if err != nil || t == nil {
		return err
	}
	return t.Typing(ctx, to)
}

// maxDetail bounds the detail of Work, in characters.
const maxDetail = 60

// Work shows what the bot is doing for a listed chat, where the channel can; see Worker.
func (g *Gateway) Work(ctx context.Context, to Address, w Work) error {
	s, err := able[Worker](g, to)
	if err != nil || s == nil {
		return err
	}
	w.Detail = clip.Within(clip.Line(g.secrets.Text(w.Detail), maxDetail), maxDetail)
	return s.Work(ctx, to, w)
}

// Draft shows a growing answer in a listed chat, where the channel can; see
// Drafter.
func (g *Gateway) Draft(ctx context.Context, to Address, id int64, p Part) error {
	d, err := able[Drafter](g, to)
	switch {
	case err != nil:
		return err
	case d == nil:
		return &SendError{Kind: Rejected, Err: fmt.Errorf("channel %q has no drafts", to.Chat.Channel)}
	}
	return d.Draft(ctx, to, id, g.masked(p))
}

// Answer acknowledges a button press in a listed chat.
func (g *Gateway) Answer(ctx context.Context, to Address, query, text string) error {
	a, err := able[Answerer](g, to)
	if err != nil || a == nil {
		return err
	}
	return a.Answer(ctx, query, g.secrets.Text(text))
}

// Keyed reports whether a channel shows a part with a Key once, however often it is sent.
func (g *Gateway) Keyed(channel string) bool {
	_, ok := g.byName[channel].(Keyed)
	return ok
}

// Works reports whether a channel shows what the bot is doing, at once.
func (g *Gateway) Works(channel string) bool {
	_, ok := g.byName[channel].(Worker)
	return ok
}

// Buttons reports whether a chat has buttons: in a terminal people answer in words.
func (g *Gateway) Buttons(chat ChatID) bool {
	_, ok := g.byName[chat.Channel].(Answerer)
	return ok || !chat.Local()
}

// masked is a part as it may leave. Most have been rendered without secrets; this is
// for those that were put together otherwise, or stored when less was known.
func (g *Gateway) masked(p Part) Part { return masked(g.secrets, []Part{p})[0] }

// Health reports every channel, in order.
func (g *Gateway) Health() []Health {
	all := make([]Health, len(g.channels))
	for i, ch := range g.channels {
		all[i] = ch.Health()
		all[i].Strangers = g.unknown.counts[ch.Name()].Load()
	}
	return all
}

// HealthOf reports one channel; zero when there is none of that name.
func (g *Gateway) HealthOf(channel string) Health {
	for _, h := range g.Health() {
		if h.Channel == channel {
			return h
		}
	}
	return Health{}
}

func (g *Gateway) out(to Address) (Channel, error) {
	if err := g.listed(to.Chat); err != nil {
		if id, moved := g.moves.to(to.Chat); moved {
			return nil, &SendError{Kind: Moved, MigrateTo: id, Err: err}
		}
		return nil, &SendError{Kind: Refused, Err: err}
	}
	ch := g.byName[to.Chat.Channel]
	if ch == nil { // the message waits for a start with the channel
		return nil, &SendError{Kind: Stopped, Err: fmt.Errorf("channel %q is not on", to.Chat.Channel)}
	}
	return ch, nil
}

// able is the channel of a listed chat as one with an optional ability, nil when it has
// none.
func able[T any](g *Gateway, to Address) (ability T, err error) {
	ch, err := g.out(to)
	if err == nil {
		ability, _ = ch.(T)
	}
	return ability, err
}
