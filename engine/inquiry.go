package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

var _ tools.Asker = approver{}

// Ask asks the person of the turn on behalf of a program, in the chat of the
// turn; a page to open is an owner's matter. Runs of jobs decline, as nobody
// attends them. A turn asks one thing at a time.
func (a approver) Ask(ctx context.Context, q tools.Inquiry) (tools.Reply, error) {
	t := a.t
	declined := tools.Reply{Outcome: tools.Declined, Option: -1}
	if t.job != nil {
		return declined, nil
	}
	select {
	case t.asking <- struct{}{}:
		defer func() { <-t.asking }()
	case <-ctx.Done():
		return declined, context.Cause(ctx)
	}
	here := t.address()
	at, who := here, t.user
	if q.Page != "" {
		if at, who = t.opener(); who == 0 {
			return declined, nil
		}
		if at != here {
			t.e.outbox.Post(ctx, here, "question/"+q.Call.ID, t.e.say(locale.AskOwner, q.From))
		}
	}
	defer t.show.Wait(q.Call.Name)()
	return t.e.inquire(ctx, store.Approval{
		Turn: t.row.ID, Call: q.Call.ID, Address: at, Sender: who, Tool: q.Call.Name, ExpiresAt: time.Now().Add(t.settings.ApprovalTimeout),
	}, q)
}

// Refuse tells the chat what a program asked for in vain.
func (a approver) Refuse(ctx context.Context, c tools.Call, from, what string) {
	if a.t.job == nil {
		a.t.e.outbox.Post(ctx, a.t.row.Address, "refused/"+c.ID+"/"+rand.Text(), a.t.e.say(locale.AskRefused, from, what))
	}
}

// opener is the owner who is asked to open a page: the person of the turn in
// their own chat, else the first that can be written to; 0 for none.
func (t *turn) opener() (at gateway.Address, owner int64) {
	if t.owned && !isGroup(t.row) {
		return t.address(), t.user
	}
	for _, at := range t.ownerChats() {
		return at, at.Chat.ID
	}
	return gateway.Address{}, 0
}

// inquiries are the questions of programs that wait for an answer in this
// process. After its end nobody wants to know any more.
type inquiries struct {
	mu   sync.Mutex
	open []*inquiry // guarded by mu; the oldest first
}

// inquiry is a question that waits.
type inquiry struct {
	asked store.Approval
	tools.Inquiry
	reply tools.Reply // guarded by the mu of inquiries
}

// begin takes a question in; the function takes it out again.
func (all *inquiries) begin(asked store.Approval, q tools.Inquiry) (i *inquiry, done func()) {
	i = &inquiry{asked: asked, Inquiry: q}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.open = append(all.open, i)
	return i, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.open = slices.DeleteFunc(all.open, func(o *inquiry) bool { return o == i })
	}
}

// find returns the question with a token, nil for none.
func (all *inquiries) find(token string) *inquiry {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, i := range all.open {
		if i.asked.Token == token {
			return i
		}
	}
	return nil
}

// of returns the newest question that a text of a person at an address answers,
// with the answer, nil for none.
func (all *inquiries) of(at gateway.Address, person int64, text string, words answerWords) (*inquiry, answer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, i := range slices.Backward(all.open) {
		if i.asked.Address != at || i.asked.Sender != person {
			continue
		}
		if a, ok := i.read(text, words); ok {
			return i, a
		}
	}
	return nil, answer{}
}

// set stores what the person answered, before whoever waits is woken.
func (all *inquiries) set(i *inquiry, r tools.Reply) {
	all.mu.Lock()
	defer all.mu.Unlock()
	i.reply = r
}

// outcome is how a question ended.
func (all *inquiries) outcome(i *inquiry, s store.ApprovalState) tools.Reply {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch s {
	case store.ApprovalAnswered:
		return i.reply
	case store.ApprovalDenied:
		return tools.Reply{Outcome: tools.Declined, Option: -1}
	}
	return tools.Reply{Outcome: tools.Cancelled, Option: -1}
}

// answer is what a text or a tap answers to a question.
type answer struct {
	state  store.ApprovalState
	option int
	text   string
}

func (a answer) reply() tools.Reply {
	return tools.Reply{Outcome: tools.Answered, Option: a.option, Text: a.text}
}

// answerWords are the words for the buttons where there are none.
type answerWords struct{ options, decline, cancel []string }

// read reads a text as an answer. Where there are no buttons, words choose.
func (i *inquiry) read(text string, words answerWords) (answer, bool) {
	word := strings.TrimSpace(text)
	is := func(name string) bool { return strings.EqualFold(word, name) }
	switch {
	case slices.ContainsFunc(words.decline, is):
		return answer{state: store.ApprovalDenied, option: -1}, true
	case slices.ContainsFunc(words.cancel, is):
		return answer{state: store.ApprovalCancelled, option: -1}, true
	}
	if n := slices.IndexFunc(words.options, is); n >= 0 && n < len(i.Options) {
		return answer{state: store.ApprovalAnswered, option: n}, true
	}
	if !i.Typed || word == "" || !strings.HasPrefix(word, i.Begins) {
		return answer{}, false
	}
	return answer{store.ApprovalAnswered, -1, text}, true
}

