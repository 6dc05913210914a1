package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/tools"
)

// The lines that the model gets beside what people wrote. They are part of one
// request and never stored.
const nudge = "(Your last answer was empty. Answer the last message now, in words.)"

// ask gets one answer to the conversation from the turn's model. The last round
// is asked without tools, and so is a model whose first answer was empty.
func (t *turn) ask(ctx context.Context, conv []llm.Message, round int) (llm.Message, llm.Usage, error) {
	if t.directed != nil {
		return t.directedAnswer(conv, round), llm.Usage{}, nil
	}
	name, model := t.e.modelFor(t.row.Model)
	t.row.Model = name
	provider, err := t.e.providers.get(model)
	if err != nil {
		return llm.Message{}, llm.Usage{}, fmt.Errorf("model %s: %w", name, err)
	}
	request := llm.Request{
		Model: model.Name, System: t.e.prompt(t.row.Address.Channel), Messages: conv, Tools: t.e.toolsFor(t.settings.Language),
		MaxTokens: model.MaxTokens, Stream: t.streaming() != StreamOff,
	}
	if round >= t.settings.MaxToolCallRounds {
		request.NoTools = true
		request.Messages = with(conv, llm.Text(llm.RoleUser, say(t.settings.Language, sayLimitNote)))
	}
	result, err := t.call(ctx, provider, request)
	if err == nil && len(result.Message.Calls()) == 0 && strings.TrimSpace(result.Message.PlainText()) == "" && result.Stop != llm.StopRefusal {
		t.log.Warn("model answered nothing", "model", name)
		request.NoTools = true
		request.Messages = with(conv, llm.Text(llm.RoleUser, nudge))
		result, err = t.call(ctx, provider, request)
	}
	if err == nil && result.Stop == llm.StopRefusal && result.Message.PlainText() == "" {
		err = &llm.Error{Kind: llm.Refused}
	}
	return result.Message, result.Usage, err
}

// call is one model call with its retries. Each attempt takes a slot of its
// own, so that a wait between two attempts keeps nobody else out.
func (t *turn) call(ctx context.Context, p llm.Provider, r llm.Request) (llm.Result, error) {
	policy := llm.Policy{
		Retries: t.settings.Models.Retries,
		Notice: func(attempt int, err *llm.Error, wait time.Duration) {
			t.log.Warn("model call repeated", "attempt", attempt, "wait_ms", wait.Milliseconds(), "err", err)
		},
	}
	t.partial = ""
	return llm.Retry(ctx, policy, func(ctx context.Context) (llm.Result, error) {
		release, err := t.e.slots.take(ctx, t.row.Origin == string(tools.OriginPerson))
		if err != nil {
			return llm.Result{}, err
		}
		defer release()
		return p.Stream(ctx, r, func(ev llm.Event) {
			t.partial += ev.Text
			t.show.preview(t.partial)
		})
	})
}

// with is a conversation and one more message, without touching the original.
func with(conv []llm.Message, m llm.Message) []llm.Message {
	return append(conv[:len(conv):len(conv)], m)
}

// modelFor returns the name and the entry of the model that a chat chose, or
// the default's when the chosen one is not configured any more.
func (e *Engine) modelFor(chosen string) (string, Model) {
	models := e.settings().Models
	if m, ok := models.Entries[chosen]; ok {
		return chosen, m
	}
	return models.Default, models.Entries[models.Default]
}
