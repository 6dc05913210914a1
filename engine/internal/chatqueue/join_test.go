package chatqueue_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/chatqueue"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

var at = gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1}}

func message(text string) chatqueue.Item {
	return chatqueue.Item{Row: store.Update{Update: gateway.Update{Address: at}, ReceivedAt: time.Now()}, Msg: gateway.Message{Text: text}}
}

// TestMessageBehindStopHasItsOwnTurn: /stop and a message come while the first turn, or one
// that the last end of the process interrupted, is still being stored or read. The message
// does not become a part of what was stopped.
func TestMessageBehindStopHasItsOwnTurn(t *testing.T) {
	for name, begin := range map[string]func(*chatqueue.Queues){
		"new":     func(q *chatqueue.Queues) { q.Add(message("hi"), false) },
		"resumed": func(q *chatqueue.Queues) { q.Resume(store.Turn{ID: 1, Address: at}) },
	} {
		t.Run(name, func(t *testing.T) {
			type turn struct {
				texts, late []string
				stopped     bool
			}
			turns := make(chan turn, 2)
			var q *chatqueue.Queues
			run := func(ctx context.Context, id store.TurnID, items []chatqueue.Item) {
				if id == 1 {
					q.Stop(at)
					q.Add(message("next"), false)
				}
				_, late := q.Open(store.Turn{ID: id, Address: at})
				turns <- turn{textsOf(items), textsOf(late), errors.Is(context.Cause(ctx), lifecycle.ErrStopped)}
			}
			var last store.TurnID
			q = chatqueue.New(chatqueue.Config{
				Life:     lifecycle.New(lifecycle.Config{}),
				Settings: func() settings.Settings { return settings.Settings{Debounce: time.Millisecond} },
				Answer:   func(ctx context.Context, items []chatqueue.Item) { last++; run(ctx, last, items) },
				Resume:   func(ctx context.Context, row store.Turn) { last = row.ID; run(ctx, last, nil) },
				Log:      slog.New(slog.DiscardHandler),
			})
			q.Begin(t.Context(), t.Context())
			begin(q)
			if first := <-turns; !first.stopped || len(first.late) > 0 {
				t.Fatalf("the first turn is %+v", first)
			}
			if second := <-turns; second.stopped || len(second.texts) != 1 || second.texts[0] != "next" {
				t.Errorf("the second turn is %+v", second)
			}
		})
	}
}

// TestMessageBehindStopIsNotTakenByTheStoppedTurn: both come just before the queue takes
// what its next turn answers.
func TestMessageBehindStopIsNotTakenByTheStoppedTurn(t *testing.T) {
	for n := range int32(4) { // whichever look at the settings they come with
		var q *chatqueue.Queues
		var looks atomic.Int32
		turns := make(chan error, 2)
		q = chatqueue.New(chatqueue.Config{
			Life: lifecycle.New(lifecycle.Config{}),
			Settings: func() settings.Settings {
				if looks.Add(1) == n+1 {
					q.Stop(at)
					q.Add(message("next"), false)
				}
				return settings.Settings{}
			},
			Answer: func(ctx context.Context, items []chatqueue.Item) {
				if slices.Contains(textsOf(items), "next") {
					turns <- context.Cause(ctx)
				}
			},
			Log: slog.New(slog.DiscardHandler),
		})
		q.Begin(t.Context(), t.Context())
		q.Add(message("hi"), false)
		for looks.Load() <= n {
			q.Add(message("hi"), false)
			runtime.Gosched()
		}
		if err := <-turns; err != nil {
			t.Errorf("/stop with look %d: the turn of the next message has ended: %v", n+1, err)
		}
	}
}

// TestMessageThatJoinsIsStoredBeforeTheTurnBeginsAgain: also where nothing is waited for.
func TestMessageThatJoinsIsStoredBeforeTheTurnBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *chatqueue.Queues
		var late *chatqueue.Join
		row := store.Turn{ID: 1, Address: at}
		again := 0
		q = chatqueue.New(chatqueue.Config{
			Life:     lifecycle.New(lifecycle.Config{}),
			Settings: func() settings.Settings { return settings.Settings{} },
			Answer: func(context.Context, []chatqueue.Item) {
				j, _ := q.Open(row)
				q.Joined(q.Claim(message("two")), message("two"), true)
				q.Settle(j)
				late = q.Claim(message("three"))
				q.Again(j, row)
			},
			Resume: func(context.Context, store.Turn) { again++ },
			Log:    slog.New(slog.DiscardHandler),
		})
		q.Begin(t.Context(), t.Context())
		q.Add(message("one"), false)
		synctest.Wait()
		if again > 0 {
			t.Error("the turn begins again without a message that joins it")
		}
		q.Joined(late, message("three"), true)
		synctest.Wait()
		if again != 1 {
			t.Errorf("the turn begins again %d times", again)
		}
	})
}

func textsOf(items []chatqueue.Item) (texts []string) {
	for _, it := range items {
		texts = append(texts, it.Msg.Text)
	}
	return texts
}
