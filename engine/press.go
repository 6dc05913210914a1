package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// The data of a question's buttons: a mark, the token, and the choice.
const (
	choiceMark = "ask/"
	choiceOnce = "/once"
	choiceHour = "/hour"
	choiceNo   = "/no"
	// Of questions that programs ask; an option is its number.
	choiceDecline = "/decline"
	choiceCancel  = "/cancel"
)

// choice is the data of a button, well below the 64 bytes that a button has.
func choice(token, answer string) string { return choiceMark + token + answer }

// readChoice reads what choice wrote. question says that it answers a question
// and allows nothing.
func readChoice(data string) (token string, a answer, question, ok bool) {
	rest, ok := strings.CutPrefix(data, choiceMark)
	token, name, found := strings.Cut(rest, "/")
	a = answer{option: -1}
	switch "/" + name {
	case choiceOnce:
		a.state = store.ApprovalOnce
	case choiceHour:
		a.state = store.ApprovalHour
	case choiceNo:
		a.state = store.ApprovalDenied
	case choiceDecline:
		a.state, question = store.ApprovalDenied, true
	case choiceCancel:
		a.state, question = store.ApprovalCancelled, true
	default:
		n, err := strconv.Atoi(name)
		if ok = ok && err == nil && n >= 0; ok {
			a, question = answer{state: store.ApprovalAnswered, option: n}, true
		}
	}
	return token, a, question, ok && found
}

// press acts on a tap, outside the lane. The decision is stored before the
// messenger is told, so that a lost answer loses nothing.
func (e *Engine) press(ctx context.Context, it item) {
	var t tap
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		if t, err = e.tapped(tx, it); err != nil {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", it.row.ID)
	}, func(err error) {
		if err != nil {
			e.log.Error("tap not stored", "chat", it.msg.Address.String(), "err", err)
			t.say = e.say(locale.Internal)
		} else if t.approval.ID != 0 {
			lifecycle.CrashPoint("approval.answered")
			if t.question != nil {
				e.inquiries.set(t.question, t.answer.reply())
			}
			e.resolved(t.approval)
		}
		e.life.Go(func(context.Context) { e.acknowledge(ctx, it.msg, t.say) })
	})
}

// acknowledge ends the sign of waiting on a button.
func (e *Engine) acknowledge(ctx context.Context, m gateway.Message, text string) {
	if err := e.gateway.Answer(context.WithoutCancel(ctx), m.Address, m.Press.Query, text); err != nil {
		e.log.Warn("button not answered", "chat", m.Address.String(), "err", err)
	}
}

// tap is what came of a tap.
type tap struct {
	// say is what the person is told.
	say string
	// approval is set when the tap ended it.
	approval store.Approval
	// question is the one that the tap answered, with answer, nil for none.
	question *inquiry
	answer   answer
}

// tapped decides about a tap. Whoever may not decide leaves the question as it
// is.
func (e *Engine) tapped(tx *store.Tx, it item) (tap, error) {
	if schedule.IsButton(it.msg.Press.Data) {
		return e.pressedJob(tx, it)
	}
	token, answer, question, ok := readChoice(it.msg.Press.Data)
	if !ok {
		return tap{say: e.say(locale.Expired)}, nil
	}
	a, err := tx.Approvals().Approval(token)
	if errors.Is(err, store.ErrNotFound) {
		may, err := e.mayReplace(tx, it)
		if may {
			err = outbox.Add(tx, outbox.Replacement(it.row.Address, it.msg.Press.Message, e.gateway.Render(it.row.Address.Chat.Channel, e.say(locale.Expired)), fmt.Sprintf("press/%d", it.row.ID)))
		}
		return tap{say: e.say(locale.Expired)}, err
	}
	if err != nil {
		return tap{}, err
	}
	mine, err := e.belongs(tx, a, it)
	switch {
	case err != nil:
		return tap{}, err
	case !mine || !e.mayDecide(a, it.msg):
		e.log.Warn("tap refused", "chat", it.msg.Address.String(), "user", it.msg.Sender.ID, "call", a.Call)
		if a.Owners {
			return tap{say: e.say(locale.OwnersDecide)}, nil
		}
		return tap{say: e.say(locale.NotYours)}, nil
	}
	v := verdict{state: answer.state, by: it.msg.Sender.ID, name: it.msg.Sender.Name, message: it.msg.Press.Message}
	if !sameChat(it.row.Address, a.Address) { // it is in the group that has become this one
		v.message = 0
	}
	var asked *inquiry
	if a.State == store.ApprovalPending && (question || a.Question) {
		if asked = e.inquiries.find(token); asked == nil || !question || answer.option >= len(asked.Options) {
			return tap{say: e.say(locale.Expired)}, nil
		}
		if answer.option >= 0 {
			v.chosen = e.optionText(asked.Options[answer.option])
		}
	}
	a, won, err := e.resolveIn(tx, token, v)
	if err != nil {
		return tap{}, err
	}
	if !won {
		// The buttons are still there: the edit that takes them away was lost.
		v.name, v.chosen = "", ""
		return tap{say: e.say(outcomePhrase(a))}, outbox.Add(tx, e.outcome(tx, a, v, "again"))
	}
	return tap{say: e.say(outcomePhrase(a)), approval: a, question: asked, answer: answer}, nil
}

