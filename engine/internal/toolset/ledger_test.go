package toolset

import (
	"testing"

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
