package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// repeatMark stands before a message that may be there already.
	repeatMark = "↻ "
	// partUnits is how long a Telegram message may be, in UTF-16 units.
	partUnits = 4096
	// serverRepeats is how often a send is repeated that the messenger's server
	// answered with an error of its own.
	serverRepeats = 3
	// retryMax bounds the wait between two attempts.
	retryMax = time.Minute
	// notBeforeMax bounds the wait for a time that was stored: the clock may
	// have been wrong then.
	notBeforeMax = time.Hour
	// believeAfter is how long a channel must have been well, though not heard
	// from, for a repeat; recoverMax is how long a repeat waits for a channel
	// that cannot tell whether it is.
	believeAfter = 10 * time.Second
	recoverMax   = 2 * time.Minute
	recoverPoll  = 100 * time.Millisecond
	// deliverBatch is how many rows of an address are read at once.
	deliverBatch = 16
)

// delivery takes parts from the outbox to the gateway: one worker per address,
// in order, so that a part that fails holds back the ones after it in its chat
// and nobody else.
type delivery struct {
	e *Engine

	mu      sync.Mutex
	ctx     context.Context            // guarded by mu; nil until run
	workers map[store.Address]*courier // guarded by mu
	moves   map[gateway.ChatID]int64   // guarded by mu; chats that moved since the start
	closed  bool                       // guarded by mu
	wait    sync.WaitGroup
}

// courier is the worker of one address.
type courier struct{ again bool }

// run starts the delivery of everything that waits. Workers end with ctx.
func (d *delivery) run(ctx context.Context) error {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	return d.rescan(ctx)
}

// rescan looks for rows that nobody announced: those of the last run and those
// that a command wrote beside the bot.
func (d *delivery) rescan(ctx context.Context) error {
	var pending []store.Out
	err := d.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		pending, err = tx.PendingOut(nil, -1)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	for _, o := range pending {
		d.notify(o.Address)
	}
	return nil
}

// close lets no new worker start; those at work go on.
func (d *delivery) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// notify says that an address has something to deliver.
func (d *delivery) notify(a store.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if to := d.moves[reachable(a).Chat]; to != 0 {
		a.Chat = to
	}
	if c := d.workers[a]; c != nil {
		c.again = true
		return
	}
	if d.ctx == nil || d.closed {
		return
	}
	c := &courier{again: true}
	d.workers[a] = c
	ctx := d.ctx
	d.wait.Go(func() { d.serve(ctx, a, c) })
}

// moved says that a chat has a new id, under which its parts wait from now on.
func (d *delivery) moved(chat gateway.ChatID, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.moves[chat] = to
}

// serve delivers until nothing is left for the address.
func (d *delivery) serve(ctx context.Context, a store.Address, c *courier) {
	for d.more(a, c, ctx.Err() != nil) {
		for {
			var pending []store.Out
			err := d.e.store.Read(ctx, func(tx *store.Tx) (err error) {
				pending, err = tx.PendingOut(&a, deliverBatch)
				return err
			})
			if err != nil {
				if ctx.Err() == nil {
					d.e.log.Error("outbox not read", "chat", reachable(a).String(), "err", err)
					pause(ctx, time.Second)
				}
				break
			}
			if len(pending) == 0 || !d.deliverAll(ctx, pending) {
				break
			}
		}
	}
}

// more reports whether the worker has to look again, and lets it go if not.
func (d *delivery) more(a store.Address, c *courier, ended bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !c.again || ended {
		delete(d.workers, a)
		return false
	}
	c.again = false
	return true
}

