package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

// serverRepeats is how often a send is repeated that the messenger's server
// answered with an error of its own, or in which the process ended: two crashes in a
// row in the same send must not lose an answer.
const serverRepeats = 3

// uploadWithin bounds an attempt to deliver a file.
const uploadWithin = 6 * time.Minute

// attempt tries to deliver a row once and stores what came of it. A send takes
// its place in the chat's pace and is then marked before it is written, so that
// a crash in between leaves a row in doubt and not a second message; an edit can
// be repeated and needs no mark. The row is written down even when ctx has ended. alone
// says that nothing else waited at its address then.
func (d *Outbox) attempt(ctx context.Context, o store.Out) (now store.Out, alone bool, err error) {
	var part gateway.Part
	if err := json.Unmarshal(o.Body, &part); err != nil {
		o.State, o.Note = store.OutboxDead, err.Error()
		now, err = d.write(ctx, o)
		return now, false, err
	}
	keyed := d.config.Gateway.Keyed(o.Address.Chat.Channel)
	if o.State == store.OutboxSending && o.Edit == 0 && !keyed {
		// The last process died between the request and its answer.
		o, beside := d.unconfirmed(o, part, "the process ended while it was sent", true)
		o.NotBefore = time.Now() // without a time, deliver would take the channel for broken
		return d.settle(ctx, o, o.Address, beside)
	}
	if d.config.Chats.Muted(o.Address) {
		o.State, o.Note = store.OutboxDead, "the bot may not write there"
		return d.settle(ctx, o, o.Address, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, patience(part))
	defer cancel()
	to := o.Address
	err = d.config.Gateway.Pace(ctx, to)
	part.Paced = true
	switch {
	case err != nil:
	case o.Edit == 0 && part.Text == "" && len(part.Files()) == 0:
		// A placeholder was to be taken away, and is out of reach.
	case o.Edit != 0 && part.Text == "":
		err = d.config.Gateway.Delete(ctx, to, o.Edit)
	case o.Edit != 0:
		o.MessageID = o.Edit
		err = d.config.Gateway.Edit(ctx, to, o.Edit, part)
	default:
		if o.Resent > 0 && !keyed {
			part = markRepeated(part)
		}
		part.Key = o.Key
		if err = d.speak(ctx, &o, &part); err == nil {
			err = d.locate(&part)
		}
		if err != nil {
			break
		}
		o.State = store.OutboxSending
		from := o.Address
		if o, err = d.write(ctx, o); err != nil || o.State != store.OutboxSending {
			return o, false, err
		}
		if o.Address != from { // it has moved, and so has the message that this one answers
			to, part.ReplyTo = o.Address, 0
		}
		lifecycle.CrashPoint("outbox.sending")
		o.MessageID, err = d.config.Gateway.Send(ctx, to, part)
	}
	lifecycle.CrashPoint("outbox.delivered")
	from := o.Address
	o, beside := d.outcome(o, part, err)
	if fail, ok := errors.AsType[*gateway.SendError](err); ok {
		switch fail.Kind {
		case gateway.Dead:
			d.config.Chats.Lose(context.WithoutCancel(ctx), from.Chat, fail.Err.Error())
		case gateway.Muted:
			d.config.Chats.Mute(context.WithoutCancel(ctx), from, fail.Topic, fail.Err.Error())
		case gateway.Voiceless:
			d.voiceless(ctx, from)
		case gateway.Moved:
			d.config.Chats.Move(context.WithoutCancel(ctx), from.Chat, fail.MigrateTo)
		}
	}
	if o.State == store.OutboxSent {
		d.config.Log.Info("reply out", "chat", to.String(), "key", o.Key, "edit", o.Edit != 0, "attempts", o.Attempts)
	}
	d.config.Attempted(o)
	o, alone, err = d.settle(ctx, o, from, beside)
	lifecycle.CrashPoint("outbox.settled")
	return o, alone, err
}

// locate finds the files that a part carries and that wait.
func (d *Outbox) locate(p *gateway.Part) (err error) {
	for _, f := range p.Files() {
		if f.Sum == "" {
			continue
		}
		if f.Path, err = d.config.Files.Path(f.Sum); err != nil {
			return &gateway.SendError{Kind: gateway.Rejected, Err: err}
		}
	}
	return nil
}

// patience is how long an attempt to deliver a part may take.
func patience(p gateway.Part) time.Duration {
	if len(p.Files()) > 0 {
		return uploadWithin
	}
	return 2 * gateway.SendWithin
}

// outcome is what a row becomes after an attempt, and what has to leave beside it.
func (d *Outbox) outcome(o store.Out, part gateway.Part, err error) (store.Out, []store.Out) {
	o.Attempts++
	if err == nil {
		o.State, o.SentAt, o.Note = store.OutboxSent, time.Now(), ""
		return o, nil
	}
	var beside []store.Out
	o.State, o.Note = store.OutboxNew, err.Error()
	fail, ok := errors.AsType[*gateway.SendError](err)
	if !ok {
		fail = &gateway.SendError{Kind: gateway.Ambiguous, Err: err}
	}
	delay := fail.RetryAfter
	if delay <= 0 {
		// Doubled up to a minute, and spread so that many rows do not come back together.
		delay = wait.Backoff(o.Attempts-1, time.Second, retryMax)
	}
	switch fail.Kind {
	case gateway.Retry, gateway.Busy, gateway.Stopped:
	case gateway.NotFound:
		o.Edit, o.MessageID, delay = 0, 0, 0
	case gateway.Moved:
		// Messages have other ids there. Once at once, then with patience: two
		// chats that name each other must not keep anybody busy.
		o.Address.Chat.ID, o.Edit = fail.MigrateTo, 0
		if o.Attempts == 1 {
			delay = 0
		}
	case gateway.Ambiguous:
		if o.Edit == 0 {
			o, beside = d.unconfirmed(o, part, err.Error(), fail.Server)
		}
	case gateway.Rejected:
		o, beside = d.rejected(o, part)
		delay = 0
	case gateway.Voiceless:
		o.State, beside = store.OutboxDead, d.hush(o)
	case gateway.Refused, gateway.Dead, gateway.Muted:
		o.State = store.OutboxDead
	}
	if o.State == store.OutboxNew {
		o.NotBefore = time.Now().Add(delay)
	}
	if fail.Kind == gateway.Stopped {
		o.NotBefore = time.Time{} // deliver waits; a new process need not
	}
	level := slog.LevelWarn
	if o.State == store.OutboxNew && o.Attempts&(o.Attempts-1) != 0 {
		level = slog.LevelDebug // said at the attempts 1, 2, 4, 8, …
	}
	d.config.Log.Log(context.Background(), level, "reply not out", "chat", o.Address.String(), "key", o.Key, "kind", string(fail.Kind),
		"state", string(o.State), "attempts", o.Attempts, "err", err)
	return o, beside
}

// rejected decides about a part that the messenger does not take as it is: an
// edit becomes a message of its own, formatting is left out, and in the end one
// sentence says that there was an answer. Only that may be given up.
func (d *Outbox) rejected(o store.Out, part gateway.Part) (store.Out, []store.Out) {
	var beside []store.Out
	plain := gateway.Part{Text: part.Text, ReplyTo: part.ReplyTo, Answers: part.Answers, Silent: part.Silent, Last: part.Last, Failed: part.Failed}
	switch sorry := d.config.Say(locale.Undeliverable.For(d.owner(o))); {
	case part.Text == "" && len(part.Files()) == 0, part.Text == sorry, spoken(part): // the text is there
		o.State = store.OutboxDead
		return o, nil
	case carriesFile(part):
		beside = d.sayOfFile(o, part, locale.FileNotSent.For(d.owner(o)))
		o.State = store.OutboxDead
	case part.Document != nil:
		return d.undocumented(o, part)
	case o.Edit != 0:
		// The message stays as it was, so it has to go.
		beside = []store.Out{{Key: o.Key + "/delete", Turn: o.Turn, Address: o.Address, Body: deleteBody, Edit: o.Edit}}
		o.Edit, o.MessageID = 0, 0
	case len(part.Entities) > 0 || len(part.Buttons) > 0:
		o.Body = Encode(plain)
	default:
		plain.Text = sorry
		o.Body = Encode(plain)
	}
	return o, beside
}

// carriesFile reports whether a part carries a file that is not its text.
func carriesFile(p gateway.Part) bool {
	return len(p.Album) > 0 || p.Document != nil && p.Document.Sum != "" && !spoken(p)
}

func (d *Outbox) owner(o store.Out) bool {
	return d.config.Owner != nil && d.config.Owner(o.Address.Chat)
}

// sayOfFile are the rows that tell what became of a file, with what was written
// to it.
func (d *Outbox) sayOfFile(o store.Out, p gateway.Part, about locale.Phrase) []store.Out {
	var names []string
	for _, f := range p.Files() {
		names = append(names, f.Name)
	}
	text := strings.TrimSpace(p.Text + "\n\n" + d.config.Say(about, strings.Join(names, ", ")))
	return ofTurn(o.Turn, Rows(o.Address, []gateway.Part{{Text: text, Silent: p.Silent}}, o.Key+"/file", p.ReplyTo))
}

func ofTurn(turn store.TurnID, rows []store.Out) []store.Out {
	for i := range rows {
		rows[i].Turn = turn
	}
	return rows
}

// undocumented sends the text of a document that was rejected as messages.
func (d *Outbox) undocumented(o store.Out, part gateway.Part) (store.Out, []store.Out) {
	var parts []gateway.Part
	for _, piece := range pieces(part.Document.Content, pieceBytes) {
		parts = append(parts, d.config.Gateway.Render(o.Address.Chat.Channel, piece)...)
	}
	o.State = store.OutboxDead
	return o, ofTurn(o.Turn, Rows(o.Address, parts, o.Key+"/text", part.ReplyTo))
}

// unconfirmed decides about a send that may have arrived: it is sent again and
// marked, or stays unknown. A crash, or a server that reports its own failure,
// allows a few more repeats (patient). Of a file that stays unknown the chat is told.
func (d *Outbox) unconfirmed(o store.Out, part gateway.Part, note string, patient bool) (store.Out, []store.Out) {
	o.Note = note
	limit := 1
	if patient {
		limit = serverRepeats
	}
	if o.Resent >= limit || d.config.HoldAmbiguous() {
		o.State = store.OutboxUnknown
		if carriesFile(part) {
			return o, d.sayOfFile(o, part, locale.FileInDoubt)
		}
		return o, nil
	}
	o.State = store.OutboxNew
	o.Resent++
	return o, nil
}

// write stores what delivery changed of a row, and returns what the row is then.
func (d *Outbox) write(ctx context.Context, o store.Out) (now store.Out, err error) {
	err = d.config.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) { now, _, err = change(tx, o, o.Address); return err })
	return now, err
}

