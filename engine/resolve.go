package engine

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
	"klawbot/internal/clip"
)

// grantFor is how long "this exact call" may run without a question.
const grantFor = time.Hour

// verdict is how an approval ends.
type verdict struct {
	state store.ApprovalState
	// by and name are who decided; 0 and "" for nobody.
	by   int64
	name string
	// message is the question's message, 0 when the answer does not come from it.
	message int64
	// chosen is the option that was taken of a question, "" for none.
	chosen string
}

// resolve ends a pending approval and returns it as it is now, which is as
// somebody else left it when they were faster.
func (e *Engine) resolve(ctx context.Context, a store.Approval, v verdict) (row store.Approval, err error) {
	err = e.life.Persist(ctx, a.Address, func(tx *store.Tx) error {
		row, _, err = e.resolveIn(tx, a.Token, v)
		return err
	})
	if err == nil {
		e.resolved(row)
	}
	return row, err
}

// resolved tells everybody whom the end of an approval concerns.
func (e *Engine) resolved(a store.Approval) {
	e.questions.wake(a.ID)
}

// resolveIn is the one place where an approval ends. It also writes the grant
// and the message that shows the outcome. An answer that comes too late is none.
// won is false when it had ended before.
func (e *Engine) resolveIn(tx *store.Tx, token string, v verdict) (row store.Approval, won bool, err error) {
	if row, err = tx.Approvals().Approval(token); err != nil || row.State != store.ApprovalPending {
		return row, false, err
	}
	if v.by != 0 && !time.Now().Before(e.questions.deadline(row)) {
		v = verdict{state: store.ApprovalExpired, message: v.message} // too late
	}
	if v.state == store.ApprovalHour && row.Once {
		v.state = store.ApprovalOnce
	}
	if v.state == store.ApprovalHour {
		row.Grant, err = tx.Approvals().AddGrant(store.Grant{
			Channel: row.Home.Chat.Channel, Chat: row.Home.Chat.ID, Sender: row.Sender, Tool: row.Tool, Hash: row.Hash, Shown: row.Shown,
			AddedBy: v.by, ExpiresAt: time.Now().Add(grantFor),
		})
		if err != nil {
			return row, false, err
		}
	}
	if won, err = tx.Approvals().Answer(row.ID, v.state, v.by, row.Grant); err != nil || !won {
		return row, won, err
	}
	row.State, row.AnsweredBy = v.state, v.by
	if err := e.showOutcome(tx, row, v, "outcome"); err != nil || !row.Away() {
		return row, true, err
	}
	return row, true, e.tellHome(tx, row, e.outcomeText(row, v)+"\n`"+row.Tool+"`")
}

// showOutcome has the question's message say what came of it, without buttons.
// A question that has not left yet does not leave any more, nor does one of a
// program that may have left before the last end of the process.
func (e *Engine) showOutcome(tx *store.Tx, a store.Approval, v verdict, key string) error {
	asked, err := tx.Outbox().OutNamed(questionKey(a) + "/0")
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case v.message != 0 && asked.MessageID == 0:
		// A tap is faster than the messenger's answer, and tells what that would.
		asked.State, asked.MessageID, asked.SentAt = store.OutboxSent, v.message, time.Now()
		if err := tx.Outbox().UpdateOut(asked); err != nil {
			return err
		}
	case asked.State == store.OutboxNew, asked.State == store.OutboxSending && a.Question:
		asked.State, asked.Note = store.OutboxDead, "answered before it was sent"
		return tx.Outbox().UpdateOut(asked)
	case v.message == 0:
		v.message = asked.MessageID
	}
	if err == nil && asked.MessageID != 0 && !sameChat(asked.Address, a.Address) {
		v.message = 0 // it is in the group that has become this one, where ids are others
	}
	return outbox.Add(tx, e.outcome(tx, a, v, key))
}

// showLate has a question that ended while it was on its way say so, now that it is
// known which message it is. One that a tap ended says so already.
func (e *Engine) showLate(tx *store.Tx, o store.Out) error {
	name, first := strings.CutSuffix(strings.TrimPrefix(o.Key, approvalKey), "/0")
	id, err := strconv.ParseInt(name, 10, 64)
	if o.State != store.OutboxSent || !first || err != nil || !strings.HasPrefix(o.Key, approvalKey) {
		return nil
	}
	a, err := tx.Approvals().ApprovalByID(store.ApprovalID(id))
	if errors.Is(err, store.ErrNotFound) || err == nil && a.State == store.ApprovalPending {
		return nil
	}
	if err != nil {
		return err
	}
	return outbox.Add(tx, e.outcome(tx, a, verdict{message: o.MessageID}, "outcome"))
}

// outcome is the edit of a question's message. When nobody knows which one that
// is, it is nil, but that an answer may be lost is said in a message of its own.
func (e *Engine) outcome(tx *store.Tx, a store.Approval, v verdict, key string) []store.Out {
	if v.message == 0 && outcomePhrase(a) != locale.OutcomeLost {
		return nil
	}
	text := e.outcomeText(a, v) + "\n`" + a.Tool + "`"
	if a.Away() {
		person, chat := names(tx, a.Home, a.Sender)
		text += "\n" + e.redact.Text(e.requester(a.Home, a.Sender, person, chat))
	}
	if a.Shown != "" {
		text += "\n" + locale.CodeBlock(a.Shown)
	}
	return outbox.Replacement(a.Address, v.message, e.gateway.Render(a.Address.Chat.Channel, text), fmt.Sprintf("%s/%s", questionKey(a), key))
}

// outcomeText says in the bot's language how an approval or a question ended.
func (e *Engine) outcomeText(a store.Approval, v verdict) string {
	text := e.say(outcomePhrase(a))
	if v.chosen != "" && a.State == store.ApprovalAnswered {
		text += ": " + locale.Ticks(v.chosen)
	}
	if v.name != "" {
		text += " (" + clip.Name(v.name) + ")"
	}
	return text
}

// outcomePhrase is the sentence for the end of an approval or a question.
func outcomePhrase(a store.Approval) locale.Phrase {
	switch {
	case a.State == store.ApprovalOnce || a.State == store.ApprovalGranted:
		return locale.OutcomeOnce
	case a.State == store.ApprovalHour:
		return locale.OutcomeHour
	case a.State == store.ApprovalAnswered:
		return locale.OutcomeAnswered
	case a.State == store.ApprovalCancelled:
		return locale.OutcomeCancelled
	case a.State == store.ApprovalDenied && a.Question:
		return locale.OutcomeDeclined
	case a.State == store.ApprovalDenied:
		return locale.OutcomeDenied
	case a.State == store.ApprovalExpired && a.Question:
		return locale.OutcomeUnanswered
	case a.State == store.ApprovalExpired:
		return locale.OutcomeExpired
	case a.Question && a.AnsweredBy != 0:
		return locale.OutcomeLost
	case a.Question:
		return locale.OutcomeEnded
	}
	return locale.OutcomeStopped
}