// deliverAll delivers rows in order, each until it is settled. It returns false
// when ctx ended.
func (d *delivery) deliverAll(ctx context.Context, rows []store.Out) bool {
	for _, o := range rows {
		doubt := time.Now()
		for o.State == store.OutboxNew || o.State == store.OutboxSending {
			if !pause(ctx, untilDue(o, time.Now())) || o.Resent > 0 && !d.recovered(ctx, o.Address.Channel, doubt) {
				return false
			}
			doubt = time.Now()
			next, err := d.attempt(ctx, o)
			if err != nil {
				d.e.logUnstored(ctx, "outbox row not written", err, "key", o.Key)
				pause(ctx, time.Second)
				return ctx.Err() == nil
			}
			if o = next; o.Address != rows[0].Address {
				d.notify(o.Address)
				break
			}
		}
	}
	return true
}

// untilDue is how long a row has to wait yet. A row that was made in the future
// shows that the clock was set back since; then its time says nothing. What the
// messenger asked for is kept by its channel.
func untilDue(o store.Out, now time.Time) time.Duration {
	if o.CreatedAt.After(now) {
		return min(o.NotBefore.Sub(now), retryMax)
	}
	return min(o.NotBefore.Sub(now), notBeforeMax)
}

// recovered waits, before a send is repeated, until its channel has heard from
// the messenger again, however long it is out of reach: a repeat into the same
// outage is wasted, and there are few. It returns false when ctx ends first.
func (d *delivery) recovered(ctx context.Context, channel string, since time.Time) bool {
	for {
		h := d.e.health(channel)
		quiet := time.Since(since)
		switch {
		case h.LastPoll.After(since), h.LastPoll.IsZero() && h.State == gateway.StateOK:
			return true
		case h.State == gateway.StateOK && quiet >= believeAfter:
			return true
		case h.State != gateway.StateConnecting && h.State != gateway.StateStale && quiet >= recoverMax:
			return true
		}
		if !pause(ctx, recoverPoll) {
			return false
		}
	}
}

// attempt tries to deliver a row once and stores what came of it. A send takes
// its place in the chat's pace and is then marked before it is written, so that
// a crash in between leaves a row in doubt and not a second message; an edit can
// be repeated and needs no mark. The row is written down even when ctx has ended.
func (d *delivery) attempt(ctx context.Context, o store.Out) (store.Out, error) {
	var part gateway.Part
	if err := json.Unmarshal(o.Body, &part); err != nil {
		o.State, o.Note = store.OutboxDead, err.Error()
		return o, d.write(ctx, o)
	}
	if o.State == store.OutboxSending && o.Edit == 0 {
		// The last process died between the request and its answer.
		o = d.inDoubt(o, "the process ended while it was sent", false)
		return o, d.write(ctx, o)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*sendWithin)
	defer cancel()
	to := reachable(o.Address)
	err := d.e.gateway.Pace(ctx, to)
	part.Paced = true
	switch {
	case err != nil:
	case o.Edit == 0 && part.Text == "" && part.Document == nil:
		// A placeholder was to be taken away, and is out of reach.
	case o.Edit != 0 && part.Text == "":
		err = d.e.gateway.Delete(ctx, to, o.Edit)
	case o.Edit != 0:
		o.MessageID = o.Edit
		err = d.e.gateway.Edit(ctx, to, o.Edit, part)
	default:
		if o.Resent > 0 {
			part = markRepeated(part)
		}
		o.State = store.OutboxSending
		if err := d.write(ctx, o); err != nil {
			return o, err
		}
		crashPoint("outbox.sending")
		o.MessageID, err = d.e.gateway.Send(ctx, to, part)
	}
	crashPoint("outbox.delivered")
	from := o.Address
	o, beside := d.outcome(o, part, err)
	if fail, ok := errors.AsType[*gateway.SendError](err); ok {
		switch fail.Kind {
		case gateway.Dead:
			d.e.loseChat(context.WithoutCancel(ctx), from, fail.Err.Error())
		case gateway.Moved:
			d.e.moveChat(context.WithoutCancel(ctx), reachable(from).Chat, fail.MigrateTo)
		}
	}
	if o.State == store.OutboxSent {
		d.e.log.Info("reply out", "chat", to.String(), "key", o.Key, "edit", o.Edit != 0, "attempts", o.Attempts)
	}
	d.e.meters.delivery(o)
	err = d.settle(ctx, o, beside)
	crashPoint("outbox.settled")
	return o, err
}

