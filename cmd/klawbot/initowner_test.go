package main

import (
	"slices"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/gateway/telegram"
	"klawbot/internal/httpclient"
	"klawbot/internal/telegramtest"
)

// TestOwnerIsWaitedForThroughFaults breaks the line to Telegram while somebody
// looks for the phone: the question goes on, and no token is shown.
func TestOwnerIsWaitedForThroughFaults(t *testing.T) {
	fake := telegramtest.New(telegramtest.Config{})
	defer fake.Close()
	fake.Fault(telegramtest.Fault{Method: "getUpdates", Kind: telegramtest.FaultReset})
	fake.User(21).Send("it is me")

	var out strings.Builder
	a := newApp(nil, strings.NewReader("y\n"), &out, &out)
	a.redact.Add(fake.Token())
	s := &setup{token: fake.Token(), apiURL: fake.URL()}
	client := httpclient.New(httpclient.Options{})
	defer client.CloseIdleConnections()
	if err := a.askOwner(t.Context(), terminal.Ask(a.stdin, a.stdout), s, client, telegram.Bot{Username: "klaw_test_bot"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.owners, []int64{21}) {
		t.Errorf("the owners are %v", s.owners)
	}
	if text := out.String(); strings.Count(text, "still waiting") != 1 || strings.Contains(text, fake.Token()) {
		t.Error(text)
	}
}
