package approval

import (
	"errors"
	"strconv"
	"strings"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// ButtonPrefix begins the data of a question's buttons; the token and the choice
// follow.
const ButtonPrefix = "ask/"

// The choices of a button.
const (
	choiceOnce = "/once"
	choiceHour = "/hour"
	choiceNo   = "/no"
	// Of forms; an option is its number.
	choiceDecline = "/decline"
	choiceCancel  = "/cancel"
)

// buttonData is the data of a button, well below the 64 bytes that a button has.
func buttonData(token, choice string) string { return ButtonPrefix + token + choice }

// readButton reads what buttonData wrote. ofForm says that it answers a form and
// allows nothing.
func readButton(data string) (token string, c choice, ofForm, ok bool) {
	rest, ok := strings.CutPrefix(data, ButtonPrefix)
	token, name, found := strings.Cut(rest, "/")
	c = choice{option: -1}
	switch "/" + name {
	case choiceOnce:
		c.state = store.ApprovalOnce
	case choiceHour:
		c.state = store.ApprovalHour
	case choiceNo:
		c.state = store.ApprovalDenied
	case choiceDecline:
		c.state, ofForm = store.ApprovalDenied, true
	case choiceCancel:
		c.state, ofForm = store.ApprovalCancelled, true
	default:
		n, err := strconv.Atoi(name)
		if ok = ok && err == nil && n >= 0; ok {
			c, ofForm = choice{state: store.ApprovalAnswered, option: n}, true
		}
	}
	return token, c, ofForm, ok && found
}

// Pressed is what came of a button.
type Pressed struct {
	// Say is what the person is told.
	Say string
	// Outs are what leaves because of it.
	Outs []store.Out
	// Changed is to be called when all of it is stored, unless it is nil.
	Changed func()
}

// ErrUnknown: nobody knows the question of a button any more.
var ErrUnknown = errors.New("the question is not known any more")

// Press decides about a button at an address. Whoever may not decide leaves the
// question as it is. It returns ErrUnknown when there is no such question.
func (q *Questions) Press(tx *store.Tx, at gateway.Address, m gateway.Message) (Pressed, error) {
	token, c, ofForm, ok := readButton(m.Press.Data)
	if !ok {
		return Pressed{Say: q.say(locale.Expired)}, nil
	}
	a, err := tx.Approvals().Approval(token)
	if errors.Is(err, store.ErrNotFound) {
		return Pressed{}, ErrUnknown
	}
	if err != nil {
		return Pressed{}, err
	}
	asks, err := q.asks(tx, a, at, m.Press.Message)
	switch {
	case err != nil:
		return Pressed{}, err
	case !asks || !q.mayDecide(a, m):
		q.log.Warn("tap refused", "chat", m.Address.String(), "user", m.Sender.ID, "call", a.Call)
		if a.Owners {
			return Pressed{Say: q.say(locale.OwnersDecide)}, nil
		}
		return Pressed{Say: q.say(locale.NotYours)}, nil
	}
	d := decision{state: c.state, by: m.Sender.ID, name: m.Sender.Name, message: m.Press.Message}
	if at.Chat != a.Address.Chat { // it is in the group that has become this one
		d.message = 0
	}
	var f *form
	if a.State == store.ApprovalPending && (ofForm || a.Question) {
		if f = q.form(token); f == nil || !ofForm || c.option >= len(f.Options) {
			return Pressed{Say: q.say(locale.Expired)}, nil
		}
		if c.option >= 0 {
			d.chosen = q.optionText(f.Options[c.option])
		}
	}
	a, won, err := q.decide(tx, token, d)
	if err != nil {
		return Pressed{}, err
	}
	p := Pressed{Say: q.say(outcomePhrase(a))}
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
