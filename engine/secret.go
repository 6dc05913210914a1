package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

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

// withoutThoughts drops what a model thought with a secret in it: stored without the
// secret, it would not bear its signature any more.
func withoutThoughts(secrets *redact.Set, m llm.Message) llm.Message {
	m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b llm.Block) bool {
		return b.Thinking != nil && len(secrets.Find(b.Thinking.Text)) > 0
	})
	return m
}

// learn tells the secrets of a sign-in, by the names of its fields.
func learn(secrets *redact.Set, signIn []byte) {
	var read func(name string, v any)
	read = func(name string, v any) {
		switch v := v.(type) {
		case string:
			if name = strings.ToLower(name); strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret") {
				secrets.Add(v)
			}
		case map[string]any:
			for name, field := range v {
				read(name, field)
			}
		case []any:
			for _, one := range v {
				read(name, one)
			}
		}
	}
	var v any
	if json.Unmarshal(signIn, &v) == nil {
		read("", v)
	}
}
