package telegram_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"klawbot/gateway/telegram"
	"klawbot/internal/telegramtest"
)

func TestProbe(t *testing.T) {
	fake := telegramtest.New(telegramtest.Config{Token: token})
	defer fake.Close()
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	bot, err := telegram.Probe(t.Context(), token, fake.URL()+"/")
	if err != nil || bot != (telegram.Bot{ID: botID, Username: "klaw_test_bot", Name: "Klaw"}) {
		t.Errorf("got %+v, %v", bot, err)
	}
	for _, tt := range []struct{ name, token, url, says string }{
		{"revoked token", "123456789:canary-of-another-bot", fake.URL(), "Telegram does not know this token"},
		{"no token", "canary", fake.URL(), "looks like 123456789:AAE"},
		{"token with a path", "123:canary/../x", fake.URL(), "looks like 123456789:AAE"},
		{"no address", token, "telegram.org", "is no http or https address"},
		{"some other server", token, page.URL, "check the network and channels.telegram.apiURL"},
		{"nobody there", token, gone.URL, "check the network and channels.telegram.apiURL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := telegram.Probe(t.Context(), tt.token, tt.url)
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestProbeStaysWithItsServer(t *testing.T) {
	fake := telegramtest.New(telegramtest.Config{Token: token})
	defer fake.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fake.URL()+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer elsewhere.Close()
	if _, err := telegram.Probe(t.Context(), token, elsewhere.URL); err == nil || fake.Count("") != 0 {
		t.Errorf("I1 the token went along with a redirect: %d calls, %v", fake.Count(""), err)
	}
}

func TestNewRefusesTokens(t *testing.T) {
	for _, bad := range []string{"", "abc", ":x", "12:", "-1:x", "12:a b", "12:a/b"} {
		if _, err := telegram.New(telegram.Config{Token: bad, Log: discard()}); err == nil {
			t.Errorf("token %q was taken", bad)
		}
	}
}

func TestIdentify(t *testing.T) {
	all := func(s *setup) { s.RespondAll = func() bool { return true } }
	t.Run("E4 respond to all with privacy mode: a hint", func(t *testing.T) {
		inWorld(t, all, func(t *testing.T, w *world) {
			w.serve(nil)
			w.until("the hint is there", func() bool { return strings.Contains(w.log.String(), "/setprivacy") })
		})
	})
	t.Run("E4 no hint without privacy mode", func(t *testing.T) {
		inWorld(t, func(s *setup) { all(s); s.fake.ReadsGroups = true }, func(t *testing.T, w *world) {
			w.serve(nil)
			w.until("the bot is known", func() bool { return w.Health().Name != "" })
			if strings.Contains(w.log.String(), "/setprivacy") {
				t.Error("a hint")
			}
		})
	})
	t.Run("E2 mentions that waited are understood", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).In(-100).Send("@klaw_test_bot one")
			w.fake.Fault(telegramtest.Fault{Method: "getMe", Kind: telegramtest.FaultReset, Times: 2})
			w.serve(nil)
			w.until("it is understood", func() bool { return w.texts() == "one" })
		})
	})
}

func TestMenu(t *testing.T) {
	two := func(s *setup) { s.Commands = []telegram.Command{{"new", "Begin anew"}, {"stop", "Stop"}} }
	const menu = `[{"command":"new","description":"Begin anew"},{"command":"stop","description":"Stop"}]`
	t.Run("H11 published, after failures too", func(t *testing.T) {
		inWorld(t, two, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Method: "setMyCommands", Kind: telegramtest.FaultHTML, Times: 2})
			w.fake.Fault(telegramtest.Fault{Method: "setMyCommands", Kind: telegramtest.FaultError, RetryAfter: 30})
			w.serve(nil)
			w.until("published", func() bool { return w.fake.Count("setMyCommands") == 4 })
			if calls := w.fake.Calls("setMyCommands"); calls[3].Params["commands"] != menu || calls[3].Status != 200 {
				t.Errorf("calls %+v", calls)
			}
		})
	})
	t.Run("H11 refused: said once, all else goes on", func(t *testing.T) {
		inWorld(t, two, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Method: "setMyCommands", Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: BOT_COMMANDS_TOO_MUCH", Times: -1})
			w.serve(nil)
			w.fake.User(5).Send("one")
			w.until("it is there", func() bool { return w.texts() == "one" })
			if n := w.fake.Count("setMyCommands"); n != 1 || !strings.Contains(w.log.String(), "command menu refused") {
				t.Errorf("%d calls, log %s", n, w.log)
			}
		})
	})
	t.Run("H11 a long list is cut", func(t *testing.T) {
		inWorld(t, func(s *setup) { s.Commands = make([]telegram.Command, 99) }, func(t *testing.T, w *world) {
			w.serve(nil)
			w.until("published", func() bool { return w.fake.Count("setMyCommands") > 0 })
			if n := strings.Count(w.fake.Calls("setMyCommands")[0].Params["commands"], "command"); n != 30 {
				t.Errorf("%d commands", n)
			}
		})
	})
}

// setWebhook sets a webhook as another program would.
func setWebhook(w *world) {
	w.t.Helper()
	body := strings.NewReader(`{"url":"https://example.org/hook"}`)
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://telegram.test/bot"+token+"/setWebhook", body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.pipe.Transport().RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("set webhook: %s, %v", resp.Status, err)
	}
}
