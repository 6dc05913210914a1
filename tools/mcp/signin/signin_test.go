package signin

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// drawer keeps the token of one server.
type drawer struct{ text []byte }

func (d *drawer) Token(context.Context, string) ([]byte, error) { return d.text, nil }

func (d *drawer) SetToken(_ context.Context, _ string, token []byte) error {
	d.text = token
	return nil
}

// TestSecretOfAClientIsNotKept: it stays where the owner keeps it, and a token is for
// the client that it was given to.
func TestSecretOfAClientIsNotKept(t *testing.T) {
	const secret = "s3cret-of-the-client"
	kept := &drawer{}
	d := Door{Server: "test", Client: Client{ID: "home", Secret: secret}, Tokens: kept, Living: t.Context(), Wanted: func() {}}
	k := &key{door: d, grant: grant{Config: oauth2.Config{ClientID: "home", ClientSecret: secret}}}
	if err := k.save(&oauth2.Token{AccessToken: "token-1"}); err != nil || !strings.Contains(string(kept.text), "token-1") || strings.Contains(string(kept.text), secret) {
		t.Errorf("kept %s, %v", kept.text, err)
	}
	if g, err := d.kept(t.Context()); err != nil || g == nil || g.Config.ClientSecret != secret {
		t.Errorf("%+v, %v", g, err)
	}
	d.Client.ID = "another"
	if g, err := d.kept(t.Context()); err != nil || g != nil {
		t.Errorf("with the token of another client: %+v, %v", g, err)
	}
}
