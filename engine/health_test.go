package engine

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/whitelist"
)

func TestFaults(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	well := Status{
		Uptime:   time.Hour,
		Channels: []gateway.Health{{Channel: "telegram", State: "ok", LastPoll: now.Add(-time.Minute)}, {Channel: "console", State: "ok"}},
		Database: Database{State: "ok"},
	}
	for name, c := range map[string]struct {
		change func(*Status)
		want   []string
	}{
		"well":             {func(*Status) {}, nil},
		"a message waits":  {func(s *Status) { s.Inbox.Oldest = now.Add(-9 * time.Minute) }, nil},
		"a moment offline": {func(s *Status) { s.Channels[0].State = "connecting" }, nil},
		"just started": {func(s *Status) {
			s.Uptime, s.Channels[0] = time.Second, gateway.Health{Channel: "telegram", State: "connecting"}
		}, nil},
		"stale":        {func(s *Status) { s.Channels[0].State = "stale" }, []string{"telegram: stale, no good poll for 1m0s"}},
		"never polled": {func(s *Status) { s.Channels[0] = gateway.Health{Channel: "telegram", State: "connecting"} }, []string{"telegram: connecting, no good poll for 1h0m0s"}},
		"conflict": {func(s *Status) {
			s.Channels[0].State, s.Channels[0].LastPoll = "conflict", now.Add(-151*time.Second)
		}, []string{"telegram: conflict, no good poll for 2m31s"}},
		"stopped":        {func(s *Status) { s.Channels[0].State = "stopped" }, []string{"telegram: stopped"}},
		"full":           {func(s *Status) { s.Database.State = "full" }, []string{"database: full"}},
		"waits too long": {func(s *Status) { s.Inbox.Oldest = now.Add(-11 * time.Minute) }, []string{"inbox: a message has waited for 11m0s"}},
	} {
		s := well
		s.Channels = slices.Clone(well.Channels)
		c.change(&s)
		if got := s.faults(now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestChatIsToldSparinglyThatNothingCanBeStored(t *testing.T) {
	var u unstored
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
		if last, ok := u.told[s.a]; ok {
			last.at = time.Now().Add(-s.ago)
			u.told[s.a] = last
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
	e := &Engine{gateway: g, store: st, log: log, settings: func() settings.Settings { return settings.Settings{} }}
	u := gateway.Update{
		Channel: console.Name, ID: 1, Kind: "message", Address: gateway.Address{Chat: gateway.ChatID{Channel: console.Name}},
		Message: 1, From: console.User, Raw: []byte(`{"text": "hello"}`),
	}
	if m, err := g.Decode(u); err != nil || g.Allowed(u) != nil || !m.Addressed {
		t.Fatalf("the message does not come in: %+v, %v", m, err)
	}
	e.refused(t.Context(), []gateway.Update{u})
	if len(e.unstored.told) > 0 {
		t.Errorf("told: %v", e.unstored.told)
	}
}

// TestWordsAloneProposesWhatHelps: who has switched embeddings off is not told to
// bring their model.
func TestWordsAloneProposesWhatHelps(t *testing.T) {
	for kind, want := range map[string]bool{"off": false, "onnx": true} {
		c := Config{Settings: func() settings.Settings {
			return settings.Settings{Memory: settings.Memory{Embedding: settings.Embedding{Type: kind, Model: "none"}}}
		}}
		text := EmbeddingText(c)
		if !strings.HasPrefix(text, "searches by words alone (") || strings.Contains(text, "assets pull") != want {
			t.Errorf("%s: %s", kind, text)
		}
	}
}
