package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// cause notes who caused the turn: the person of the last message. Messages of
// several people are an owner's only when owners wrote all of them; else they are
// those of the last one who is no owner.
func (t *turn) cause(rows []store.Update) {
	t.user, t.owned = 0, len(rows) > 0
	for _, r := range rows {
		owns := t.e.owns(gateway.Message{Address: r.Address, Sender: gateway.Sender{ID: r.From}})
		if owns && !t.owned {
			continue
		}
		t.user, t.owned = r.From, owns
	}
}

// ownerHere reports whether an owner can be asked in the chat of the turn: it is an
// owner's own, or a group in which an owner asks. A run may only bring its result there.
func (t *turn) ownerHere() bool {
	at := t.row.Address
	return at.Chat.Local() || slices.Contains(t.e.settings().Owners[at.Chat.Channel], at.Chat.ID) || t.owned && isGroup(t.row) && sameChat(t.home(), t.address())
}

// ownerChats are the private chats of owners that the bot may write to, those of
// the turn's channel first.
func (t *turn) ownerChats() []gateway.Address {
	var all []gateway.Address
	owners := t.e.settings().Owners
	for _, channel := range slices.Compact([]string{t.row.Address.Chat.Channel, "telegram"}) {
		for _, id := range owners[channel] {
			at := gateway.Address{Chat: gateway.ChatID{Channel: channel, ID: id}}
			if t.e.gateway.Reachable(at.Chat) == nil {
				all = append(all, at)
			}
		}
	}
	return all
}

// approveByOwner asks the first owner who can be reached, in their private chat,
// and the next one when the request does not arrive. Each is asked under an id of
// its own.
func (t *turn) approveByOwner(ctx context.Context, asked store.Approval, q tools.Question) (tools.Answer, error) {
	if refusal, err := t.tooMany(ctx, asked); refusal != "" || err != nil {
		return tools.Answer{Reason: refusal}, err
	}
	var tried []gateway.Address
	for {
		at, err := t.ownerToAsk(ctx, asked, tried)
		if err != nil {
			return tools.Answer{}, err
		}
		if at == (gateway.Address{}) {
			return tools.Answer{Reason: noOwner}, t.e.tellNoOwner(ctx, asked, len(tried))
		}
		asked.Address = at
		row, refusal, err := t.decide(ctx, asked, q)
		if err != nil || refusal != "" || row.State != store.ApprovalUnreached {
			return t.answered(row, refusal), err
		}
		tried = append(tried, row.Address)
		asked.Call = fmt.Sprintf("%s/owner%d", q.Call.ID, len(tried))
	}
}

// How many requests owners get because of one person, so that they can read them:
// at one time, and in an hour without having agreed.
const (
	maxOpenRequests = 3
	maxVainRequests = 10
)

// tooMany says in words for the model why an owner is not asked now, "" when one is.
// A request that was sent already counts no more.
func (t *turn) tooMany(ctx context.Context, asked store.Approval) (refusal string, err error) {
	var open, vain int
	err = t.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Approvals().ApprovalOf(asked.Turn, asked.Call); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		open, vain, err = tx.Approvals().Requests(asked.Sender, time.Now().Add(-max(time.Hour, t.settings.ApprovalTimeout)))
		return err
	})
	switch {
	case open >= maxOpenRequests:
		refusal = fmt.Sprintf("%d requests of this person wait for an owner already; tell the person to wait for the answers first", open)
	case vain >= maxVainRequests:
		refusal = fmt.Sprintf("owners have not agreed to %d requests of this person within the last hour; tell the person to speak with an owner, and do not try it in another way", vain)
	}
	if refusal != "" {
		t.log.Warn("owner not asked", "tool", asked.Tool, "user", asked.Sender, "open", open, "vain", vain)
	}
	return refusal, err
}

