package telegram_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/internal/telegramtest"
)

func TestPollIntake(t *testing.T) {
	t.Run("B1 not stored: not acknowledged, delivered again", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).Send("one")
			killed := make(chan struct{})
			stop := w.serve(func(ctx context.Context, _ []gateway.Update) error {
				close(killed)
				<-ctx.Done()
				return ctx.Err()
			})
			<-killed
			stop()
			w.serve(nil)
			w.until("it is there", func() bool { return w.texts() == "one" })
		})
	})
	t.Run("B2 stored but not acknowledged: the same id again", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).Send("one")
			var stop func()
			stored := make(chan struct{})
			stop = w.serve(func(ctx context.Context, u []gateway.Update) error {
				close(stored)
				<-ctx.Done()
				return w.take(ctx, u)
			})
			<-stored
			stop()
			w.serve(nil)
			w.until("it came twice", func() bool { return w.texts() == "one one" })
			if a, b := w.got[0], w.got[1]; a.Bot != botID || a.Bot != b.Bot || a.ID != b.ID {
				t.Errorf("%d/%d and %d/%d are not the same update", a.Bot, a.ID, b.Bot, b.ID)
			}
		})
	})
	t.Run("B4 sent while down: all, in order, nothing dropped", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			var want []string
			for i := range 250 {
				want = append(want, strconv.Itoa(i))
				w.fake.User(5).Send(want[i])
			}
			w.serve(nil)
			w.until("all are there", func() bool { return w.texts() == strings.Join(want, " ") })
			if first := w.fake.Calls("getUpdates")[0].Params; first["offset"] != "" {
				t.Errorf("the first poll has the offset %s", first["offset"])
			}
		})
	})
	t.Run("B5 ids start anew", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.ResetUpdateIDs(900_000)
			w.serve(nil)
			w.fake.User(5).Send("one")
			w.until("one", func() bool { return w.texts() == "one" })
			w.fake.ResetUpdateIDs(1000)
			w.fake.User(5).Send("two")
			w.fake.User(5).Send("three")
			w.until("three", func() bool { return w.texts() == "one two three" })
			w.until("they are acknowledged", func() bool { return pending(w) == 0 })
		})
	})
	t.Run("B6 unreadable and unknown updates stop nobody", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).Send("one")
			for _, raw := range []string{`{"message":7}`, `{"message":{"chat":"x"}}`, `{}`, `{"telepathy":{"depth":1}}`} {
				if _, err := w.fake.Push(raw); err != nil {
					t.Fatal(err)
				}
			}
			w.fake.User(5).Send("two")
			w.serve(nil)
			w.until("all are there", func() bool { return w.texts() == "one fault fault fault  two" })
			w.until("they are acknowledged", func() bool { return pending(w) == 0 })
			for _, u := range w.got[1:4] {
				if u.Fault == "" || u.ID == 0 || len(u.Raw) == 0 {
					t.Errorf("dead row %+v", u)
				}
			}
		})
	})
	t.Run("B7 updates without a message or a chat", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.serve(nil)
			for _, raw := range []string{
				`{"poll":{"id":"1","question":"q","options":[]}}`, `{"chat_boost":{"boost":{}}}`,
				`{"callback_query":{"id":"1","from":{"id":5}}}`, `{"inline_query":{"id":"1","from":{"id":5}}}`,
			} {
				if _, err := w.fake.Push(raw); err != nil {
					t.Fatal(err)
				}
			}
			w.fake.User(5).Send("on")
			w.until("all are there", func() bool { return strings.HasSuffix(w.texts(), " on") })
			if w.Health().State != "ok" {
				t.Errorf("health %+v", w.Health())
			}
		})
	})
	t.Run("B8 storing fails: no acknowledgement, backoff, health red", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).Send("one")
			failures := 5
			w.serve(func(ctx context.Context, u []gateway.Update) error {
				if failures--; failures >= 0 {
					return errors.New("disk full")
				}
				return w.take(ctx, u)
			})
			w.until("health is red", func() bool {
				h := w.Health()
				return h.State == "stale" && strings.Contains(h.Fault, "disk full") && pending(w) == 1
			})
			w.until("it is there", func() bool { return w.texts() == "one" && w.Health().Fault == "" })
			growing(t, w.gaps("getUpdates")[:5])
		})
	})
}

