package turn

import (
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

func TestThoughtWithSecretIsNotKept(t *testing.T) {
	var secrets redact.Set
	m := llm.Message{Blocks: []llm.Block{{Thinking: &llm.Thinking{Text: "the key is sk-0123456789abcdefghij", Signature: "s"}}, {Thinking: &llm.Thinking{Text: "well"}}, {Text: "yes"}}}
	if got := withoutThoughts(&secrets, m); len(got.Blocks) != 2 || len(m.Blocks) != 3 || got.Blocks[0].Thinking.Text != "well" {
		t.Errorf("kept %+v of %+v", got.Blocks, m.Blocks)
	}
}
