package model

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"strings"
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

// ErrNoSmall means that there is no model to ask.
var ErrNoSmall = errors.New("there is no model")

// Small is the model for small tasks: the one that is set for them, else the default.
func Small(s settings.Settings) (Candidate, bool) {
	name := s.Models.Small
	if _, ok := s.Models.Entries[name]; !ok {
		name = s.Models.Default
	}
	m, ok := s.Models.Entries[name]
	return Candidate{name, m}, ok
}

// AskSmall makes one model call beside the turns, within the budget, and stores what it
// took.
func (c *Client) AskSmall(ctx context.Context, call Call) (llm.Result, error) {
	answer, err := c.askBeside(ctx, call)
	return answer.Result, err
}

func (c *Client) askBeside(ctx context.Context, call Call) (Answer, error) {
	provider, err := c.providers.get(call.Model)
	if err != nil {
		return Answer{}, err
	}
	call.Log = c.config.Log
	a := asking{Call: call, client: c, settings: c.config.Settings(), provider: provider}
	a.answer.Result, err = a.seen(ctx, call.Request)
	if len(a.answer.Usage) > 0 {
		stored := c.config.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return AddUsage(tx, a.answer.Usage) })
		if stored != nil {
			c.config.Log.Error("usage not stored", "turn", call.Turn, "err", stored)
		}
	}
	return a.answer, err
}

// AddUsage stores what calls took.
func AddUsage(tx *store.Tx, all []store.Usage) error {
	for _, u := range all {
		if err := tx.Usage().AddUsage(u); err != nil {
			return err
		}
	}
	return nil
}

// Extract has the small model take out of a text what is asked. The text is
// data for it: it stands between marks that cannot be known beforehand, and the
// model is told not to follow it. A text that is longer than what the model
// reads at once is read in pieces; what is left out of a very long one is said.
// Its errors are for people.
func (c *Client) Extract(ctx context.Context, by tools.Call, question, text string) (string, error) {
	s := c.config.Settings()
	m, ok := Small(s)
	if !ok {
		return "", ErrNoSmall
	}
	answer := min(cmp.Or(m.Model.MaxTokens, extractAnswer), extractAnswer, m.Model.ContextBudget/4)
	pieces, rest := cutPieces(text, m.Model.ContextBudget-answer-extractFrame-llm.Estimate(question), extractPieces)
	var found []string
	for _, p := range pieces {
		said, err := c.AskFor(ctx, by, m, extraction(m, answer, question, p))
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

// AskFor makes one model call that belongs to a tool call. Its errors are for people.
func (c *Client) AskFor(ctx context.Context, by tools.Call, m Candidate, r llm.Request) (string, error) {
	answer, err := c.askForCall(ctx, by, m, r)
	return answer.Result.Message.PlainText(), err
}

func (c *Client) askForCall(ctx context.Context, by tools.Call, m Candidate, r llm.Request) (Answer, error) {
	answer, err := c.askBeside(ctx, Call{Candidate: m, Request: r, Turn: store.TurnID(by.Turn), Person: by.Origin == tools.OriginPerson})
	if over, is := errors.AsType[*BudgetError](err); is {
		return Answer{}, errors.New(over.Text)
	}
	if fail, is := errors.AsType[*llm.Error](err); is {
		s := c.config.Settings()
		return Answer{}, errors.New(locale.ModelError(s.Language, fail, m.Name, s.Zone(), by.Owner))
	}
	for i := range answer.Result.Message.Blocks {
		answer.Result.Message.Blocks[i].Text = c.config.Redact.Text(answer.Result.Message.Blocks[i].Text)
	}
	return answer, err
}

// extraction is the request about one piece of a text.
func extraction(m Candidate, answer int, question, piece string) llm.Request {
	mark := rand.Text()
	return llm.Request{
		Model: m.Model.Name, System: strings.TrimSpace(strings.ReplaceAll(extractPrompt, "{mark}", mark)),
		Messages:  []llm.Message{llm.Text(llm.RoleUser, fmt.Sprintf("Question: %s\n\n%s\n%s\n%s", question, mark, piece, mark))},
		MaxTokens: answer, Window: m.Model.ContextBudget, NoTools: true,
	}
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