func TestPollErrors(t *testing.T) {
	t.Run("B9 other poller: backoff, recovers alone", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{
				Method: "getUpdates", Kind: telegramtest.FaultError, Status: 409, Times: 12,
				Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
			})
			w.serve(nil)
			w.until("health tells of the conflict", func() bool { return w.Health().State == "conflict" })
			w.fake.User(5).Send("one")
			w.until("it is there", func() bool { return w.texts() == "one" })
			w.until("health is good", func() bool { return w.Health().State == "ok" && w.Health().Fault == "" })
			growing(t, w.gaps("getUpdates")[:12])
			if n := strings.Count(w.log.String(), "updates do not come in"); n != 1 {
				t.Errorf("%d lines about one fault", n)
			}
		})
	})
	t.Run("B10 webhook is set: removed once, nothing dropped", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.User(5).Send("one")
			setWebhook(w)
			w.serve(nil)
			w.until("it is there", func() bool { return w.texts() == "one" })
			removals := w.fake.Calls("deleteWebhook")
			if len(removals) != 1 || removals[0].Params["drop_pending_updates"] != "false" {
				t.Errorf("removals: %+v", removals)
			}
			setWebhook(w)
			w.until("the second webhook is respected", func() bool { return w.Health().State == "conflict" })
			pass(10 * time.Minute)
			if n := w.fake.Count("deleteWebhook"); n != 1 {
				t.Errorf("%d removals", n)
			}
		})
	})
	for status, says := range map[int]string{401: "Unauthorized", 404: "Not Found"} {
		t.Run("B11 token refused with "+strconv.Itoa(status), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.fake.Fault(telegramtest.Fault{Kind: telegramtest.FaultError, Status: status, Description: says, Times: -1})
				w.serve(nil)
				w.until("the channel stops", func() bool { _, ended := w.result(); return ended })
				err, _ := w.result()
				if err == nil || !strings.Contains(err.Error(), "Telegram does not know this token") {
					t.Errorf("error %v", err)
				}
				w.clean(err.Error())
				if n := w.fake.Count("getUpdates"); n != 1 || w.Health().State != "stopped" {
					t.Errorf("%d polls, health %+v", n, w.Health())
				}
			})
		})
	}
	for _, c := range []struct {
		name  string
		times int // how many polls are refused after some have worked; -1 is all
		ends  bool
	}{
		{"one-401", 1, false}, {"a 401 for a minute", 6, false}, {"a 401 that stays", -1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.serve(nil)
				w.until("it is polled", func() bool { return w.Health().State == "ok" && w.fake.Count("getUpdates") >= 2 })
				w.fake.Fault(telegramtest.Fault{Method: "getUpdates", Kind: telegramtest.FaultError, Status: 401, Description: "Unauthorized", Times: c.times})
				began := time.Now()
				w.fake.User(5).Send("one")
				if !c.ends {
					w.until("it is there", func() bool { return w.texts() == "one" && w.Health().State == "ok" })
					if _, ended := w.result(); ended {
						t.Error("the channel has stopped")
					}
					return
				}
				w.until("the fault shows", func() bool { return w.Health().State == "connecting" })
				w.until("the channel stops", func() bool { _, ended := w.result(); return ended })
				if d := time.Since(began); d < 5*time.Minute || d > 8*time.Minute {
					t.Errorf("stopped after %v", d)
				}
				if err, _ := w.result(); err == nil || !strings.Contains(err.Error(), "Telegram does not know this token") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
	t.Run("B11 told to wait", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Method: "getUpdates", Kind: telegramtest.FaultError, RetryAfter: 100})
			w.serve(nil)
			w.until("polled again", func() bool { return w.fake.Count("getUpdates") > 1 })
			if gap := w.gaps("getUpdates")[0]; gap < 100*time.Second || gap > 102*time.Second {
				t.Errorf("polled again after %v", gap)
			}
		})
	})
	for _, f := range []telegramtest.Fault{
		{Kind: telegramtest.FaultError, Status: 500}, {Kind: telegramtest.FaultHTML}, {Kind: telegramtest.FaultHTML, Status: 404},
		{Kind: telegramtest.FaultReset}, {Kind: telegramtest.FaultMalformed},
	} {
		t.Run("B11 "+string(f.Kind)+" "+strconv.Itoa(f.Status)+": backoff", func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				f.Method, f.Times = "getUpdates", 4
				w.fake.Fault(f)
				w.fake.User(5).Send("one")
				w.serve(nil)
				w.until("the fault shows", func() bool { return w.Health().State == "connecting" && w.Health().Fault != "" })
				w.clean(w.Health().Fault)
				w.until("it is there", func() bool { return w.texts() == "one" })
				growing(t, w.gaps("getUpdates")[:4])
			})
		})
	}
	t.Run("B12 black hole: given up, new connections, stale in between", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.serve(nil)
			w.until("it is polled", func() bool { return w.Health().Name != "" && w.fake.Count("getUpdates") >= 1 })
			w.fake.Fault(telegramtest.Fault{Method: "getUpdates", Kind: telegramtest.FaultHang, Times: 3})
			pools, start := w.poolCount(), time.Now()
			w.until("health is stale", func() bool { return w.Health().State == "stale" })
			if d := time.Since(start); d < 150*time.Second || d > 250*time.Second {
				t.Errorf("stale after %v", d)
			}
			w.until("health is good", func() bool { return w.Health().State == "ok" })
			if n := w.poolCount() - pools; n != 3 {
				t.Errorf("%d new pools", n)
			}
		})
	})
	t.Run("B13 network down at start", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Kind: telegramtest.FaultReset, Times: 9})
			w.serve(nil)
			w.until("polling and known", func() bool { return w.Health().State == "ok" && w.Health().Name == "@klaw_test_bot" })
		})
	})
	t.Run("one poller at a time", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.serve(nil)
			w.until("it is polled", func() bool { return w.fake.Count("getUpdates") >= 1 })
			if err := w.Serve(t.Context(), w.take); err == nil {
				t.Error("a second poller started")
			}
		})
	})
}

