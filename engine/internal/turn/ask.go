package turn

import (
	"context"

	"klawbot/engine/internal/command"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/tools"
)

// The lines that the model gets beside what people wrote. They are part of one
// request and never stored.
const (
	nudge       = "(Your last answer was empty. Answer the last message now, in words.)"
	hiddenNudge = "(Your last answer held a call that could not be read, or of a tool that does not exist. Call tools only in the way in which they are offered, or answer in words.)"
)

// ask gets one answer to the conversation: from the turn's model, or from the
// next that can help when that one fails. The last round is asked without
// tools, and so is a model whose first answer was empty.
func (t *turn) ask(ctx context.Context, conv []llm.Message, round int) (llm.Message, llm.Usage, error) {
	if t.Directed != nil {
		return command.DirectedAnswer(t.settings.Language, t.Command, *t.Directed, conv, round), llm.Usage{}, nil
	}
	if t.chosen == "" {
		t.chosen, _ = t.Settings().Models.For(t.Row.Model)
	}
	var failed error
	for _, c := range t.Models.Candidates(t.sticky, t.chosen) {
		result, err := t.askShorter(ctx, c, conv, round)
		switch {
		case err == nil:
			t.sticky, t.Row.Model = c.Name, c.Name // the turn stays with it
			t.tell(t.Models.Answered(c, t.chosen))
			return result.Message, result.Usage, nil
		case failed == nil:
			failed, t.Row.Model = err, c.Name
		}
		if ctx.Err() != nil || !model.AnotherHelps(err) {
			return llm.Message{}, llm.Usage{}, err
		}
		t.Models.Failed(c, err)
		t.Log.Warn("model failed", "model", c.Name, "err", err)
	}
	return llm.Message{}, llm.Usage{}, failed
}

// askShorter asks one model, and again with less of the past when the provider
// says that it was too much.
func (t *turn) askShorter(ctx context.Context, c model.Candidate, conv []llm.Message, round int) (llm.Result, error) {
	for sent := t.window.Fit(conv, c); ; {
		result, err := t.askModel(ctx, c, sent, round)
		if err == nil {
			return result, nil
		}
		if sent, err = t.window.Shorten(ctx, err, c, t.Row.Model, conv, sent); err != nil {
			return result, err
		}
		t.mark()
	}
}

// askModel asks one model, once more when its answer is empty.
func (t *turn) askModel(ctx context.Context, c model.Candidate, conv []llm.Message, round int) (llm.Result, error) {
	request := llm.Request{
		Model: c.Model.Name, System: t.window.System, Messages: conv, Tools: t.window.Tools,
		MaxTokens: c.Model.MaxTokens, Window: c.Model.ContextBudget, Stream: t.streaming() != settings.StreamOff,
	}
	if note, last := t.lastWord(round); last {
		request.NoTools = true
		request.Messages = with(conv, llm.Text(llm.RoleUser, locale.Say(t.settings.Language, note)))
	}
	result, err := t.call(ctx, c, request)
	if err == nil && result.Stop != llm.StopRefusal && len(result.Message.Calls()) == 0 && (result.Hidden || isEmpty(result.Message)) {
		if result.Stop == llm.StopMaxTokens && !result.Hidden {
			return result, &llm.Error{Kind: llm.Exhausted, Message: "the answer ended at the token limit before its first word"}
		}
		result, err = t.again(ctx, c, &request, result)
	}
	if err == nil && result.Stop == llm.StopMaxTokens && len(result.Message.Calls()) == 0 && !isEmpty(result.Message) {
		result, err = t.complete(ctx, c, request, result)
	}
	if _, last := t.lastWord(round); last && err == nil {
		t.wantedMore = isEmpty(result.Message) || result.Unwanted
	}
	if err == nil && result.Stop == llm.StopRefusal {
		if isEmpty(result.Message) {
			return result, &llm.Error{Kind: llm.Refused}
		}
		t.notes = append(t.notes, locale.Say(t.settings.Language, locale.AnswerFiltered))
	}
	return result, err
}

