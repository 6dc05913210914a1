package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/internal/telegramtest"
)

// world is a channel and the Telegram that it speaks with, in a bubble of fake
// time.
type world struct {
	*telegram.Channel
	t    *testing.T
	fake *telegramtest.Server
	pipe *telegramtest.PipeListener
	log  *buffer

	mu    sync.Mutex
	pools int              // connection pools made
	got   []gateway.Update // accepted
	err   error            // of Serve
	ended bool
}

type setup struct {
	telegram.Config
	fake telegramtest.Config
	log  *buffer
}

// inWorld runs a test in a world. At its end everything has stopped, and the
// token has shown up nowhere.
func inWorld(t *testing.T, change func(*setup), test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, pipe: telegramtest.NewPipeListener(), log: new(buffer)}
		s := setup{fake: telegramtest.Config{Token: token, Listener: w.pipe}, log: w.log}
		s.Config = telegram.Config{
			Token: token, APIURL: "http://telegram.test",
			Log:       slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Transport: w.pool,
		}
		if change != nil {
			change(&s)
		}
		w.fake = telegramtest.New(s.fake)
		c, err := telegram.New(s.Config)
		if err != nil {
			t.Fatal(err)
		}
		w.Channel = c
		w.fake.AddChat(telegramtest.Chat{ID: 5}, telegramtest.Open)
		w.fake.AddChat(telegramtest.Chat{ID: -100, Type: "group"}, telegramtest.Open)
		t.Cleanup(func() {
			w.fake.Close()
			w.clean(w.log.String())
		})
		test(t, w)
	})
}

func (w *world) pool() http.RoundTripper {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pools++
	return w.pipe.Transport()
}

// serve runs Serve with accept, or one that takes everything, until the returned
// function is called or the test ends.
func (w *world) serve(accept gateway.Accept) (stop func()) {
	w.t.Helper()
	if accept == nil {
		accept = w.take
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := w.Serve(ctx, accept)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err, w.ended = err, true
	}()
	stop = func() {
		cancel()
		<-done
	}
	w.t.Cleanup(stop)
	return stop
}

func (w *world) take(_ context.Context, updates []gateway.Update) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, updates...)
	return nil
}

// texts decodes what was accepted.
func (w *world) texts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, u := range w.got {
		m, err := w.Decode(u)
		if err != nil {
			m.Text = "fault"
		}
		all = append(all, m.Text)
	}
	return strings.Join(all, " ")
}

// result is what Serve returned, if it did.
func (w *world) result() (err error, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err, w.ended
}

func (w *world) poolCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pools
}

// until lets time pass until the condition holds, an hour at most.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for range 36_000 {
		synctest.Wait()
		if holds() {
			return
		}
		pass(100 * time.Millisecond)
	}
	w.t.Fatalf("never: %s; health %+v, log:\n%s", what, w.Health(), w.log)
}

// pass lets fake time pass.
func pass(d time.Duration) { <-time.After(d) }

// clean fails when a text holds the token's secret.
func (w *world) clean(text string) {
	w.t.Helper()
	if strings.Contains(text, "canary") {
		w.t.Errorf("I1 the token is shown: %s", text)
	}
}

// sendError finds the SendError and checks that it keeps the token.
func (w *world) sendError(err error) *gateway.SendError {
	w.t.Helper()
	if err == nil {
		return &gateway.SendError{}
	}
	w.clean(err.Error())
	var failed *gateway.SendError
	if !errors.As(err, &failed) {
		w.t.Fatalf("%v is no SendError", err)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		w.clean(inner.Error())
	}
	return failed
}

// gaps are the times between the calls of a method.
func (w *world) gaps(method string) []time.Duration {
	var all []time.Duration
	calls := w.fake.Calls(method)
	for i := 1; i < len(calls); i++ {
		all = append(all, calls[i].Time.Sub(calls[i-1].Time))
	}
	return all
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// to is the private chat 5, a group or a topic in it.
func to(chat, thread int64) gateway.Address {
	return gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: chat}, Thread: thread}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
