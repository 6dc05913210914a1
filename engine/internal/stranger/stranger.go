// Package stranger asks the owners about chats that wrote and are not allowed. It knows
// who they are and never what they said.
package stranger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

// Config is what New needs.
type Config struct {
	Store    *store.Store
	Gateway  *gateway.Gateway
	Settings func() settings.Settings
	// Owners are the private chats of the owners that may be written to.
	Owners func() []gateway.Address
	// Ask says whether unknown senders are kept and asked about; nil is no.
	Ask func() bool
	// Allow puts a chat on the allow list, at once and for good.
	Allow func(gateway.ChatID) error
	Log   *slog.Logger
}

// Strangers asks about them.
type Strangers struct{ Config }

// New returns what asks the owners.
func New(c Config) *Strangers { return &Strangers{c} }

// The bounds of what owners are asked: a person once a day, all people together so many
// times an hour, and a button for a week. They are counted in the store, so that a restart
// begins nothing again.
const (
	againAfter = 24 * time.Hour
	perHour    = 5
	buttonLife = 7 * 24 * time.Hour
)

// Knocked counts chats that wrote, and asks the owners about them.
func (s *Strangers) Knocked(ctx context.Context, knocks []gateway.Knock) {
	if s.Ask == nil || !s.Ask() {
		return
	}
	err := s.Store.Write(ctx, func(tx *store.Tx) error {
		for _, k := range knocks {
			row, err := tx.Chats().CountStranger(k.Chat.Channel, k.Chat.ID, clip.Name(k.Name), k.Times)
			if err != nil {
				return err
			}
			if err := s.ask(tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil { // who is allowed must not wait for it
		s.Log.Warn("unknown senders not stored", "err", err)
	}
}

// ask asks the owners about a stranger, within the bounds.
func (s *Strangers) ask(tx *store.Tx, row store.Stranger) error {
	now := time.Now()
	if row.State == store.StrangerIgnored || now.Sub(row.AskedAt) < againAfter {
		return nil
	}
	asked, err := tx.Chats().AskedSince(now.Add(-time.Hour))
	owners := s.Owners()
	if err != nil || asked >= perHour || len(owners) == 0 {
		return err
	}
	row.AskedAt, row.State = now.Truncate(time.Millisecond), store.StrangerWaits // who was allowed before has been taken off the list
	for _, owner := range owners {
		parts := s.Gateway.Render(owner.Chat.Channel, s.question(row))
		if len(parts) > 0 {
			parts[len(parts)-1].Buttons = s.choices(row)
		}
		if err := outbox.Add(tx, outbox.Rows(owner, parts, key(row, owner), 0)); err != nil {
			return err
		}
	}
	return tx.Chats().SetStranger(row)
}

// key names the question to an owner about a stranger.
func key(row store.Stranger, owner gateway.Address) string {
	return fmt.Sprintf("stranger/%s/%d/%s", chatOf(row), row.AskedAt.UnixMilli(), owner)
}

func chatOf(row store.Stranger) gateway.ChatID {
	return gateway.ChatID{Channel: row.Channel, ID: row.ID}
}

func (s *Strangers) question(row store.Stranger) string {
	if row.ID < 0 {
		return s.say(locale.GroupKnocked, locale.Ticks(row.Name), row.ID)
	}
	return s.say(locale.PersonKnocked, locale.Ticks(row.Name), row.ID)
}

func (s *Strangers) say(p locale.Phrase, args ...any) string {
	return locale.Say(s.Settings().Language, p, args...)
}

// The data of the buttons: what to do, and the chat.
const (
	prefix  = "stranger/"
	allowed = "allow"
	ignored = "ignore"
)

// IsButton reports whether the data of a button is that of one below a question.
func IsButton(data string) bool { return strings.HasPrefix(data, prefix) }

func (s *Strangers) choices(row store.Stranger) [][]gateway.Button {
	chat := chatOf(row).String()
	return [][]gateway.Button{{
		{Text: s.say(locale.ButtonAllow), Data: prefix + allowed + "/" + chat},
		{Text: s.say(locale.ButtonIgnore), Data: prefix + ignored + "/" + chat},
	}}
}

// Tap is the button that an owner used.
type Tap struct {
	gateway.Message
	// At is the chat with the button, Row the update.
	At  gateway.Address
	Row store.InboxID
}

// Decision is what came of a button: what the owner is told, and the change to store. A
// nil change leaves all as it is.
type Decision struct {
	Say    string
	Change func(*store.Tx) ([]store.Out, error)
}

// Press acts on a button. The allow list is changed before the decision is stored: after a
// crash between them the button acts again, which changes nothing more.
func (s *Strangers) Press(ctx context.Context, t Tap, owns bool) Decision {
	verb, id, _ := strings.Cut(strings.TrimPrefix(t.Callback.Data, prefix), "/")
	chat, err := gateway.ParseChatID(id)
	if err != nil || t.Group || t.At.Chat.ID != t.Sender.ID || verb != allowed && verb != ignored {
		return Decision{Say: s.say(locale.Expired)}
	}
	if !owns {
		return Decision{Say: s.say(locale.OwnersDecide)}
	}
	var row store.Stranger
	err = s.Store.Read(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.Chats().Stranger(chat.Channel, chat.ID)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && time.Since(row.AskedAt) > buttonLife:
		return Decision{Say: s.say(locale.Expired), Change: s.shows(t, row, s.say(locale.Expired), nil)}
	case err != nil:
		s.Log.Error("unknown sender not read", "err", err)
		return Decision{Say: s.say(locale.Internal)}
	case row.State != store.StrangerWaits:
		return Decision{Say: s.say(locale.StrangerDecided), Change: s.shows(t, row, s.say(locale.StrangerDecided), nil)}
	}
	return s.decide(t, row, verb)
}

func (s *Strangers) decide(t Tap, row store.Stranger, verb string) Decision {
	said, outcome, now := locale.StrangerAllowed, locale.StrangerAllowedAt, time.Now().In(s.Settings().Zone()).Format("15:04")
	row.State = store.StrangerAllowed
	if verb == ignored {
		said, outcome, row.State = locale.StrangerIgnored, locale.StrangerIgnoredAt, store.StrangerIgnored
	} else if err := s.Allow(chatOf(row)); err != nil {
		s.Log.Error("unknown sender not allowed", "chat", chatOf(row).String(), "err", err)
		text := s.say(locale.StrangerUnwritten, row.ID)
		return Decision{Say: text, Change: s.shows(t, row, text, s.choices(row))}
	}
	lifecycle.CrashPoint("stranger.decided")
	text := s.say(outcome, now, row.ID)
	s.Log.Info("unknown sender decided", "chat", chatOf(row).String(), "state", string(row.State), "by", t.Sender.ID)
	return Decision{Say: s.say(said), Change: func(tx *store.Tx) ([]store.Out, error) {
		if err := tx.Chats().SetStranger(row); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		outs, err := s.shows(t, row, text, nil)(tx)
		return append(outs, s.answered(tx, row, t.At, text, fmt.Sprintf("press/%d", t.Row))...), err
	}}
}

// answered gives the questions of the owners but one another end: they need not answer
// any more.
func (s *Strangers) answered(tx *store.Tx, row store.Stranger, but gateway.Address, text, name string) (outs []store.Out) {
	for _, owner := range s.Owners() {
		if owner == but {
			continue
		}
		other, err := tx.Outbox().OutNamed(key(row, owner) + "/0")
		if err == nil && other.MessageID != 0 {
			outs = append(outs, s.edit(owner, other.MessageID, row, text, nil, name+"/"+owner.String())...)
		}
	}
	return outs
}

// Settle decides about a chat as a button does, for an owner who uses none. Waiting
// means that an ignored chat is asked about again.
func (s *Strangers) Settle(ctx context.Context, chat gateway.ChatID, state store.StrangerState, by string) error {
	if state == store.StrangerAllowed {
		if err := s.Allow(chat); err != nil {
			return err
		}
	}
	now := time.Now().In(s.Settings().Zone())
	err := s.Store.Write(ctx, func(tx *store.Tx) error {
		row, err := tx.Chats().Stranger(chat.Channel, chat.ID)
		if err != nil || row.State == state {
			return err
		}
		var outs []store.Out
		asked := row.State == store.StrangerWaits && !row.AskedAt.IsZero()
		switch row.State = state; {
		case state == store.StrangerWaits:
			row.AskedAt = time.Time{}
		case asked && state == store.StrangerAllowed:
			outs = s.answered(tx, row, gateway.Address{}, s.say(locale.StrangerAllowedAt, now.Format("15:04"), row.ID), fmt.Sprintf("settled/%s/%d", chat, now.UnixMilli()))
		case asked:
			outs = s.answered(tx, row, gateway.Address{}, s.say(locale.StrangerIgnoredAt, now.Format("15:04"), row.ID), fmt.Sprintf("settled/%s/%d", chat, now.UnixMilli()))
		}
		if err := outbox.Add(tx, outs); err != nil {
			return err
		}
		return tx.Chats().SetStranger(row)
	})
	if errors.Is(err, store.ErrNotFound) && state == store.StrangerAllowed {
		err = nil // it never wrote
	}
	if err == nil {
		s.Log.Info("unknown sender decided", "chat", chat.String(), "state", string(state), "by", by)
	}
	return err
}

// shows is the change that gives the question below which the button is another end.
func (s *Strangers) shows(t Tap, row store.Stranger, text string, buttons [][]gateway.Button) func(*store.Tx) ([]store.Out, error) {
	return func(*store.Tx) ([]store.Out, error) {
		return s.edit(t.At, t.Callback.Message, row, text, buttons, fmt.Sprintf("press/%d", t.Row)), nil
	}
}

func (s *Strangers) edit(at gateway.Address, message int64, row store.Stranger, text string, buttons [][]gateway.Button, key string) []store.Out {
	if row.ID != 0 {
		text = s.question(row) + "\n" + text
	}
	parts := s.Gateway.Render(at.Chat.Channel, text)
	outs := outbox.Replacement(at, message, parts, key)
	if len(outs) > 0 && len(buttons) > 0 {
		parts[0].Buttons = slices.Clone(buttons)
		outs[0].Body = outbox.Encode(parts[0])
	}
	return outs
}