// again asks once more for an answer that was empty, or held a call that could not be
// read. What it said stays.
func (t *turn) again(ctx context.Context, c model.Candidate, r *llm.Request, first llm.Result) (llm.Result, error) {
	t.Log.Warn("model answered nothing that can be used", "model", c.Name, "hidden", first.Hidden)
	t.spoken.add(t.Redact.Text(first.Message.PlainText()))
	note := nudge
	if first.Hidden {
		note = hiddenNudge
	} else {
		r.NoTools = true
	}
	r.Messages = with(r.Messages, llm.Text(llm.RoleUser, note))
	return t.call(ctx, c, *r)
}

// call asks one model once, shows the answer while it grows, and notes what it took:
// that is stored with what the turn stores next.
func (t *turn) call(ctx context.Context, c model.Candidate, r llm.Request) (llm.Result, error) {
	if t.Job != nil {
		t.Job.Asking(true)
		defer t.Job.Asking(false)
	}
	answer, err := t.Models.Ask(ctx, model.Call{
		Candidate: c, NoPictures: !maySee(t, c), Request: r, Turn: t.Row.ID, Person: t.Row.Origin == string(tools.OriginPerson), Within: t.withinRun,
		OnText: func(text string) {
			if text != "" && t.begun != "" {
				text = joinCut(t.begun, text)
			}
			if text != "" && !t.alone() {
				return // the turn begins again
			}
			if t.partial = text; text != "" {
				t.show.Text(t.spoken.with(text))
				if t.Job != nil {
					t.Job.Asking(true)
				}
			}
		},
		OnBegun:   func() { t.alone() },
		OnLoading: func() { t.show.Status(locale.Say(t.settings.Language, locale.Loading)) },
		OnReading: func(share float64) {
			t.show.Status(locale.Say(t.settings.Language, locale.Reading, int(100*share)))
		},
		Log: t.Log,
	})
	t.spent = append(t.spent, answer.Usage...)
	t.tell(answer.Notices...)
	if err == nil {
		t.Prompts.Learn(c, answer)
	}
	return answer.Result, err
}

// withinRun refuses a model call of a run that has taken what it may. What its
// subagents took counts as its own.
func (t *turn) withinRun(ctx context.Context) error {
	if t.Job == nil || t.Job.Left <= 0 && t.Job.Most <= 0 {
		return nil
	}
	spent := t.Row.InputTokens + t.Row.OutputTokens
	if t.Job.Left > 0 && spent >= t.Job.Left {
		return &model.BudgetError{Text: locale.Say(t.settings.Language, locale.HeartbeatSpent)}
	}
	if t.Job.Most <= 0 {
		return nil
	}
	err := t.Store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Runs().SpawnedTokens(t.Row.ID)
		spent += n
		return err
	})
	if err != nil {
		return err
	}
	if spent >= t.Job.Most {
		return &model.BudgetError{Text: locale.Say(t.settings.Language, locale.RunSpent, spent, t.Job.Most)}
	}
	return nil
}

// keepSpent stores what a parked turn took; it has nothing else to store.
func (t *turn) keepSpent(ctx context.Context) {
	if len(t.spent) == 0 {
		return
	}
	if err := t.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return model.AddUsage(tx, t.spent) }); err != nil {
		t.Log.Error("usage not stored", "err", err)
		return
	}
	t.spent = nil
}

// tell puts lines below the answer, unless the session has been told already.
func (t *turn) tell(notices ...model.Notice) {
	t.notes = append(t.notes, t.Models.News(t.Row.Session, notices...)...)
}

// with is a conversation and one more message, without touching the original.
func with(conv []llm.Message, m llm.Message) []llm.Message {
	return append(conv[:len(conv):len(conv)], m)
}
