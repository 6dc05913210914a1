package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/memory"
	"klawbot/internal/redact"
)

// discreetEmbedder is the sentence model of a server, which is told none of the
// known secrets.
type discreetEmbedder struct {
	memory.Embedder
	secrets *redact.Set
}

// Query is the vector of a text without the known secrets.
func (e discreetEmbedder) Query(ctx context.Context, text string) ([]float32, error) {
	return e.Embedder.Query(ctx, e.secrets.Known(text))
}

// Passages are the vectors of texts without the known secrets.
func (e discreetEmbedder) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	clean := make([]string, len(texts))
	for i, text := range texts {
		clean[i] = e.secrets.Known(text)
	}
	return e.Embedder.Passages(ctx, clean)
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
