package model

import (
	"context"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

// discreet is a provider that is told none of the known secrets: not those that
// a person wrote, nor those that a tool brought. What only has the shape of a key
// may be meant for the model's work and stays.
type discreet struct {
	llm.Provider
	secrets *redact.Set
}

// Stream asks the provider without the known secrets.
func (p discreet) Stream(ctx context.Context, r llm.Request, sink func(llm.Event)) (llm.Result, error) {
	r.System = p.secrets.Known(r.System)
	messages := slices.Clone(r.Messages)
	for i := range messages {
		messages[i].Blocks = p.blocks(messages[i].Blocks)
	}
	tools := slices.Clone(r.Tools)
	for i, t := range tools {
		tools[i].Description, tools[i].Parameters = p.secrets.Known(t.Description), p.secrets.KnownJSON(t.Parameters)
	}
	r.Messages, r.Tools = messages, tools
	return p.Provider.Stream(ctx, r, sink)
}

// blocks are the blocks of a message without the known secrets. What a model
// thought goes back as it came: it is signed.
func (p discreet) blocks(blocks []llm.Block) []llm.Block {
	clean := slices.Clone(blocks)
	for i, b := range clean {
		clean[i].Text = p.secrets.Known(b.Text)
		if b.Call != nil {
			c := *b.Call
			c.Arguments = string(p.secrets.KnownJSON([]byte(c.Arguments)))
			clean[i].Call = &c
		}
		if b.Result != nil {
			r := *b.Result
			r.Text = p.secrets.Known(r.Text)
			clean[i].Result = &r
		}
	}
	return clean
}
