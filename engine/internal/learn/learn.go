// Package learn offers owners to download what the bot lacks to hear them. On yes, the
// messages that could not be heard wait to be answered again.
package learn

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// Config is what New needs. All of it is required, but for Download.
type Config struct {
	Life     *lifecycle.Lifecycle
	Gateway  *gateway.Gateway
	Settings func() settings.Settings
	// Download downloads the speech model, and continues a download that broke off; nil:
	// it is never offered.
	Download func(context.Context) error
	// Again answers a message that waits again.
	Again func(context.Context, store.Update)
	Log   *slog.Logger
}

// Ears are what the bot can learn to hear with.
type Ears struct {
	Config
	one sync.Mutex // downloads
}

// New returns Ears.
func New(c Config) *Ears { return &Ears{Config: c} }

// The data of the buttons: what was decided, and the turn that could not hear.
const (
	prefix = "ears/"
	yes    = "yes/"
	no     = "no/"
)

// IsButton reports whether the data of a button is that of one below an offer.
func IsButton(data string) bool { return strings.HasPrefix(data, prefix) }

// Buttons are those below the offer that is the answer of a turn.
func (e *Ears) Buttons(turn store.TurnID) [][]gateway.Button {
	return [][]gateway.Button{{
		{Text: e.say(locale.ButtonLearn), Data: fmt.Sprint(prefix, yes, int64(turn))},
		{Text: e.say(locale.ButtonNotNow), Data: fmt.Sprint(prefix, no, int64(turn))},
	}}
}

// Press acts on a button. While it downloads, the update stays open: after the end of the
// process the next start acts on it again.
func (e *Ears) Press(row store.Update, m gateway.Message, owns bool) approval.Outcome {
	verb := strings.TrimPrefix(m.Callback.Data, prefix)
	turn, accepted := strings.CutPrefix(verb, yes)
	var id store.TurnID
	switch _, err := fmt.Sscan(turn, &id); {
	case !owns:
		return approval.Outcome{Say: e.say(locale.OwnersDecide)}
	case !accepted || err != nil || e.Download == nil:
		return approval.Outcome{Outs: e.show(row, m, "", locale.NoEars, 0)}
	}
	return approval.Outcome{
		Say: e.say(locale.EarsComing), Outs: e.show(row, m, "", locale.EarsComing, 0), Open: true,
		Changed: func() { e.Life.Go(func(running context.Context) { e.learn(running, row, m, id) }) },
	}
}

// learn downloads, then has the messages of the turn answered again.
func (e *Ears) learn(ctx context.Context, row store.Update, m gateway.Message, turn store.TurnID) {
	e.one.Lock()
	err := e.Download(ctx)
	e.one.Unlock()
	if ctx.Err() != nil {
		return
	}
	outs := e.show(row, m, "/done", locale.EarsReady, 0)
	failed := err != nil
	if failed {
		e.Log.Error("speech model not downloaded", "err", err)
		outs = e.show(row, m, "/done", locale.EarsFailed, turn)
	}
	var again []store.Update
	err = e.Life.Persist(context.WithoutCancel(ctx), row.Address, func(tx *store.Tx) (err error) {
		if again = nil; !failed {
			again, err = reopen(tx, turn, row.Address)
		}
		if err == nil {
			err = outbox.Add(tx, outs)
		}
		if err == nil {
			err = tx.Inbox().EndUpdates(store.InboxDone, "", row.ID)
		}
		return err
	})
	if err != nil {
		e.Log.Error("download not stored", "err", err)
		return
	}
	for _, u := range again {
		e.Again(ctx, u)
	}
}

// reopen lets the messages of a turn wait again.
func reopen(tx *store.Tx, turn store.TurnID, at gateway.Address) (again []store.Update, err error) {
	all, err := tx.Inbox().TurnUpdates(turn)
	for _, u := range all {
		if err == nil && u.State == store.InboxDone && u.Address == at {
			err = tx.Inbox().Reopen(u.Note, u.ID)
			again = append(again, u)
		}
	}
	return again, err
}

// show gives the offer another text, with the buttons for a turn unless that is 0.
func (e *Ears) show(row store.Update, m gateway.Message, key string, text locale.Phrase, again store.TurnID) []store.Out {
	parts := e.Gateway.Render(row.Address.Chat.Channel, e.say(text))
	outs := outbox.Replacement(row.Address, m.Callback.Message, parts, fmt.Sprintf("press/%d%s", row.ID, key))
	if again != 0 && len(outs) > 0 {
		parts[0].Buttons = e.Buttons(again)
		outs[0].Body = outbox.Encode(parts[0])
	}
	return outs
}

func (e *Ears) say(p locale.Phrase) string { return locale.Say(e.Settings().Language, p) }