func TestPollRequest(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve(nil)
		w.fake.User(5).Send("one")
		w.until("acknowledged", func() bool { return w.texts() == "one" && pending(w) == 0 })
		for i, call := range w.fake.Calls("getUpdates") {
			timeout := "50"
			if i == 0 {
				timeout = "0" // so that an idle bot knows at once that polling works
			}
			if call.Params["timeout"] != timeout || call.Params["allowed_updates"] != `["message","edited_message","callback_query","my_chat_member","stopped_message_generation"]` {
				t.Errorf("params %v", call.Params)
			}
		}
	})
}

func TestPollHealth(t *testing.T) {
	t.Run("I2 health shows the name and the last good poll", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			if h := w.Health(); h.State != "connecting" || !h.LastPoll.IsZero() {
				t.Errorf("before: %+v", h)
			}
			w.serve(nil)
			w.until("an empty poll ended", func() bool { return w.fake.Count("getUpdates") > 1 })
			h := w.Health()
			if h.Channel != "telegram" || h.State != "ok" || time.Since(h.LastPoll) > time.Second || h.Name != "@klaw_test_bot" {
				t.Errorf("health %+v", h)
			}
		})
	})
}

// growing checks that waits are random, between 1 and 60 s, and grow.
func growing(t *testing.T, gaps []time.Duration) {
	t.Helper()
	for i, gap := range gaps {
		top := min(2*time.Second<<i, time.Minute)
		if gap < top/2 || gap > top+100*time.Millisecond {
			t.Errorf("wait %d is %v, not between %v and %v", i, gap, top/2, top)
		}
	}
}

func pending(w *world) (n int) {
	w.fake.View(func(s telegramtest.State) { n = s.Pending() })
	return n
}
