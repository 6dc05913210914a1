package setup

import (
	"slices"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/internal/telegramtest"
)

// TestOwnerWaitSurvivesNetworkErrors breaks the line to Telegram during the wait for
// the owner's message: the wait continues, and no token is shown.
func TestOwnerWaitSurvivesNetworkErrors(t *testing.T) {
	fake := telegramtest.New(telegramtest.Config{})
	defer fake.Close()
	fake.Fault(telegramtest.Fault{Method: "getUpdates", Kind: telegramtest.FaultReset})
	fake.User(21).Send("it is me")

	var out strings.Builder
	secrets := &redact.Set{}
	secrets.Add(fake.Token())
	s := Setup{Stdin: strings.NewReader("y\n"), Stdout: secrets.Writer(&out), Redact: secrets}
	a := &Answers{Token: fake.Token(), APIURL: fake.URL()}
	client := httpclient.New(httpclient.Options{})
	defer client.CloseIdleConnections()
	if err := s.askOwner(t.Context(), terminal.Ask(s.Stdin, s.Stdout), a, client, telegram.Bot{Username: "klaw_test_bot"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.owners, []int64{21}) {
		t.Errorf("the owners are %v", a.owners)
	}
	if text := out.String(); strings.Count(text, "still waiting") != 1 || strings.Contains(text, fake.Token()) {
		t.Error(text)
	}
}