// ownerToAsk is the chat in which the call was asked about already, or the next
// one of an owner; the zero Address when there is none.
func (t *turn) ownerToAsk(ctx context.Context, asked store.Approval, tried []gateway.Address) (at gateway.Address, err error) {
	err = t.e.store.Read(ctx, func(tx *store.Tx) error {
		known, err := tx.Approvals().ApprovalOf(asked.Turn, asked.Call)
		if err == nil {
			at = known.Address
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, owner := range t.ownerChats() {
			gone, err := tx.Chats().ChatGone(owner.Chat.Channel, owner.Chat.ID)
			if err != nil {
				return err
			}
			if gone == "" && !slices.Contains(tried, owner) {
				at = owner
				return nil
			}
		}
		return nil
	})
	return at, err
}

// origin says who wants a call, where and by which schedule, for an owner who is
// asked elsewhere and for whoever reads the question of a job: "" when it is plain.
func (t *turn) origin(ctx context.Context, a store.Approval) string {
	if !a.Away() && t.job == nil {
		return ""
	}
	home := t.home()
	name := ""
	for _, m := range t.asked {
		if m.Sender == t.user {
			name = m.SenderName
		}
	}
	var known, place string
	_ = t.e.store.Read(ctx, func(tx *store.Tx) error { known, place = names(tx, home, t.user); return nil }) // ids will do
	lines := []string{t.e.requester(home, t.user, cmp.Or(name, known), place)}
	if t.job != nil {
		lines = append(lines, t.e.say(locale.AskedBySchedule, locale.Ticks(clip.Name(t.job.job.Name))))
	}
	return t.e.redact.Text(strings.Join(lines, "\n"))
}

// names are what a person and a chat are called, empty when that is not known.
func names(tx *store.Tx, home gateway.Address, user int64) (person, chat string) {
	chat, _ = tx.Chats().ChatName(home.Chat.Channel, home.Chat.ID)
	person, _ = tx.Chats().ChatName(home.Chat.Channel, user)
	if person == "" {
		person, _ = tx.Sessions().PersonName(user)
	}
	return person, chat
}

// requester says who wants a call, and in which chat.
func (e *Engine) requester(home gateway.Address, user int64, name, chat string) string {
	who := fmt.Sprint(user)
	if name != "" {
		who = locale.Ticks(clip.Name(name)) + " (" + who + ")"
	}
	switch {
	case user == 0:
		return e.say(locale.AskedByNobody)
	case home.Chat.ID == user || home.Chat.Local():
		return e.say(locale.AskedPrivately, who)
	}
	where := home.String()
	if chat != "" {
		where = locale.Ticks(clip.Name(chat)) + " (" + where + ")"
	}
	return e.say(locale.AskedIn, who, where)
}

// ownerKey is the key of the message that tells a chat that an owner was asked.
func ownerKey(a store.Approval) string {
	call, _, _ := strings.Cut(a.Call, "/")
	return "owner/" + call
}

// notice tells the chat of a call that an owner was asked, once. The run of a
// schedule says which one, because nobody there has just asked for anything; /stop
// does not reach it.
func (t *turn) notice(a store.Approval) []store.Out {
	to, text := a.Home, t.e.say(locale.OwnerAsked, a.Tool)
	if t.job != nil && t.job.job.Kind != store.JobSpawn {
		text = t.e.redact.Text(t.e.say(locale.OwnerAskedByRun, locale.Ticks(clip.Name(t.job.job.Name)), a.Tool))
	}
	return outbox.Rows(to, t.e.gateway.Render(to.Chat.Channel, text), ownerKey(a), 0)
}

// tellHome has the notice say what came of the request.
func (e *Engine) tellHome(tx *store.Tx, a store.Approval, text string) error {
	told, err := tx.Outbox().OutNamed(ownerKey(a) + "/0")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if !sameChat(told.Address, a.Home) {
		told.MessageID = 0 // it is in the group that has become this one
	}
	return outbox.Add(tx, outbox.Replacement(a.Home, told.MessageID, e.gateway.Render(a.Home.Chat.Channel, text), ownerKey(a)+"/outcome"))
}

// tellNoOwner has the notice say that no owner could be reached, after some were
// tried.
func (e *Engine) tellNoOwner(ctx context.Context, a store.Approval, tried int) error {
	if tried == 0 {
		return nil
	}
	return e.life.Persist(ctx, a.Home, func(tx *store.Tx) error { return e.tellHome(tx, a, e.say(locale.OwnerUnreached)) })
}

// unreach ends the requests that an owner's chat does not get, so that the next
// owner is asked; the function wakes those who wait.
func (e *Engine) unreach(tx *store.Tx, chat gateway.Address) (wake func(), err error) {
	lost, err := tx.Approvals().UnreachApprovals(chat.Chat.Channel, chat.Chat.ID)
	return func() {
		for _, a := range lost {
			e.questions.wake(a.ID)
		}
	}, err
}