// inquire asks a person and returns when that has ended. It does not ask a second
// time about the same call.
func (e *Engine) inquire(ctx context.Context, asked store.Approval, q tools.Inquiry) (tools.Reply, error) {
	asked.Token, asked.Question, asked.Shown, asked.Home = rand.Text(), true, e.asked(q), asked.Address
	i, done := e.inquiries.begin(asked, q)
	defer done()
	fresh := false
	err := e.life.Persist(ctx, asked.Address, func(tx *store.Tx) error {
		_, err := tx.Approvals().ApprovalOf(asked.Turn, asked.Call)
		if fresh = errors.Is(err, store.ErrNotFound); !fresh {
			return err
		}
		if asked.ID, err = tx.Approvals().AddApproval(asked); err != nil {
			return err
		}
		return outbox.Add(tx, e.inquiryParts(asked, q))
	})
	if err != nil || !fresh {
		return tools.Reply{Outcome: tools.Cancelled, Option: -1}, err
	}
	asked.State = store.ApprovalPending
	lifecycle.CrashPoint("question.asked")
	row, err := e.await(ctx, asked)
	e.log.Info("question", "from", q.From, "call", row.Call, "state", string(row.State), "by", row.AnsweredBy)
	return e.inquiries.outcome(i, row.State), err
}

// closeQuestions ends what programs asked before the last end of the process:
// whoever asked is gone. Of an answer whose call had not ended nobody knows whether
// it arrived; it was not kept, and the chat says so.
func (e *Engine) closeQuestions(ctx context.Context) error {
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		open, err := tx.Approvals().OpenQuestions()
		if err != nil {
			return err
		}
		for _, a := range open {
			if err := e.closeQuestion(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("close the questions of before: %w", err)
	}
	return nil
}

func (e *Engine) closeQuestion(tx *store.Tx, a store.Approval) error {
	if a.State == store.ApprovalPending {
		_, _, err := e.resolveIn(tx, a.Token, verdict{state: store.ApprovalStopped})
		return err
	}
	if err := tx.Approvals().LoseAnswer(a.ID); err != nil {
		return err
	}
	a.State = store.ApprovalStopped
	return e.showOutcome(tx, a, verdict{}, "lost")
}

// typed takes a text for the answer to the question that waits for its sender,
// and reports whether it did. The text goes to the program that asked and is not
// kept.
func (e *Engine) typed(ctx context.Context, it item) bool {
	if it.msg.Command != "" || it.msg.Forwarded != "" || it.msg.Album != "" || it.msg.Described {
		return false
	}
	i, a := e.inquiries.of(it.row.Address, it.msg.Sender.ID, it.msg.Text, e.wordsAt(it.row.Address))
	if i == nil {
		return false
	}
	var row store.Approval
	taken := false
	e.life.Eventually(ctx, it.row.Address, func(tx *store.Tx) (err error) {
		row, taken, err = e.resolveIn(tx, i.asked.Token, verdict{state: a.state, by: it.msg.Sender.ID, name: it.msg.Sender.Name})
		if errors.Is(err, store.ErrNotFound) {
			return nil // it is not asked yet
		}
		if taken = taken && row.State == a.state; err != nil || !taken {
			return err
		}
		if err := tx.Inbox().ReplaceUpdate(it.row.ID, []byte("{}")); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return tx.Inbox().EndUpdates(store.InboxDone, "the answer to a question", it.row.ID)
	}, func(err error) {
		if err != nil {
			e.log.Error("answer not stored", "chat", it.msg.Address.String(), "err", err)
			return
		}
		if taken {
			e.inquiries.set(i, a.reply())
			lifecycle.CrashPoint("question.answered")
		}
		if row.ID != 0 {
			e.resolved(row)
		}
		if !taken {
			e.enqueue(ctx, it)
		}
	})
	return true
}

// inquiryButtons are the buttons of a question.
func (e *Engine) inquiryButtons(token string, q tools.Inquiry) [][]gateway.Button {
	var rows [][]gateway.Button
	if u := linkable(q.Page); u != "" {
		rows = append(rows, []gateway.Button{{Text: e.say(locale.WordOpen), URL: u}})
	}
	for n, o := range q.Options {
		b := gateway.Button{Text: e.optionText(o), Data: choice(token, optionChoice(n))}
		if last := len(rows) - 1; n > 0 && len(rows[last]) < 3 && narrow(b) && narrow(rows[last][0]) {
			rows[last] = append(rows[last], b)
			continue
		}
		rows = append(rows, []gateway.Button{b})
	}
	return append(rows, []gateway.Button{
		{Text: e.say(locale.WordDecline), Data: choice(token, choiceDecline)}, {Text: e.say(locale.WordCancel), Data: choice(token, choiceCancel)},
	})
}

// narrow reports whether a button leaves room for others beside it.
func narrow(b gateway.Button) bool { return clip.UTF16Len(b.Text) <= 16 && b.URL == "" }
