package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestRemindersOfTheManual has a new user say "remind me in one minute", at the
// terminal of a bot without a model and in Telegram with one. The manual shows
// what they saw, to the letter.
func TestRemindersOfTheManual(t *testing.T) {
	t.Run("terminal", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			scheduled(b)
			b.settings.Models.Default = ""
			seat := newSeat(t, b)
			seat.say("/remind in one minute look at the oven")
			seat.wait("⏰ 00:01 look at the oven\n")
			seat.say("/schedule")
			seat.wait("No scheduled tasks")
			checkBlock(t, "terminal", strings.TrimSuffix(seat.String(), terminal.Prompt))
		})
	})
	t.Run("telegram", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			scheduled(b)
			b.model.Push(
				modeltest.CallTool("schedule_add", map[string]any{"name": "oven", "at": "in 1m", "message": "Remind the user to look at the oven.", "injectInto": "telegram_11"}),
				modeltest.Text("I will remind you at 00:01."),
				modeltest.Text("Please look at the oven!"),
				modeltest.Text("You asked me to remind you of it a minute ago."),
			)
			b.start()
			b.telegram.User(anna).Send("remind me in one minute to look at the oven")
			b.until("the reminder", b.says(anna, "Please look at the oven!"))
			b.telegram.User(anna).Send("why?")
			b.until("an answer", b.says(anna, "You asked me to remind you of it a minute ago."))
			checkBlock(t, "telegram", b.telegram.Transcript(anna))
		})
	})
}

// seat is a person at the terminal of a bot in a bubble.
type seat struct {
	syncBuffer
	t     *testing.T
	lines chan string
}

// newSeat starts the bot with a terminal and sits down at it.
func newSeat(t *testing.T, b *bubble) *seat {
	t.Helper()
	channel := console.New(console.Config{Log: slog.New(slog.DiscardHandler)})
	b.more = []gateway.Channel{channel}
	b.start()
	socket := telegramtest.NewPipeListener()
	server := &http.Server{Handler: channel}
	go func() { _ = server.Serve(socket) }() // ends with Close
	client := &http.Client{Transport: socket.Transport()}
	s := &seat{t: t, lines: make(chan string)}
	c := console.NewClient(client, "http://klawbot")
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan console.Event)
	ended := make(chan error, 2)
	go func() {
		ended <- c.Events(ctx, func(e console.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	talk := terminal.NewTalk(c, s)
	go func() { ended <- talk.Converse(ctx, s.lines, events) }()
	stop := b.stop
	b.stop = func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		client.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		stop()
	}
	s.wait(terminal.Prompt)
	return s
}

// say types a line, which the terminal shows.
func (s *seat) say(line string) {
	synctest.Wait()
	if _, err := s.Write([]byte(line + "\n")); err != nil {
		s.t.Fatal(err)
	}
	s.lines <- line
}

// wait waits until the screen shows a text at its end, or before the prompt.
func (s *seat) wait(text string) {
	s.t.Helper()
	for range 600 {
		synctest.Wait()
		if at := strings.LastIndex(s.String(), text); at >= 0 && at > strings.LastIndex(s.String(), "/schedule\n") {
			return
		}
		<-time.After(500 * time.Millisecond)
	}
	s.t.Fatalf("never: %q; the screen shows\n%s", text, s.String())
}

// checkBlock compares a block of the manual with what a person saw.
func checkBlock(t *testing.T, name, got string) {
	t.Helper()
	const page, end = "../../doc/scheduling/how-scheduling-works.md", "```\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "```text "+name+"\n")
	want, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no block %s", page, name)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+"```text "+name+"\n"+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the page shows\n%s\nthe person saw\n%s", want, got)
	}
}
