package model

import (
	"context"
	"slices"
	"sync"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

// discreet is a provider that is told none of the known secrets: not those that
// a person wrote, nor those that a tool brought. What only has the shape of a key
// may be meant for the model's work and stays.
type discreet struct {
	llm.Provider
	secrets *redact.Set
	tools   *cleanTools
}

// cleanTools are declarations of tools without the known secrets. Nearly all of them
// are the same in each request, so that each is searched once.
type cleanTools struct {
	mu sync.Mutex
	// size is the size of the set when they were searched. Guarded by mu, as known is.
	size  int
	known map[declaration]declaration
}

type declaration struct{ description, parameters string }

// cleanKept bounds how many are kept, and cleanSize how large they may be, in bytes:
// servers of others declare what they like.
const (
	cleanKept = 1024
	cleanSize = 16 << 10
)

func newCleanTools() *cleanTools { return &cleanTools{known: map[declaration]declaration{}} }

// clean is a tool without secrets.
func (c *cleanTools) clean(secrets *redact.Set, t llm.Tool) llm.Tool {
	size := secrets.Size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size != size || len(c.known) >= cleanKept {
		c.size = size
		clear(c.known)
	}
	d, ok := c.known[declaration{t.Description, string(t.Parameters)}]
	if !ok {
		d = declaration{secrets.Known(t.Description), string(secrets.KnownJSON(t.Parameters))}
		if len(t.Description)+len(t.Parameters) <= cleanSize {
			c.known[declaration{t.Description, string(t.Parameters)}] = d
		}
	}
	t.Description = d.description
	if d.parameters != string(t.Parameters) {
		t.Parameters = []byte(d.parameters)
	}
	return t
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
		tools[i] = p.tools.clean(p.secrets, t)
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
