package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/tools"
)

//go:embed extract.md
var extractPrompt string

// The bounds of an extraction.
const (
	// extractPieces is how many pieces of a text are read at most.
	extractPieces = 6
	// extractAnswer is how long the answer to a piece may be, in tokens, and
	// extractFrame what stands around a piece.
	extractAnswer = 1000
	extractFrame  = 600
	// nothing is the answer to a piece that has none.
	nothing = "NOTHING"
)

// errNoSmallModel means that there is no model to ask.
var errNoSmallModel = errors.New("there is no model")

// extract has the small model take out of a text what is asked. The text is
// data for it: it stands between marks that nobody can know beforehand, and the
// model is told not to follow it. A text that is longer than what the model
// reads at once is read in pieces; what is left out of a very long one is said.
func (e *Engine) extract(ctx context.Context, c tools.Call, question, text string) (string, error) {
	s := e.settings()
	m, ok := e.small(s)
	if !ok {
		return "", errNoSmallModel
	}
	answer := min(cmp.Or(m.model.MaxTokens, extractAnswer), extractAnswer, m.model.ContextBudget/4)
	pieces, rest := cutPieces(text, m.model.ContextBudget-answer-extractFrame-llm.Estimate(question), extractPieces)
	var found []string
	for _, p := range pieces {
		said, err := e.askOnce(ctx, s, c, m, extraction(m, answer, question, p))
		if err != nil {
			return "", err
		}
		if said = strings.TrimSpace(said); said != "" && strings.Trim(said, ". ") != nothing {
			found = append(found, said)
		}
	}
	if len(found) == 0 {
		found = append(found, "The text says nothing about it.")
	}
	if rest > 0 {
		found = append(found, fmt.Sprintf("(the last %d bytes of the text were not read)", rest))
	}
	return strings.Join(found, "\n"), nil
}

// small is the model for small tasks: the one that is set for them, else the
// default.
func (e *Engine) small(s settings.Settings) (candidate, bool) {
	name := s.Models.Small
	if _, ok := s.Models.Entries[name]; !ok {
		name = s.Models.Default
	}
	m, ok := s.Models.Entries[name]
	return candidate{name, m}, ok
}

// extraction is the request about one piece of a text.
func extraction(m candidate, answer int, question, piece string) llm.Request {
	mark := rand.Text()
	return llm.Request{
		Model: m.model.Name, System: strings.TrimSpace(strings.ReplaceAll(extractPrompt, "{mark}", mark)),
		Messages:  []llm.Message{llm.Text(llm.RoleUser, fmt.Sprintf("Question: %s\n\n%s\n%s\n%s", question, mark, piece, mark))},
		MaxTokens: answer, Window: m.model.ContextBudget, NoTools: true,
	}
}

// askOnce makes one model call that belongs to a tool call. Its errors are for
// people.
func (e *Engine) askOnce(ctx context.Context, s settings.Settings, c tools.Call, m candidate, r llm.Request) (string, error) {
	result, err := e.askSmall(ctx, s, c, m, r)
	if over, is := errors.AsType[*budgetError](err); is {
		return "", errors.New(over.text)
	}
	if fail, is := errors.AsType[*llm.Error](err); is {
		return "", errors.New(locale.ModelError(s.Language, fail.Kind, m.name))
	}
	return e.redact.Text(result.Message.PlainText()), err
}

// askSmall makes one model call beside the turns, within the budget, and stores
// what it took.
func (e *Engine) askSmall(ctx context.Context, s settings.Settings, c tools.Call, m candidate, r llm.Request) (llm.Result, error) {
	provider, err := e.providers.get(m.model)
	if err != nil {
		return llm.Result{}, err
	}
	return llm.Retry(ctx, llm.Policy{Retries: s.Models.Retries, Restart: true}, func(ctx context.Context) (llm.Result, error) {
		release, err := e.slots.take(ctx, c.Origin == tools.OriginPerson)
		if err != nil {
			return llm.Result{}, err
		}
		defer release()
		if err := e.withinBudget(ctx, s); err != nil {
			return llm.Result{}, err
		}
		heard := llm.Event{}
		result, err := provider.Stream(ctx, r, func(ev llm.Event) {
			heard.Text, heard.Thinking = heard.Text+ev.Text, heard.Thinking+ev.Thinking
		})
		if u, counts := usageOf(s, store.TurnID(c.Turn), m, r, result, heard, err); counts {
			e.spending.add(u)
			if stored := e.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.Usage().AddUsage(u) }); stored != nil {
				e.log.Error("usage not stored", "turn", c.Turn, "err", stored)
			}
		}
		return result, err
	})
}

// cutPieces cuts a text into pieces of at most so many tokens, at ends of lines
// where there are some. rest is how many bytes more than n pieces would hold.
func cutPieces(text string, tokens, n int) (pieces []string, rest int) {
	for len(text) > 0 && len(pieces) < n {
		p := text[:min(len(text), max(tokens, 1)*4)]
		for llm.Estimate(p) > tokens && len(p) > 400 {
			p = p[:len(p)*3/4]
		}
		if len(p) < len(text) {
			if end := strings.LastIndexByte(p, '\n'); end > len(p)/2 {
				p = p[:end+1]
			}
			for len(p) > 1 && !utf8.RuneStart(text[len(p)]) {
				p = p[:len(p)-1]
			}
		}
		pieces, text = append(pieces, p), text[len(p):]
	}
	return pieces, len(text)
}

// usageOf is what a call took; a call that failed before the model did anything
// does not count.
func usageOf(s settings.Settings, turn store.TurnID, c candidate, r llm.Request, result llm.Result, heard llm.Event, err error) (u store.Usage, counts bool) {
	u = store.Usage{
		Day: s.Today(), Turn: turn, Entry: c.name, Provider: c.model.Provider, Model: c.model.Name,
		Tokens: result.Usage, At: time.Now(),
	}
	if err != nil {
		u.Error = errorType(err)
		if u.Tokens.Input <= 0 && u.Tokens.Output <= 0 && heard == (llm.Event{}) {
			return u, false
		}
	}
	if u.Tokens.Input < 0 {
		u.EstimatedInput = llm.EstimateRequest(r)
	}
	if u.Tokens.Output < 0 {
		u.EstimatedOutput = llm.Estimate(heard.Text) + llm.Estimate(heard.Thinking)
	}
	u.Cost = cost(c.model.Prices, u)
	return u, true
}
