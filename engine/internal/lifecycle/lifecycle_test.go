package lifecycle

import (
	"log/slog"
	"testing"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/whitelist"
)

func TestChatIsToldSparinglyThatNothingCanBeStored(t *testing.T) {
	var u told
	a, b := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1}}, gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 2}}
	began := time.Now()
	steps := []struct {
		what   string
		a      gateway.Address
		update int64
		ago    time.Duration // when the chat was told, as the step finds it
		since  time.Time
		want   bool
	}{
		{"the first message", a, 5, 0, began, true},
		{"the same message comes again", a, 5, time.Hour, began, false},
		{"the next one, soon after", a, 6, time.Second, began, false},
		{"the next one, later", a, 6, 2 * time.Minute, began, true},
		{"no message", a, 0, 2 * time.Minute, began.Add(-time.Hour), false},
		{"another outage", a, 0, 2 * time.Minute, began.Add(time.Hour), true},
		{"another chat", b, 1, 0, began, true},
	}
	for _, s := range steps {
		if last, ok := u.chats[s.a]; ok {
			last.at = time.Now().Add(-s.ago)
			u.chats[s.a] = last
			if s.since == began {
				s.since = last.at.Add(-time.Minute)
			}
		}
		if got := u.due(s.a, s.update, s.since); got != s.want {
			t.Errorf("%s: told %v, want %v", s.what, got, s.want)
		}
	}
}

// TestTerminalHearsOnlyThatItsMessageIsNotStored: nobody delivers again what a
// terminal said, so it must not read that nothing is lost.
func TestTerminalHearsOnlyThatItsMessageIsNotStored(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	g, err := gateway.New(gateway.Config{
		Channels:  []gateway.Channel{console.New(console.Config{Log: log})},
		Whitelist: func() whitelist.List { return whitelist.List{console.Name: {Local: true}} }, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	l := New(Config{Gateway: g, Store: st, Log: log, Unstored: func() string { return "not stored" }})
	u := gateway.Update{
		Channel: console.Name, ID: 1, Kind: "message", Address: gateway.Address{Chat: gateway.ChatID{Channel: console.Name}},
		Message: 1, From: console.User, Raw: []byte(`{"text": "hello"}`),
	}
	if m, err := g.Decode(u); err != nil || g.Allowed(u) != nil || !m.Addressed {
		t.Fatalf("the message does not come in: %+v, %v", m, err)
	}
	l.Refused(t.Context(), []gateway.Update{u})
	if len(l.told.chats) > 0 {
		t.Errorf("told: %v", l.told.chats)
	}
}
