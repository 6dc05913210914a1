package approval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/wording"
)

// grantFor is how long "this exact call" may run without a question.
const grantFor = time.Hour

// decision is how an approval ends.
type decision struct {
	state store.ApprovalState
	// by and name are who decided; 0 and "" for no one.
	by   int64
	name string
	// message is the question's message, 0 when the answer does not come from it.
	message int64
	// chosen is the option that was taken of a form, "" for none.
	chosen string
}

// end ends a pending approval and returns it as it is now: an answer may have been
// faster.
func (q *Questions) end(ctx context.Context, a store.Approval, d decision) (row store.Approval, err error) {
	err = q.life.Persist(ctx, a.Address, func(tx *store.Tx) error {
		row, _, err = q.decide(tx, a.Token, d)
		return err
	})
	if err == nil {
		q.wake(row.ID)
	}
	return row, err
}

// decide is the one place where an approval ends. It also writes the grant
// and the message that shows the outcome. An answer that comes too late is none.
// won is false when it had ended before.
func (q *Questions) decide(tx *store.Tx, token string, d decision) (row store.Approval, won bool, err error) {
	if row, err = tx.Approvals().Approval(token); err != nil || row.State != store.ApprovalPending {
		return row, false, err
	}
	if d.by != 0 && !time.Now().Before(q.deadline(row)) {
		d = decision{state: store.ApprovalExpired, message: d.message} // too late
	}
	if d.state == store.ApprovalHour && row.Once {
		d.state = store.ApprovalOnce
	}
	if d.state == store.ApprovalHour {
		row.Grant, err = tx.Approvals().AddGrant(store.Grant{
			Channel: row.Home.Chat.Channel, Chat: row.Home.Chat.ID, Sender: row.Sender, Tool: row.Tool, Hash: row.Hash, Shown: row.Shown,
			AddedBy: d.by, ExpiresAt: time.Now().Add(grantFor),
		})
		if err != nil {
			return row, false, err
		}
	}
	if won, err = tx.Approvals().Answer(row.ID, d.state, d.by, row.Grant); err != nil || !won {
		return row, won, err
	}
	row.State, row.AnsweredBy = d.state, d.by
	if err := q.showOutcome(tx, row, d, "outcome"); err != nil || !row.Away() {
		return row, true, err
	}
	return row, true, q.tellHome(tx, row, q.words.OutcomeText(row, d.name, d.chosen)+"\n`"+row.Tool+"`")
}

// showOutcome has the question's message say what came of it, without buttons.
// A question that has not left yet does not leave any more, nor does a form that may
// have left before the last end of the process.
func (q *Questions) showOutcome(tx *store.Tx, a store.Approval, d decision, key string) error {
	asked, err := tx.Outbox().OutNamed(questionKey(a) + "/0")
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case d.message != 0 && asked.MessageID == 0:
		// A button is faster than the messenger's answer, and tells what that would.
		asked.State, asked.MessageID, asked.SentAt = store.OutboxSent, d.message, time.Now()
		if err := tx.Outbox().UpdateOut(asked); err != nil {
			return err
		}
	case asked.State == store.OutboxNew, asked.State == store.OutboxSending && a.Question:
		asked.State, asked.Note = store.OutboxDead, "answered before it was sent"
		return tx.Outbox().UpdateOut(asked)
	case d.message == 0:
		d.message = asked.MessageID
	}
	if err == nil && asked.MessageID != 0 && asked.Address.Chat != a.Address.Chat {
		d.message = 0 // it is in the group that has become this one, where ids are others
	}
	return outbox.Add(tx, q.outcome(tx, a, d, key))
}

// Settled stores what follows for a question from the end of an attempt to send its
// row: an owner whom it does not reach is not waited for; the function wakes those
// who waited.
func (q *Questions) Settled(tx *store.Tx, o store.Out) (wake func(), err error) {
	if !strings.HasPrefix(o.Key, keyPrefix) {
		return nil, nil
	}
	if o.State == store.OutboxDead {
		return q.Unreach(tx, o.Address.Chat)
	}
	return nil, q.showLate(tx, o)
}

// showLate has a question that ended while it was on its way say so, now that it is
// known which message it is. One that a button ended says so already.
func (q *Questions) showLate(tx *store.Tx, o store.Out) error {
	name, first := strings.CutSuffix(strings.TrimPrefix(o.Key, keyPrefix), "/0")
	id, err := strconv.ParseInt(name, 10, 64)
	if o.State != store.OutboxSent || !first || err != nil {
		return nil
	}
	a, err := tx.Approvals().ApprovalByID(store.ApprovalID(id))
	if errors.Is(err, store.ErrNotFound) || err == nil && a.State == store.ApprovalPending {
		return nil
	}
	if err != nil {
		return err
	}
	return outbox.Add(tx, q.outcome(tx, a, decision{message: o.MessageID}, "outcome"))
}

// outcome is the edit of a question's message. When that is
// unknown it is nil, but that an answer may be lost is a message of its own.
func (q *Questions) outcome(tx *store.Tx, a store.Approval, d decision, key string) []store.Out {
	if d.message == 0 && wording.OutcomePhrase(a) != locale.OutcomeLost {
		return nil
	}
	text := q.words.OutcomeText(a, d.name, d.chosen) + "\n`" + a.Tool + "`"
	if a.Away() {
		person, chat := names(tx, a.Home, a.Sender)
		text += "\n" + q.words.Redact.Text(q.words.Requester(a.Home, a.Sender, person, chat))
	}
	if a.Shown != "" {
		text += "\n" + locale.CodeBlock(a.Shown)
	}
	return q.words.Replacement(a.Address, d.message, text, fmt.Sprintf("%s/%s", questionKey(a), key))
}
