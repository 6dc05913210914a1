package approval

import (
	"errors"
	"strconv"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/wording"
	"klawbot/gateway"
)

// readChoice reads the choice of a button. ofForm says that it answers a form and
// allows nothing.
func readChoice(name string) (c choice, ofForm, ok bool) {
	c = choice{option: -1}
	switch name {
	case wording.Once:
		c.state = store.ApprovalOnce
	case wording.Hour:
		c.state = store.ApprovalHour
	case wording.Deny:
		c.state = store.ApprovalDenied
	case wording.Decline:
		c.state, ofForm = store.ApprovalDenied, true
	case wording.Cancel:
		c.state, ofForm = store.ApprovalCancelled, true
	default:
		n, err := strconv.Atoi(name)
		return choice{state: store.ApprovalAnswered, option: n}, true, err == nil && n >= 0
	}
	return c, ofForm, true
}

// Outcome is what a button led to.
type Outcome struct {
	// Say is what the person is told.
	Say string
	// Outs are what leaves because of it.
	Outs []store.Out
	// Open says that Changed ends the update of the button.
	Open bool
	// Changed is to be called when all of it is stored, unless it is nil.
	Changed func()
}

// ErrUnknown: the question of a button is not known any more.
var ErrUnknown = errors.New("the question is not known any more")

// Press acts on a button at an address. A person who may not decide changes nothing. It returns ErrUnknown when there is no such question.
func (q *Questions) Press(tx *store.Tx, at gateway.Address, m gateway.Message) (Outcome, error) {
	token, name, ours := wording.ReadButton(m.Callback.Data)
	c, ofForm, ok := readChoice(name)
	if !ours || !ok {
		return Outcome{Say: q.words.Say(locale.Expired)}, nil
	}
	a, err := tx.Approvals().Approval(token)
	if errors.Is(err, store.ErrNotFound) {
		return Outcome{}, ErrUnknown
	}
	if err != nil {
		return Outcome{}, err
	}
	asks, err := q.asks(tx, a, at, m.Callback.Message)
	switch {
	case err != nil:
		return Outcome{}, err
	case !asks || !q.mayDecide(a, m):
		q.log.Warn("button refused", "chat", m.Address.String(), "user", m.Sender.ID, "call", a.Call)
		if a.Owners {
			return Outcome{Say: q.words.Say(locale.OwnersDecide)}, nil
		}
		return Outcome{Say: q.words.Say(locale.NotYours)}, nil
	}
	d := decision{state: c.state, by: m.Sender.ID, name: m.Sender.Name, message: m.Callback.Message}
	if at.Chat != a.Address.Chat { // it is in the group that has become this one
		d.message = 0
	}
	var f *form
	if a.State == store.ApprovalPending && (ofForm || a.Question) {
		if f = q.form(token); f == nil || !ofForm || c.option >= len(f.Options) {
			return Outcome{Say: q.words.Say(locale.Expired)}, nil
		}
		if c.option >= 0 {
			d.chosen = q.words.OptionText(f.Options[c.option])
		}
	}
	a, won, err := q.decide(tx, token, d)
	if err != nil {
		return Outcome{}, err
	}
	p := Outcome{Say: q.words.Say(wording.OutcomePhrase(a))}
	if !won {
		// The buttons are still there: the edit that takes them away was lost.
		d.name, d.chosen = "", ""
		p.Outs = q.outcome(tx, a, d, "again")
		return p, nil
	}
	p.Changed = func() {
		lifecycle.CrashPoint("approval.answered")
		if f != nil {
			q.answer(f, c)
		}
		q.wake(a.ID)
	}
	return p, nil
}

// asks reports whether a button is below the very message that asks.
func (q *Questions) asks(tx *store.Tx, a store.Approval, at gateway.Address, message int64) (bool, error) {
	home, err := tx.Chats().Home(at) // the message stays where it is when the chat moves
	if err != nil || home.Chat != a.Address.Chat {
		return false, err
	}
	asked, err := tx.Outbox().OutNamed(questionKey(a) + "/0")
	if errors.Is(err, store.ErrNotFound) {
		return true, nil // long ago
	}
	// A button can be faster than the answer that tells the message's id, and a
	// question that went out twice has two messages.
	known := asked.MessageID != 0 && asked.Resent == 0
	return err == nil && (!known || asked.MessageID == message), err
}

// mayDecide reports whether the sender may answer: an owner, as of now, or who
// caused the call when it is not for owners alone.
func (q *Questions) mayDecide(a store.Approval, m gateway.Message) bool {
	return !a.Owners && m.Sender.ID != 0 && m.Sender.ID == a.Sender || q.Owns(m.Address, m.Sender.ID)
}
