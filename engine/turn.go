package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/quote"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/turn"
	"klawbot/gateway"
	"klawbot/tools"
)

// startTurn begins a turn for messages that waited.
func (e *Engine) startTurn(ctx context.Context, items []chatqueue.Item) {
	last := items[len(items)-1]
	row := store.Turn{
		Address: last.Row.Address, Origin: string(tools.OriginPerson), State: store.TurnRunning,
		Placeholder: store.PlaceholderNone, ReplyTo: last.Msg.ID, StartedAt: time.Now(),
	}
	ids := chatqueue.Rows(items)
	// Without this row the messages wait, and their turn starts again.
	err := e.store.WriteUnsynced(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		if row.Address, err = tx.Chats().Home(last.Row.Address); err != nil {
			return err
		}
		session, err := tx.Sessions().Session(row.Address)
		if err != nil {
			return err
		}
		row.Session, row.Model = session.ID, session.Model
		if row.ID, err = tx.Turns().AddTurn(row); err != nil {
			return err
		}
		if last.Row.From != 0 {
			if err := tx.Chats().SeeChat(row.Address.Chat.Channel, row.Address.Chat.ID, last.Msg.ChatName(), last.Row.ReceivedAt); err != nil {
				return err
			}
		}
		return tx.Inbox().StartUpdates(row.ID, ids...)
	})
	if err != nil {
		e.life.LogUnstored(ctx, "turn not started", err, "chat", row.Address.String())
		if !errors.Is(err, store.ErrNotFound) {
			if store.Unwritable(err) {
				e.life.TellUnstored(ctx, row.Address, 0)
			}
			e.putBack(ctx, items)
		}
		return
	}
	lifecycle.CrashPoint("turn.started")
	e.runTurn(ctx, e.request(ctx, row, items), func(r turn.Result) { e.endTurn(ctx, r, ids) })
}

// resumeTurn continues a turn that the end of the process interrupted.
func (e *Engine) resumeTurn(ctx context.Context, row store.Turn) {
	var updates []store.Update
	var answers []llm.Message
	var calls map[string]store.Call
	err := e.store.Read(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) { // what is stopped has to end
		if updates, err = tx.Inbox().TurnUpdates(row.ID); err != nil {
			return err
		}
		if answers, err = tx.Turns().Answers(row.ID); err != nil {
			return err
		}
		calls, err = tx.Turns().Calls(row.ID)
		return err
	})
	if err != nil {
		e.log.Error("turn not resumed", "turn", row.ID, "err", err)
		return
	}
	var items []chatqueue.Item
	for _, u := range updates {
		if e.gateway.Allowed(u.Update) != nil {
			continue
		}
		if m, err := e.gateway.Decode(u.Update); err == nil {
			items = append(items, chatqueue.Item{Row: u, Msg: m})
		}
	}
	if row.Placeholder == store.PlaceholderSending {
		row.Placeholder = store.PlaceholderForgotten
	}
	if n := len(items); n > 0 && items[n-1].Msg.ID != row.ReplyTo && len(answers) == 0 {
		row = e.moveBelow(ctx, row, items[n-1].Msg.ID)
	}
	r := e.request(ctx, row, items)
	r.User, r.Owned = e.questions.CausedBy(updates) // also those who are not allowed any more
	r.Answers, r.Calls = answers, calls
	ids := make([]store.InboxID, len(updates))
	for i, u := range updates {
		ids[i] = u.ID
	}
	e.log.Info("turn resumed", "turn", row.ID, "chat", row.Address.String(), "answers", len(answers))
	if len(items) == 0 {
		e.endTurn(ctx, e.turns.Stop(r, "no sender is allowed any more"), ids)
		return
	}
	e.runTurn(ctx, r, func(r turn.Result) { e.endTurn(ctx, r, ids) })
}

// request is the turn that answers messages.
func (e *Engine) request(ctx context.Context, row store.Turn, items []chatqueue.Item) turn.Request {
	r := turn.Request{Row: row, Asked: askedMessages(withAuthors(ctx, e, items), nil), Log: e.log.With("chat", row.Address.String(), "turn", row.ID)}
	var rows []store.Update
	for _, it := range items {
		rows = append(rows, it.Row)
	}
	r.User, r.Owned = e.questions.CausedBy(rows)
	r.Prepare = withFiles(e, row, items, r.Owned)
	if len(items) > 0 {
		last := items[len(items)-1]
		r.Allowed = func() error { return e.gateway.Allowed(last.Row.Update) }
		r.Topic = last.Msg.Topic
		r.Directed, r.Command = e.commands.Direct(ctx, commandOf(last)), last.Msg.Command
	}
	return r
}

// runTurn runs a turn and has its result committed, unless it is parked.
func (e *Engine) runTurn(ctx context.Context, r turn.Request, commit func(turn.Result)) {
	began := time.Now()
	e.memory.Idle.Begin()
	defer e.memory.Idle.End()
	if r.Prepare != nil {
		defer debug.FreeOSMemory() // pictures leave megabytes behind
	}
	var j *chatqueue.Join
	if r.Directed == nil && r.Command == "" && len(r.Answers) == 0 {
		var late []chatqueue.Item
		if j, late = e.queues.Open(r.Row); j != nil {
			r.Alone = func() bool { return e.queues.Alone(j) }
		}
		var back []chatqueue.Item
		for _, it := range late {
			if !e.storeJoin(ctx, j, it) {
				back = append(back, it)
			}
		}
		if len(back) > 0 {
			e.putBack(ctx, back)
		}
	}
	result := e.turns.Run(ctx, r)
	if j != nil && !e.queues.Alone(j) {
		e.beginAgain(ctx, j, r.Row)
		return
	}
	if result.Parked {
		return
	}
	commit(result)
	row, took := result.Row, time.Since(began)
	e.report.meters.Turn(row.Origin, row.State, took)
	r.Log.Info("turn ended", "state", string(row.State), "ms", took.Milliseconds(), "model", row.Model)
}

