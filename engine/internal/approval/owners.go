package approval

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

// inGroup reports whether an address is in a group: the ids of groups are negative.
func inGroup(at gateway.Address) bool { return at.Chat.ID < 0 }

// CausedBy says who caused what was written: the person of the last message. Messages
// of several people are an owner's only when owners wrote all of them; else they are
// those of the last one who is no owner.
func (q *Questions) CausedBy(rows []store.Update) (person int64, owned bool) {
	owned = len(rows) > 0
	for _, r := range rows {
		owns := q.Owns(r.Address, r.From)
		if owns && !owned {
			continue
		}
		person, owned = r.From, owns
	}
	return person, owned
}

// ownerHere reports whether an owner can be asked in the chat of the turn: it is an
// owner's own, or a group in which an owner asks. A run may only bring its result there.
func (a *Approver) ownerHere() bool {
	at := a.turn.Address
	return a.questions.Owns(at, at.Chat.ID) || a.turn.Owned && inGroup(at) && a.home().Chat == a.address().Chat
}

// ownerChats are the private chats of owners that the bot may write to, those of
// the turn's channel first.
func (a *Approver) ownerChats() []gateway.Address {
	var all []gateway.Address
	owners := a.questions.words.Settings().Owners
	for _, channel := range slices.Compact([]string{a.turn.Address.Chat.Channel, "telegram"}) {
		for _, id := range owners[channel] {
			at := gateway.Address{Chat: gateway.ChatID{Channel: channel, ID: id}}
			if a.questions.words.Gateway.Reachable(at.Chat) == nil {
				all = append(all, at)
			}
		}
	}
	return all
}

// askOwners asks the first owner who can be reached, in their private chat,
// and the next one when the request does not arrive. Each is asked under an id of
// its own.
func (a *Approver) askOwners(ctx context.Context, wanted store.Approval, asked tools.ApprovalRequest) (tools.Answer, error) {
	if refusal, err := a.tooMany(ctx, wanted); refusal != "" || err != nil {
		return tools.Answer{Reason: refusal}, err
	}
	var tried []gateway.Address
	for {
		at, err := a.ownerToAsk(ctx, wanted, tried)
		if err != nil {
			return tools.Answer{}, err
		}
		if at == (gateway.Address{}) {
			return tools.Answer{Reason: noOwner}, a.questions.tellNoOwner(ctx, wanted, len(tried))
		}
		wanted.Address = at
		row, refusal, err := a.ask(ctx, wanted, asked)
		if err != nil || refusal != "" || row.State != store.ApprovalUnreached {
			return a.answer(row, refusal), err
		}
		tried = append(tried, row.Address)
		wanted.Call = fmt.Sprintf("%s/owner%d", asked.Call.ID, len(tried))
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
func (a *Approver) tooMany(ctx context.Context, wanted store.Approval) (refusal string, err error) {
	var open, vain int
	err = a.questions.store.Read(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Approvals().ApprovalOf(wanted.Turn, wanted.Call); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		open, vain, err = tx.Approvals().Requests(wanted.Sender, time.Now().Add(-max(time.Hour, a.turn.Timeout)))
		return err
	})
	switch {
	case open >= maxOpenRequests:
		refusal = fmt.Sprintf("%d requests of this person wait for an owner already; tell the person to wait for the answers first", open)
	case vain >= maxVainRequests:
		refusal = fmt.Sprintf("owners have not agreed to %d requests of this person within the last hour; tell the person to speak with an owner, and do not try it in another way", vain)
	}
	if refusal != "" {
		a.turn.Log.Warn("owner not asked", "tool", wanted.Tool, "user", wanted.Sender, "open", open, "vain", vain)
	}
	return refusal, err
}

// ownerToAsk is the chat in which the call was asked about already, or the next
// one of an owner; the zero Address when there is none.
func (a *Approver) ownerToAsk(ctx context.Context, wanted store.Approval, tried []gateway.Address) (at gateway.Address, err error) {
	err = a.questions.store.Read(ctx, func(tx *store.Tx) error {
		known, err := tx.Approvals().ApprovalOf(wanted.Turn, wanted.Call)
		if err == nil {
			at = known.Address
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, owner := range a.ownerChats() {
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
// asked elsewhere and for those who read the question of a job: "" when it is plain.
func (a *Approver) origin(ctx context.Context, wanted store.Approval) string {
	q, t := a.questions, a.turn
	if !wanted.Away() && t.Job == nil {
		return ""
	}
	home := a.home()
	var known, place string
	_ = q.store.Read(ctx, func(tx *store.Tx) error { known, place = names(tx, home, t.User); return nil }) // ids will do
	lines := []string{q.words.Requester(home, t.User, cmp.Or(t.Name, known), place)}
	if t.Job != nil {
		lines = append(lines, q.words.Say(locale.AskedBySchedule, locale.Ticks(clip.Name(t.Job.Name))))
	}
	return q.words.Redact.Text(strings.Join(lines, "\n"))
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

// ownerKey is the key of the message that tells a chat that an owner was asked.
func ownerKey(a store.Approval) string {
	call, _, _ := strings.Cut(a.Call, "/")
	return "owner/" + call
}

// notice tells the chat of a call that an owner was asked, once. The run of a
// schedule says which one, because the chat has not just asked for anything; /stop
// does not reach it.
func (a *Approver) notice(wanted store.Approval) []store.Out {
	q, text := a.questions, a.questions.words.Say(locale.OwnerAsked, wanted.Tool)
	if j := a.turn.Job; j != nil && j.Kind != store.JobSpawn {
		text = q.words.Redact.Text(q.words.Say(locale.OwnerAskedByRun, locale.Ticks(clip.Name(j.Name)), wanted.Tool))
	}
	return q.words.Rows(wanted.Home, text, ownerKey(wanted))
}

// tellHome has the notice say what came of the request.
func (q *Questions) tellHome(tx *store.Tx, a store.Approval, text string) error {
	told, err := tx.Outbox().OutNamed(ownerKey(a) + "/0")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if told.Address.Chat != a.Home.Chat {
		told.MessageID = 0 // it is in the group that has become this one
	}
	return outbox.Add(tx, q.words.Replacement(a.Home, told.MessageID, text, ownerKey(a)+"/outcome"))
}

// tellNoOwner has the notice say that no owner could be reached, after some were
// tried.
func (q *Questions) tellNoOwner(ctx context.Context, a store.Approval, tried int) error {
	if tried == 0 {
		return nil
	}
	return q.life.Persist(ctx, a.Home, func(tx *store.Tx) error { return q.tellHome(tx, a, q.words.Say(locale.OwnerUnreached)) })
}

// Unreach ends the requests that an owner's chat does not get, so that the next
// owner is asked; the function wakes those who wait.
func (q *Questions) Unreach(tx *store.Tx, chat gateway.ChatID) (wake func(), err error) {
	lost, err := tx.Approvals().UnreachApprovals(chat.Channel, chat.ID)
	return func() {
		for _, a := range lost {
			q.wake(a.ID)
		}
	}, err
}
