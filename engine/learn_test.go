package engine

import (
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/internal/redact"
)

func TestSecretsOfSignInAreKnown(t *testing.T) {
	var secrets redact.Set
	learn(&secrets, []byte(`{"client":{"client_id":"the-client-id","client_secret":"the-client-secret"},"token":{"access_token":"the-access-token","refresh_token":"the-refresh-token","token_type":"Bearer"}}`))
	learn(&secrets, []byte("no JSON"))
	text := "the-client-id the-client-secret the-access-token the-refresh-token Bearer"
	if got := secrets.Text(text); got != "the-client-id [redacted] [redacted] [redacted] Bearer" {
		t.Errorf("masked: %s", got)
	}
}

func TestThoughtWithSecretIsNotKept(t *testing.T) {
	var secrets redact.Set
	m := llm.Message{Blocks: []llm.Block{{Thinking: &llm.Thinking{Text: "the key is sk-0123456789abcdefghij", Signature: "s"}}, {Thinking: &llm.Thinking{Text: "well"}}, {Text: "yes"}}}
	if got := withoutThoughts(&secrets, m); len(got.Blocks) != 2 || len(m.Blocks) != 3 || got.Blocks[0].Thinking.Text != "well" {
		t.Errorf("kept %+v of %+v", got.Blocks, m.Blocks)
	}
}
