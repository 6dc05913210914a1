package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/settings"
	"klawbot/tools"
)

// The lines that the model gets beside what people wrote. They are part of one
// request and never stored.
const nudge = "(Your last answer was empty. Answer the last message now, in words.)"

// ask gets one answer to the conversation: from the turn's model, or from the
// next that can help when that one fails. The last round is asked without
// tools, and so is a model whose first answer was empty.
func (t *turn) ask(ctx context.Context, conv []llm.Message, round int) (llm.Message, llm.Usage, error) {
	if t.directed != nil {
		return t.directedAnswer(conv, round), llm.Usage{}, nil
	}
	if t.chosen == "" {
		t.chosen, _ = t.e.settings().Models.For(t.row.Model)
	}
	var failed error
	for _, c := range t.candidates() {
		result, err := t.askShorter(ctx, c, conv, round)
		switch {
		case err == nil:
			t.answeredBy(c)
			return result.Message, result.Usage, nil
		case failed == nil:
			failed, t.row.Model = err, c.name
		}
		if ctx.Err() != nil || !anotherHelps(err) {
			return llm.Message{}, llm.Usage{}, err
		}
		t.e.fallbacks.cool(c.place(), err)
		t.log.Warn("model failed", "model", c.name, "err", err)
	}
	return llm.Message{}, llm.Usage{}, failed
}

// maxHarder is how often a conversation is made shorter because a provider does
// not take it.
const maxHarder = 2

// askShorter asks one model, and again with less of the past when the provider
// says that it was too much.
func (t *turn) askShorter(ctx context.Context, c candidate, conv []llm.Message, round int) (llm.Result, error) {
	sent := t.fitting(conv, c)
	for {
		result, err := t.askModel(ctx, c, sent, round)
		fail, is := overlong(err)
		if !is {
			return result, err
		}
		t.e.estimates.learnWindow(c.place(), fail.Window)
		before, shorter := t.e.tokensIn(sent), false
		for !shorter && t.harder < maxHarder {
			t.harder++
			if err := t.forget(ctx, conv); err != nil {
				return result, err
			}
			sent = t.fitting(conv, c)
			shorter = t.e.tokensIn(sent) < before
		}
		if !shorter {
			return result, err
		}
		t.log.Warn("request too long, made shorter", "model", c.name, "try", t.harder, "err", err)
	}
}

// forget leaves half as much of the past in the request as the last time, and
// has the rest summed up before.
func (t *turn) forget(ctx context.Context, conv []llm.Message) error {
	share := keptShare / float64(int(1)<<t.harder)
	if t.compactAtOnce(ctx, share) {
		past, err := t.readPast(ctx)
		if err != nil {
			return err
		}
		t.remember(past, conv)
	}
	head := 0
	if t.summed && len(t.past) > 0 {
		head = 1
	}
	first := len(t.past)
	if t.harder < maxHarder {
		first = head + (len(t.past)-head+1)/2
	}
	for first < len(t.past) && t.past[first].Role != llm.RoleUser {
		first++
	}
	t.past = slices.Concat(t.past[:head], t.past[first:])
	return nil
}

// askModel asks one model, once more when its answer is empty.
func (t *turn) askModel(ctx context.Context, c candidate, conv []llm.Message, round int) (llm.Result, error) {
	provider, err := t.e.providers.get(c.model)
	if err != nil {
		return llm.Result{}, fmt.Errorf("model %s: %w", c.name, err)
	}
	request := llm.Request{
		Model: c.model.Name, System: t.system(), Messages: conv, Tools: t.offered(),
		MaxTokens: c.model.MaxTokens, Window: c.model.ContextBudget, Stream: t.streaming() != settings.StreamOff,
	}
	if note, last := t.lastWord(round); last {
		request.NoTools = true
		request.Messages = with(conv, llm.Text(llm.RoleUser, locale.Say(t.settings.Language, note)))
	}
	result, err := t.callAble(ctx, c, provider, request)
	if err == nil && len(result.Message.Calls()) == 0 && strings.TrimSpace(result.Message.PlainText()) == "" && result.Stop != llm.StopRefusal {
		t.log.Warn("model answered nothing", "model", c.name)
		request.NoTools = true
		request.Messages = with(conv, llm.Text(llm.RoleUser, nudge))
		result, err = t.callAble(ctx, c, provider, request)
	}
	if err == nil && result.Stop == llm.StopRefusal && result.Message.PlainText() == "" {
		err = &llm.Error{Kind: llm.Refused}
	}
	if result.InputCut {
		t.tell(noticeCut, c.name, locale.Say(t.settings.Language, locale.InputCut, c.name))
	}
	return result, err
}

// callAble asks a model for no more than it is able to: one that refused tools
// is asked without any, and the person is told.
func (t *turn) callAble(ctx context.Context, c candidate, p llm.Provider, r llm.Request) (llm.Result, error) {
	if !t.e.fallbacks.withoutTools(c.place()) {
		result, err := t.callReadable(ctx, c, p, r)
		if len(r.Tools) == 0 || !refusesTools(err) {
			return result, err
		}
		t.log.Warn("model has no tools", "model", c.name, "err", err)
		t.e.fallbacks.noteWithoutTools(c.place())
	}
	result, err := t.call(ctx, c, p, llm.WithoutTools(r))
	if err == nil {
		t.tell(noticeTools, c.name, locale.Say(t.settings.Language, locale.NoTools, c.name))
	}
	return result, err
}

// call is one model call with its retries. Each attempt takes a slot of its
// own, so that a wait between two attempts keeps nobody else out. What an
// attempt showed is replaced by the next one.
func (t *turn) call(ctx context.Context, c candidate, p llm.Provider, r llm.Request) (llm.Result, error) {
	policy := llm.Policy{
		Retries: t.settings.Models.Retries, Restart: true,
		Notice: func(attempt int, err *llm.Error, wait time.Duration) {
			t.log.Warn("model call repeated", "attempt", attempt, "wait_ms", wait.Milliseconds(), "err", err)
			if err.Loading {
				t.show.preview(locale.Say(t.settings.Language, locale.Loading))
			}
		},
	}
	return llm.Retry(ctx, policy, func(ctx context.Context) (llm.Result, error) {
		release, err := t.e.slots.take(ctx, t.row.Origin == string(tools.OriginPerson))
		if err != nil {
			return llm.Result{}, err
		}
		defer release()
		if err := t.e.withinBudget(ctx, t.settings); err != nil {
			return llm.Result{}, err
		}
		if err := t.withinRun(ctx); err != nil {
			return llm.Result{}, err
		}
		t.partial = ""
		heard := llm.Event{}
		result, err := p.Stream(ctx, r, func(ev llm.Event) {
			heard.Text, heard.Thinking = heard.Text+ev.Text, heard.Thinking+ev.Thinking
			t.partial = heard.Text
			t.show.preview(t.partial)
		})
		t.count(c, r, result, heard, err)
		return result, err
	})
}

// with is a conversation and one more message, without touching the original.
func with(conv []llm.Message, m llm.Message) []llm.Message {
	return append(conv[:len(conv):len(conv)], m)
}
