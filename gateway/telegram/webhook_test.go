package telegram_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/internal/telegramtest"
)

const (
	hookURL    = "https://bot.test/hook"
	hookSecret = "a-good-secret_42"
)

// hooked is a setup in webhook mode. pipe is where the webhook listens, and the
// fake delivers there.
func hooked(pipe *telegramtest.PipeListener) func(*setup) {
	return func(s *setup) {
		// The reverse proxy that ends TLS is left out.
		s.fake.Hook = &http.Client{Transport: &http.Transport{DialTLSContext: pipe.Dial}}
		s.Webhook = &telegram.Webhook{Listener: pipe, URL: hookURL, Secret: hookSecret}
	}
}

// inHook runs a test in a world whose updates come by webhook.
func inHook(t *testing.T, test func(*testing.T, *world, *http.Client)) {
	t.Helper()
	var pipe *telegramtest.PipeListener
	inWorld(t, func(s *setup) {
		pipe = telegramtest.NewPipeListener()
		hooked(pipe)(s)
		t.Cleanup(s.fake.Hook.CloseIdleConnections)
	}, func(t *testing.T, w *world) {
		client := &http.Client{Transport: pipe.Transport()}
		t.Cleanup(client.CloseIdleConnections)
		test(t, w, client)
	})
}

// push posts a body as Telegram, or somebody else, would.
func push(t *testing.T, client *http.Client, secret string, body io.Reader) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://bot.test/hook", body)
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func TestB15Webhook(t *testing.T) {
	t.Run("B15 updates come in order, what came before the start too", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, _ *http.Client) {
			w.fake.User(5).Send("one")
			w.serve(nil)
			w.until("one", func() bool { return w.texts() == "one" })
			w.fake.User(5).Send("two")
			w.fake.User(5).Send("three")
			w.until("three", func() bool { return w.texts() == "one two three" && pending(w) == 0 })
			if n := w.fake.Count("getUpdates"); n != 0 {
				t.Errorf("polled %d times", n)
			}
			set := w.fake.Calls("setWebhook")[0].Params
			if set["url"] != hookURL || set["secret_token"] != hookSecret || set["max_connections"] != "1" || !strings.Contains(set["allowed_updates"], "my_chat_member") {
				t.Errorf("setWebhook %v", set)
			}
			if h := w.Health(); h.State != "ok" || h.LastPoll.IsZero() {
				t.Errorf("health %+v", h)
			}
		})
	})
	t.Run("B15 who does not know the secret is refused before anything is read", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, client *http.Client) {
			w.serve(nil)
			w.until("set", func() bool { return w.fake.Count("setWebhook") == 1 })
			for _, secret := range []string{"", "wrong", hookSecret + "x", hookSecret[:5], strings.ToUpper(hookSecret)} {
				if got := push(t, client, secret, strings.NewReader(`{"update_id":1,"message":{}}`)); got != http.StatusUnauthorized {
					t.Errorf("secret %q: %d", secret, got)
				}
			}
			if w.texts() != "" || len(w.got) != 0 {
				t.Errorf("accepted %v", w.got)
			}
		})
	})
	t.Run("B15 bodies that are no update", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, client *http.Client) {
			w.serve(nil)
			w.until("set", func() bool { return w.fake.Count("setWebhook") == 1 })
			for body, want := range map[string]int{
				`{"update_id":`: 400, ``: 400, `{}`: 400, `[]`: 400, `hello body-canary`: 400,
				`{"update_id":1,"message":"` + strings.Repeat("x", 2<<20) + `"}`: 413,
				`{"update_id":7,"message":7}`:                                    200, // stored as a dead row: it must not come for ever
			} {
				if got := push(t, client, hookSecret, strings.NewReader(body)); got != want {
					t.Errorf("%.40q: %d, want %d", body, got, want)
				}
			}
			if len(w.got) != 1 || w.got[0].Fault == "" {
				t.Errorf("accepted %+v", w.got)
			}
			if strings.Contains(w.log.String(), "body-canary") {
				t.Error("the log shows a body")
			}
		})
	})
	t.Run("B15 not stored: 500, health red, delivered again", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, _ *http.Client) {
			failures := 3
			w.serve(func(ctx context.Context, u []gateway.Update) error {
				if failures--; failures >= 0 {
					return errors.New("disk full")
				}
				return w.take(ctx, u)
			})
			w.fake.User(5).Send("one")
			w.until("health is red", func() bool { return strings.Contains(w.Health().Fault, "disk full") && pending(w) == 1 })
			w.until("it is there", func() bool { return w.texts() == "one" && pending(w) == 0 && w.Health().State == "ok" })
		})
	})
	t.Run("B15 setWebhook is repeated, and set again when it is gone", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, _ *http.Client) {
			w.fake.Fault(telegramtest.Fault{Method: "setWebhook", Kind: telegramtest.FaultHTML, Times: 3})
			w.serve(nil)
			w.until("set", func() bool { return w.fake.Count("setWebhook") == 4 && w.Health().State == "ok" })
			growing(t, w.gaps("setWebhook"))
			call(t, w, "deleteWebhook")
			w.until("set again", func() bool { return w.fake.Count("setWebhook") == 5 })
		})
	})
	t.Run("B15 Telegram cannot deliver: health says so", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, _ *http.Client) {
			w.serve(func(context.Context, []gateway.Update) error { return errors.New("disk full") })
			w.fake.User(5).Send("one")
			w.until("health says so", func() bool { return strings.Contains(w.Health().Fault, "cannot deliver") })
		})
	})
	t.Run("B15 a refused token stops it", func(t *testing.T) {
		inHook(t, func(t *testing.T, w *world, _ *http.Client) {
			w.fake.Fault(telegramtest.Fault{Kind: telegramtest.FaultError, Status: 401, Times: -1})
			w.serve(nil)
			w.until("stopped", func() bool { _, ended := w.result(); return ended })
			if err, _ := w.result(); err == nil || !strings.Contains(err.Error(), "does not know this token") {
				t.Errorf("ended with %v", err)
			}
		})
	})
}

func TestB15NoStartWithoutSecret(t *testing.T) {
	for name, hook := range map[string]telegram.Webhook{
		"no secret":    {Listen: "127.0.0.1:0", URL: hookURL},
		"odd secret":   {Listen: "127.0.0.1:0", URL: hookURL, Secret: "a b"},
		"plain http":   {Listen: "127.0.0.1:0", URL: "http://bot.test/", Secret: hookSecret},
		"no address":   {Listen: "127.0.0.1:0", Secret: hookSecret},
		"no listening": {URL: hookURL, Secret: hookSecret},
	} {
		_, err := telegram.New(telegram.Config{Token: token, Log: discard(), Webhook: &hook})
		if err == nil || !strings.Contains(err.Error(), "channels.telegram.webhook.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestB15BackToPolling(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		call(t, w, "setWebhook?url="+hookURL)
		w.fake.User(5).Send("one")
		w.serve(nil)
		w.until("it is polled", func() bool { return w.texts() == "one" })
		if n := w.fake.Count("deleteWebhook"); n != 1 {
			t.Errorf("the webhook was removed %d times", n)
		}
	})
}

// call calls a method of the Bot API beside the channel.
func call(t *testing.T, w *world, method string) {
	t.Helper()
	client := &http.Client{Transport: w.pipe.Transport(), Timeout: time.Minute}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://telegram.test/bot" + token + "/" + method)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", method, resp.Status, err)
	}
}
