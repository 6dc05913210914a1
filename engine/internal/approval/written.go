package approval

import (
	"context"
	"errors"
	"slices"
	"strings"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/wording"
	"klawbot/gateway"
)

// Written is a message that answers a question in words.
type Written struct {
	questions *Questions
	token     string
	decision  decision
	// form is what is answered, with choice; nil for the question about a call.
	form   *form
	choice choice

	row store.Approval
	// taken says that the form was answered.
	taken bool
}

// Read returns what a message at an address answers, nil when it is no answer: the
// newest form that waits for its sender, or in a local chat the oldest question about a
// call.
func (q *Questions) Read(ctx context.Context, at gateway.Address, m gateway.Message) *Written {
	w := &Written{questions: q, decision: decision{by: m.Sender.ID}}
	if m.Command == "" && m.Forwarded == "" && m.Album == "" && !m.Described {
		if w.form, w.choice = q.formFor(at, m); w.form != nil {
			w.token, w.decision.state, w.decision.name = w.form.row.Token, w.choice.state, m.Sender.Name
			return w
		}
	}
	if w.decision.state = yesOrNo(m.Text); w.decision.state == "" || q.words.Gateway.Buttons(at.Chat) {
		return nil
	}
	var asked store.Approval
	err := q.store.Read(ctx, func(tx *store.Tx) (err error) {
		asked, err = tx.Approvals().PendingApproval(at)
		return err
	})
	if err != nil || asked.Question {
		return nil // nothing is asked that a yes or no answers
	}
	w.token = asked.Token
	return w
}

// Store stores the answer and ends its update in the inbox. What a form was answered
// goes to the program that asked and is not kept. taken is false when the message is
// no answer after all: nothing is stored then.
func (w *Written) Store(tx *store.Tx, update store.InboxID) (taken bool, err error) {
	row, won, err := w.questions.decide(tx, w.token, w.decision)
	w.row, w.taken = row, false
	if w.form == nil {
		if err != nil {
			return false, err
		}
		return true, tx.Inbox().EndUpdates(store.InboxDone, "", update)
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // it is not asked yet
	}
	if w.taken = won && row.State == w.decision.state; err != nil || !w.taken {
		return false, err
	}
	if err := tx.Inbox().ReplaceUpdate(update, []byte("{}")); err != nil && !errors.Is(err, store.ErrNotFound) {
		return true, err
	}
	return true, tx.Inbox().EndUpdates(store.InboxDone, "the answer to a question", update)
}

// Stored wakes the turn that waits, once the answer is stored.
func (w *Written) Stored() {
	if w.taken {
		w.questions.answer(w.form, w.choice)
		lifecycle.CrashPoint("question.answered")
	}
	w.questions.wake(w.row.ID)
}

// formFor returns the newest form that a message at an address answers, with the
// answer, nil for none.
func (q *Questions) formFor(at gateway.Address, m gateway.Message) (*form, choice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range slices.Backward(q.forms) {
		if f.row.Address != at || f.row.Sender != m.Sender.ID {
			continue
		}
		if c, ok := f.read(m.Text, !q.words.Gateway.Buttons(at.Chat)); ok {
			return f, c
		}
	}
	return nil, choice{}
}

// choice is what a text or a button answers.
type choice struct {
	state store.ApprovalState
	// option is one of a form, -1 for none; text is what was written instead.
	option int
	text   string
}

// read reads a text as an answer. Where there are no buttons, words choose.
func (f *form) read(text string, words bool) (choice, bool) {
	word := strings.TrimSpace(text)
	is := func(name string) bool { return strings.EqualFold(word, name) }
	switch {
	case words && (is("decline") || is("отклонить")):
		return choice{state: store.ApprovalDenied, option: -1}, true
	case words && (is("cancel") || is("отмена")):
		return choice{state: store.ApprovalCancelled, option: -1}, true
	}
	for n := range f.Options {
		if words && is(wording.OptionWord(n)) {
			return choice{state: store.ApprovalAnswered, option: n}, true
		}
	}
	if !f.Typed || word == "" || !strings.HasPrefix(word, f.Begins) {
		return choice{}, false
	}
	return choice{store.ApprovalAnswered, -1, text}, true
}

// yesOrNo is what a word answers to a question about a call, "" when it is no answer.
func yesOrNo(text string) store.ApprovalState {
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