// settle is write for what has happened already at an address, so it outlives a full
// disk: otherwise what arrived would be sent again. alone says that nothing waits at the
// address: to read it here saves the courier a look.
func (d *Outbox) settle(ctx context.Context, o store.Out, from gateway.Address, beside []store.Out) (now store.Out, alone bool, err error) {
	var after func()
	err = d.config.Life.Persist(context.WithoutCancel(ctx), gateway.Address{}, func(tx *store.Tx) (err error) {
		var took bool
		after, alone = nil, false
		if now, took, err = change(tx, o, from); err != nil || !took {
			return err // another settled it, with what belongs beside it
		}
		if after, err = d.config.Settled(tx, now); err != nil {
			return err
		}
		if err = tx.Outbox().AddOutsBehind(now, beside); err != nil {
			return err
		}
		waiting, err := tx.Outbox().PendingOut(&now.Address, 1)
		alone = len(waiting) == 0
		return err
	})
	if err == nil && after != nil {
		after()
	}
	return now, alone, err
}

// change stores a row, and returns what it is then. took is false when it was settled
// since: a person can answer a question before the messenger's reply says that it has
// arrived. A row whose chat has moved since leaves at the new address, where none of
// the old messages are.
func change(tx *store.Tx, o store.Out, at gateway.Address) (now store.Out, took bool, err error) {
	if took, err = tx.Outbox().UpdateOutAt(at, o); took || err != nil {
		return o, took, err
	}
	if now, err = tx.Outbox().OutNamed(o.Key); err != nil {
		return o, false, err
	}
	if o.State != store.OutboxSent && now.State != store.OutboxNew && now.State != store.OutboxSending {
		return now, false, nil
	}
	if now.Address != at && o.Address == at && o.State != store.OutboxSent {
		o.Address, o.Edit = now.Address, 0
	}
	return o, true, tx.Outbox().UpdateOut(o)
}