// outcome is what a row becomes after an attempt, and what has to leave beside it.
func (d *delivery) outcome(o store.Out, part gateway.Part, err error) (store.Out, []store.Out) {
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
	wait := fail.RetryAfter
	if wait <= 0 {
		wait = backoff(o.Attempts)
	}
	switch fail.Kind {
	case gateway.Retry, gateway.Busy:
	case gateway.Stopped:
		wait = retryMax
	case gateway.NotFound:
		o.Edit, o.MessageID, wait = 0, 0, 0
	case gateway.Moved:
		// Messages have other ids there. Once at once, then with patience: two
		// chats that name each other must not keep anybody busy.
		o.Address.Chat, o.Edit = fail.MigrateTo, 0
		if o.Attempts == 1 {
			wait = 0
		}
	case gateway.Ambiguous:
		if o.Edit == 0 {
			o = d.inDoubt(o, err.Error(), fail.Server)
		}
	case gateway.Rejected:
		o, beside = d.rejected(o, part)
		wait = 0
	case gateway.Refused, gateway.Dead:
		o.State = store.OutboxDead
	}
	if o.State == store.OutboxNew {
		o.NotBefore = time.Now().Add(wait)
	}
	level := slog.LevelWarn
	if o.State == store.OutboxNew && o.Attempts&(o.Attempts-1) != 0 {
		level = slog.LevelDebug // said at the attempts 1, 2, 4, 8, …
	}
	d.e.log.Log(context.Background(), level, "reply not out", "chat", reachable(o.Address).String(), "key", o.Key, "kind", string(fail.Kind),
		"state", string(o.State), "attempts", o.Attempts, "err", err)
	return o, beside
}

// rejected decides about a part that the messenger does not take as it is: an
// edit becomes a message of its own, formatting is left out, and in the end one
// sentence says that there was an answer. Only that may be given up.
func (d *delivery) rejected(o store.Out, part gateway.Part) (store.Out, []store.Out) {
	var beside []store.Out
	plain := gateway.Part{Text: part.Text, ReplyTo: part.ReplyTo, Silent: part.Silent, Last: part.Last}
	switch sorry := d.e.say(sayUndeliverable); {
	case part.Text == "" && part.Document == nil, part.Text == sorry:
		o.State = store.OutboxDead
		return o, nil
	case part.Document != nil:
		return d.undocumented(o, part)
	case o.Edit != 0:
		// The message stays as it was, so it has to go.
		beside = []store.Out{{
			Key: o.Key + "/delete", Turn: o.Turn, Address: o.Address, Body: deleteBody, Edit: o.Edit, State: store.OutboxNew,
		}}
		o.Edit, o.MessageID = 0, 0
	case len(part.Entities) > 0 || len(part.Buttons) > 0:
		o.Body = encodePart(plain)
	default:
		plain.Text = sorry
		o.Body = encodePart(plain)
	}
	return o, beside
}

// undocumented sends the text of a document that was rejected as messages.
func (d *delivery) undocumented(o store.Out, part gateway.Part) (store.Out, []store.Out) {
	to := reachable(o.Address)
	var parts []gateway.Part
	for piece := range pieces(part.Document.Content, pieceUnits) {
		parts = append(parts, d.e.gateway.Render(to.Chat.Channel, piece)...)
	}
	rows := outsFor(to, parts, o.Key+"/text", part.ReplyTo)
	for i := range rows {
		rows[i].Turn = o.Turn
	}
	o.State = store.OutboxDead
	return o, rows
}

// pieceUnits leaves room for what rendering adds to a piece of a document.
const pieceUnits = 3000