// endTurn commits everything that a person's turn leaves behind in one transaction: its
// messages, the end of its inbox rows and journal, and the parts that leave.
func (e *Engine) endTurn(ctx context.Context, r turn.Result, ids []store.InboxID) {
	outs := e.leaving(r)
	end := func(tx *store.Tx) error {
		err := r.Store(tx)
		if err == nil {
			err = tx.Inbox().EndUpdates(store.InboxDone, r.Row.Note, ids...)
		}
		leaving := outs
		if err == nil && r.Placeholder == store.PlaceholderShown {
			leaving, err = replacing(tx, r.Row, outs)
		}
		if err == nil {
			err = outbox.Add(tx, leaving)
		}
		if err == nil && r.Aloud {
			err = outbox.AddSpoken(tx, r.Row, e.config.Redact.Text(r.Text))
		}
		return err
	}
	// A new message is marked before it is sent, and this gets to the disk with the mark: a
	// power cut before that only has the turn start again.
	marked, err := len(outs) > 0 && r.Placeholder != store.PlaceholderShown, error(nil)
	if marked {
		err = e.store.WriteUnsynced(context.WithoutCancel(ctx), end)
	}
	if !marked || store.Unwritable(err) {
		err = e.life.Persist(context.WithoutCancel(ctx), r.Row.Address, end)
	}
	if err != nil {
		e.log.Error("turn not stored", "chat", r.Row.Address.String(), "turn", r.Row.ID, "err", err)
		return
	}
	lifecycle.CrashPoint("turn.committed")
	r.Stored()
}

// leaving are the parts of what the person gets at the end of a turn.
func (e *Engine) leaving(r turn.Result) []store.Out {
	to := r.Row.Address
	parts := e.gateway.Render(to.Chat.Channel, r.Text)
	if len(parts) == 0 && r.Row.State != store.TurnStopped {
		// What is not blank for us may show nothing there.
		parts = e.gateway.Render(to.Chat.Channel, e.say(locale.NoAnswer))
	}
	if n := len(parts); n > 0 && r.Buttons != nil {
		parts[n-1].Buttons = r.Buttons
	}
	parts = append(parts, r.Files...)
	if n := len(parts); n > 0 && r.Row.State == store.TurnFailed {
		parts[n-1].Failed = true
	}
	outs := outbox.Rows(to, parts, fmt.Sprintf("turn/%d", r.Row.ID), r.Row.ReplyTo)
	for i := range outs {
		outs[i].Turn = r.Row.ID
	}
	return outs
}

// replacing are the parts of an answer that takes the place of a placeholder. When
// something has left behind the placeholder since, such as a question, the answer stands
// below it, in messages of its own, and the placeholder is taken away.
func replacing(tx *store.Tx, row store.Turn, outs []store.Out) ([]store.Out, error) {
	apart, err := tx.Outbox().OutsSince(row.Address, row.PlaceholderID, row.StartedAt)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(outs)
	if apart || len(all) == 0 {
		all = slices.Insert(all, 0, outbox.Deletion(row.Address, row.ID, row.PlaceholderID))
	}
	all[0].Edit = row.PlaceholderID
	return all, nil
}

// askedMessages are the messages of a turn as the model and the history get
// them: one user message for each that a person wrote, where the pieces of a
// text that a client has cut are one. seen is what came out of their files.
func askedMessages(items []chatqueue.Item, seen map[store.InboxID]media.Seen) []store.Message {
	var asked []store.Message
	for i, it := range items {
		if i > 0 && chatqueue.Continues(items[i-1], it) {
			last := &asked[len(asked)-1].Body
			last.Blocks[0].Text += it.Msg.Text
			continue
		}
		files, m := seen[it.Row.ID], it.Msg
		if files.Label != "" {
			m.Text = strings.TrimSuffix(files.Label+"\n"+media.Caption(m), "\n")
		}
		body := llm.Text(llm.RoleUser, quote.Message(m))
		body.Blocks = append(body.Blocks, files.Blocks...)
		asked = append(asked, store.Message{
			Body: body, Sender: it.Msg.Sender.ID, SenderName: it.Msg.Sender.Name, At: it.Msg.Time,
		})
	}
	return asked
}

// withAuthors are messages of which those of owners say when they answer words of the
// bot that are no answer to owners: another chat may have had the bot send them.
func withAuthors(ctx context.Context, e *Engine, items []chatqueue.Item) []chatqueue.Item {
	items = slices.Clone(items)
	for i, it := range items {
		if q := it.Msg.Reply; q != nil && q.Own && q.ID != 0 && e.questions.Owns(it.Msg.Address, it.Msg.Sender.ID) && !answeredOwners(ctx, e, it.Row.Address, q.ID) {
			items[i].Msg.Reply = &gateway.Quote{Author: quote.ForOthers, Text: q.Text, Attachments: q.Attachments}
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