// belongs reports whether a tap comes from the very message that asks.
func (e *Engine) belongs(tx *store.Tx, a store.Approval, it item) (bool, error) {
	at, err := tx.Chats().Home(it.row.Address) // the message stays where it is when the chat moves
	if err != nil || !sameChat(at, a.Address) {
		return false, err
	}
	asked, err := tx.Outbox().OutNamed(questionKey(a) + "/0")
	if errors.Is(err, store.ErrNotFound) {
		return true, nil // long ago
	}
	// A tap can be faster than the answer that tells the message's id, and a
	// question that went out twice has two messages.
	known := asked.MessageID != 0 && asked.Resent == 0
	return err == nil && (!known || asked.MessageID == it.msg.Press.Message), err
}

// mayReplace reports whether a tap may change the message below which it is said to
// be. The program of a person can send any data for any message: in a group only an
// owner is believed without a look at whether the message has such a button.
func (e *Engine) mayReplace(tx *store.Tx, it item) (bool, error) {
	if !it.row.Group || e.owns(it.msg) {
		return true, nil
	}
	outs, err := tx.Outbox().OutsOf(it.row.Address, it.msg.Press.Message)
	for _, o := range outs {
		var p gateway.Part
		if err := json.Unmarshal(o.Body, &p); err != nil {
			return false, err
		}
		for _, b := range slices.Concat(p.Buttons...) {
			if b.Data == it.msg.Press.Data {
				return true, nil
			}
		}
	}
	return false, err
}

// mayDecide reports whether the sender may answer: an owner, as of now, or who
// caused the call when it is not for owners alone.
func (e *Engine) mayDecide(a store.Approval, m gateway.Message) bool {
	return !a.Owners && m.Sender.ID != 0 && m.Sender.ID == a.Sender || e.owns(m)
}

// inWords answers the oldest question of a local chat when the message is an
// answer to it, and reports whether it was.
func (e *Engine) inWords(ctx context.Context, it item) bool {
	state := answerWord(it.msg.Text)
	if state == "" || !it.row.Address.Chat.Local() {
		return false
	}
	var asked, ended store.Approval
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		asked, err = tx.Approvals().PendingApproval(it.row.Address)
		return err
	})
	if err != nil || asked.Question {
		return false // nothing is asked that a yes or no answers
	}
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		if ended, _, err = e.resolveIn(tx, asked.Token, verdict{state: state, by: it.msg.Sender.ID}); err != nil {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "", it.row.ID)
	}, func(err error) {
		if err != nil {
			e.log.Error("answer not stored", "chat", it.msg.Address.String(), "err", err)
			return
		}
		e.resolved(ended)
	})
	return true
}

// answerWord is what a word answers, "" when it is no answer.
func answerWord(text string) store.ApprovalState {
	word := strings.ToLower(strings.TrimSpace(text))
	switch {
	case slices.Contains([]string{"y", "yes", "д", "да"}, word):
		return store.ApprovalOnce
	case slices.Contains([]string{"a", "always", "в", "всегда"}, word):
		return store.ApprovalHour
	case slices.Contains([]string{"n", "no", "н", "нет"}, word):
		return store.ApprovalDenied
	}
	return ""
}