// pieces cuts a text into pieces of at most that many UTF-16 units, at the ends
// of lines where there are any.
func pieces(text string, units int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end, lineEnd, n := len(text), 0, 0
			for i, r := range text {
				if n += utf16Len(string(r)); n > units {
					end = i
					break
				}
				if r == '\n' {
					lineEnd = i + 1
				}
			}
			if end < len(text) && lineEnd > 0 {
				end = lineEnd
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// inDoubt decides about a send that may have arrived: it goes out once more and
// is marked, or stays unknown. A server that says itself that it failed gets a
// few more chances.
func (d *delivery) inDoubt(o store.Out, note string, server bool) store.Out {
	o.Note = note
	limit := 1
	if server {
		limit = serverRepeats
	}
	if o.Resent >= limit || d.e.settings().HoldAmbiguous {
		o.State = store.OutboxUnknown
		return o
	}
	o.State = store.OutboxNew
	o.Resent++
	return o
}

// write stores what delivery changed of a row.
func (d *delivery) write(ctx context.Context, o store.Out) error {
	return d.e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.UpdateOut(o) })
}

// settle is write for what has happened already, so it outlives a full disk:
// otherwise what arrived would be sent again.
func (d *delivery) settle(ctx context.Context, o store.Out, beside []store.Out) error {
	nobody := store.Address{} // the answer is there, nobody waits
	return d.e.persist(context.WithoutCancel(ctx), nobody, func(tx *store.Tx) error {
		if err := tx.UpdateOut(o); err != nil {
			return err
		}
		return addOuts(tx, beside)
	})
}

// markRepeated marks a part that may be there already. Where the text has no
// room for the mark, a button carries it.
func markRepeated(p gateway.Part) gateway.Part {
	units := utf16Len(repeatMark)
	if utf16Len(p.Text)+units > partUnits {
		p.Buttons = append(slices.Clone(p.Buttons), []gateway.Button{{Text: "↻", Data: "repeated"}})
		return p
	}
	p.Text = repeatMark + p.Text
	p.Entities = slices.Clone(p.Entities)
	for i := range p.Entities {
		p.Entities[i].Offset += units
	}
	return p
}

// backoff is the wait after the n-th failed attempt: one second, doubled up to
// a minute, spread so that many rows do not come back together.
func backoff(n int) time.Duration {
	d := min(time.Second<<min(n-1, 10), retryMax)
	return d/2 + rand.N(d/2+1)
}

// pause waits, and returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// outsFor are the rows for the parts of one text. The last part ends the answer.
func outsFor(to gateway.Address, parts []gateway.Part, key string, replyTo int64) []store.Out {
	outs := make([]store.Out, 0, len(parts))
	for i, p := range parts {
		if i == 0 {
			p.ReplyTo = replyTo
		}
		p.Last = i == len(parts)-1
		outs = append(outs, store.Out{Key: fmt.Sprintf("%s/%d", key, i), Address: stored(to), Body: encodePart(p), State: store.OutboxNew})
	}
	return outs
}

func encodePart(p gateway.Part) []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Part holds only strings, numbers and booleans
	}
	return body
}

// deleteBody is the part of a row that takes its message away.
var deleteBody = encodePart(gateway.Part{})

func addOuts(tx *store.Tx, outs []store.Out) error {
	for _, o := range outs {
		if err := tx.AddOut(o); err != nil {
			return err
		}
	}
	return nil
}

// post sends a text of the bot itself, outside any answer.
func (e *Engine) post(ctx context.Context, a store.Address, key, text string) {
	to := reachable(a)
	outs := outsFor(to, e.gateway.Render(to.Chat.Channel, text), key, 0)
	if err := e.store.Write(ctx, func(tx *store.Tx) error { return addOuts(tx, outs) }); err != nil {
		e.log.Error("message not stored", "chat", to.String(), "err", err)
		return
	}
	e.delivery.notify(a)
}
