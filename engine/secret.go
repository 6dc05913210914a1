package engine

import (
	"encoding/json"
	"slices"
	"strings"

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
