package prompt

import (
	"context"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/internal/clip"
)

// mostShorter is how often a conversation is made shorter because a provider does
// not take it.
const mostShorter = 2

// Fit is the past and the conversation, without the oldest turns when it is
// too long for a model, which may have a smaller budget than the chosen one. The
// summary goes last; what was asked in this turn and what came of it stays.
func (w *Window) Fit(conv []llm.Message, m model.Candidate) []llm.Message {
	if w.shorter >= mostShorter {
		conv = shrinkResults(conv)
	}
	tokens := w.builder.tokens
	all := w.images(slices.Concat(w.Past, conv), m.Model.Window())
	past, conv := all[:len(w.Past)], all[len(w.Past):]
	left := tokens.Room(m, w.fixed) - tokens.Messages(past) - tokens.Messages(conv)
	head := w.head()
	first := head
	for first < len(past) && (left < 0 || past[first].Role != llm.RoleUser) {
		left += tokens.Message(past[first])
		first++
	}
	if left < 0 {
		head = 0
	}
	return slices.Concat(past[:head], past[first:], conv)
}

// head is how many messages the summary is.
func (w *Window) head() int {
	if w.Summed && len(w.Past) > 0 {
		return 1
	}
	return 0
}

// Shorten makes the conversation shorter when a model failed because it was too long,
// and returns what to send then. Else it returns the error. modelName is the model by
// which the past is measured.
func (w *Window) Shorten(ctx context.Context, failed error, m model.Candidate, modelName string, conv, sent []llm.Message) ([]llm.Message, error) {
	fail, is := llm.Overlong(failed)
	if !is {
		return nil, failed
	}
	w.builder.tokens.LearnWindow(m.Key(), fail.Window)
	for before := w.builder.tokens.Messages(sent); w.shorter < mostShorter; {
		w.shorter++
		if err := w.forget(ctx, modelName, conv); err != nil {
			return nil, err
		}
		sent = w.Fit(conv, m)
		if w.builder.tokens.Messages(sent) < before {
			w.in.Log.Warn("request too long, made shorter", "model", m.Name, "try", w.shorter, "err", failed)
			return sent, nil
		}
	}
	return nil, failed
}

// forget leaves half as much of the past in the window as the last time, and
// has the rest summed up before.
func (w *Window) forget(ctx context.Context, modelName string, conv []llm.Message) error {
	if w.compactNow(ctx, modelName, keptShare/float64(int(1)<<w.shorter)) {
		past, err := w.reread(ctx)
		if err != nil {
			return err
		}
		w.remember(past, modelName, conv)
	}
	head, first := w.head(), len(w.Past)
	if w.shorter < mostShorter {
		first = head + (len(w.Past)-head+1)/2
	}
	for first < len(w.Past) && w.Past[first].Role != llm.RoleUser {
		first++
	}
	w.Past = slices.Concat(w.Past[:head], w.Past[first:])
	return nil
}

// shrinkResults is a conversation whose long results of tools are shortened.
func shrinkResults(conv []llm.Message) []llm.Message {
	const most = 1200
	short := slices.Clone(conv)
	for i, m := range short {
		for k, b := range m.Blocks {
			if b.Result == nil || len(b.Result.Text) <= most {
				continue
			}
			if &short[i].Blocks[0] == &conv[i].Blocks[0] {
				short[i].Blocks = slices.Clone(m.Blocks)
			}
			r := *b.Result
			r.Text = clip.Middle(r.Text, most)
			short[i].Blocks[k].Result = &r
		}
	}
	return short
}
