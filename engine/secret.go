package engine

import (
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

// withoutThoughts drops what a model thought with a secret in it: stored without the
// secret, it would not bear its signature any more.
func withoutThoughts(secrets *redact.Set, m llm.Message) llm.Message {
	m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b llm.Block) bool {
		return b.Thinking != nil && len(secrets.Find(b.Thinking.Text)) > 0
	})
	return m
}
