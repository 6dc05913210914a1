package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/internal/telegramtest"
)

// standard are the limits of the configuration's defaults, checked by the fake.
func standard(s *setup) {
	s.Limits = func() telegram.Limits {
		return telegram.Limits{PerChatPerSecond: 1, GroupPerMinute: 20, GlobalPerSecond: 25}
	}
	s.fake.Limits = true
}

func TestPace(t *testing.T) {
	t.Run("G2 one chat: three at once, then one a second", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			start := time.Now()
			flood(w, 30, 5)
			if d := time.Since(start); d < 26*time.Second || d > 28*time.Second {
				t.Errorf("30 messages took %v", d)
			}
			unrefused(w)
		})
	})
	t.Run("G2 a group: 20 in any minute", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			flood(w, 60, -100)
			unrefused(w)
			calls := w.fake.Calls("sendMessage")
			for i := 20; i < len(calls); i++ {
				if d := calls[i].Time.Sub(calls[i-20].Time); d < time.Minute {
					t.Errorf("21 messages in %v", d)
				}
			}
		})
	})
	t.Run("G2 all chats together", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			chats := make([]int64, 100)
			for i := range chats {
				chats[i] = int64(1000 + i)
				w.fake.AddChat(telegramtest.Chat{ID: chats[i]}, telegramtest.Open)
			}
			start := time.Now()
			flood(w, 200, chats...)
			if d := time.Since(start); d > 9*time.Second {
				t.Errorf("200 messages took %v", d)
			}
			unrefused(w)
		})
	})
	t.Run("sends and edits share the pace", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			start := time.Now()
			id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "…"})
			for i := 0; err == nil && i < 9; i++ {
				err = w.Edit(t.Context(), to(5, 0), id, gateway.Part{Text: fmt.Sprint(i)})
			}
			if d := time.Since(start); err != nil || d < 7*time.Second {
				t.Errorf("ten took %v, %v", d, err)
			}
			unrefused(w)
		})
	})
	t.Run("who stops waiting gives the place back", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			flood(w, 3, 5)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for range 50 {
				if err := w.Wait(ctx, 5); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			start := time.Now()
			flood(w, 1, 5)
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("the next message took %v", d)
			}
		})
	})
	t.Run("0 is no limit, live", func(t *testing.T) {
		limits := telegram.Limits{}
		inWorld(t, func(s *setup) { s.Limits = func() telegram.Limits { return limits } }, func(t *testing.T, w *world) {
			start := time.Now()
			flood(w, 100, -100)
			if d := time.Since(start); d > 0 {
				t.Errorf("100 messages took %v", d)
			}
			limits.PerChatPerSecond = 1
			flood(w, 10, -100)
			if d := time.Since(start); d < 6*time.Second {
				t.Errorf("ten more took %v", d)
			}
		})
	})
}

func TestYield(t *testing.T) {
	t.Run("what yields never waits and leaves room for the answer", func(t *testing.T) {
		inWorld(t, standard, func(t *testing.T, w *world) {
			start, sent := time.Now(), 0
			for range 10 {
				_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "…", Yield: true})
				switch {
				case err == nil:
					sent++
				case w.sendError(err).Kind != gateway.Busy:
					t.Fatal(err)
				}
			}
			if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "answer"}); err != nil || sent != 2 || time.Since(start) > 0 {
				t.Errorf("%d placeholders, the answer after %v: %v", sent, time.Since(start), err)
			}
			unrefused(w)
		})
	})
	t.Run("F12 previews are 1.5 s apart in a chat, whatever the message", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			var ids []int64
			for range 2 {
				id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "…"})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			for i := range 100 {
				err := w.Edit(t.Context(), to(5, 0), ids[i%2], gateway.Part{Text: fmt.Sprint(i), Yield: true})
				if err != nil && w.sendError(err).Kind != gateway.Busy {
					t.Fatal(err)
				}
				pass(100 * time.Millisecond)
			}
			gaps := w.gaps("editMessageText")
			if len(gaps) < 5 || slices.Min(gaps) < 1500*time.Millisecond {
				t.Errorf("previews %v apart", gaps)
			}
			if err := w.Edit(t.Context(), to(5, 0), ids[0], gateway.Part{Text: "final"}); err != nil || w.fake.Messages(5)[0].Text != "final" {
				t.Errorf("the final text: %v", err)
			}
		})
	})
}

func TestPaceMemory(t *testing.T) {
	inWorld(t, standard, func(t *testing.T, w *world) {
		for i := range int64(5000) {
			if err := w.Wait(t.Context(), 1+i); err != nil {
				t.Fatal(err)
			}
		}
		// 25 chats a second, each remembered for two minutes.
		if n := w.Paces(); n > 4000 {
			t.Errorf("%d chats are remembered", n)
		}
	})
}

// flood sends n messages, spread over chats, all at once.
func flood(w *world, n int, chats ...int64) {
	w.t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := w.Send(w.t.Context(), to(chats[i%len(chats)], 0), gateway.Part{Text: fmt.Sprint(i)}); err != nil {
				w.t.Error(err)
			}
		})
	}
	all.Wait()
}

// unrefused checks that Telegram never had to say stop.
func unrefused(w *world) {
	w.t.Helper()
	for _, call := range w.fake.Calls("") {
		if call.Status == 429 {
			w.t.Errorf("call %d of %s was too early: %s", call.N, call.Method, call.Description)
		}
	}
}
