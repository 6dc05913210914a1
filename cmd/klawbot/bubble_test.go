package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/internal/modeltest"
	"klawbot/internal/redact"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
	"klawbot/whitelist"
)

// bubble is a whole bot in fake time: the real engine on a real database, the
// real gateway and Telegram channel, and the fakes at the other ends of pipes.
// Hours pass in seconds.
type bubble struct {
	t        *testing.T
	telegram *telegramtest.Server
	model    *modeltest.Server
	dir      string
	// Before start the test may change these.
	settings settings.Settings
	chats    []int64
	tools    []tools.Tool
	limits   telegram.Limits
	logs     *syncBuffer
	wire     func() http.RoundTripper // to Telegram; nil: the pipe
	more     []gateway.Channel        // beside Telegram
	look     time.Duration            // see engine.Config.LookEvery

	mu       sync.Mutex // guards chats and settings behind start, see change
	pipe     *telegramtest.PipeListener
	dial     modeltest.Dial
	engine   *engine.Engine
	migrated []int64
	stop     func()
}

// The people and the group of a bubble.
const (
	anna   = int64(11)
	bruno  = int64(22)
	family = int64(-100)
)

// inBubble runs a test in a bubble whose bot is not started yet. Its debounce is
// 0, it streams with edits and nothing is paced. It polls what has no signal
// of once a minute only, or days would be long.
func inBubble(t *testing.T, fake telegramtest.Config, test func(*testing.T, *bubble)) {
	t.Helper()
	inBubbleWith(t, t.TempDir(), fake, test)
}

// inBubbleWith is inBubble with the data of an earlier bubble.
func inBubbleWith(t *testing.T, dir string, fake telegramtest.Config, test func(*testing.T, *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, dir: dir, chats: []int64{anna, bruno, family}, look: time.Minute, logs: &syncBuffer{}, pipe: telegramtest.NewPipeListener(), stop: func() {}}
		fake.Listener = b.pipe
		b.telegram = telegramtest.New(fake)
		defer b.telegram.Close()
		b.model, b.dial = modeltest.StartPipe(canaryKey)
		defer b.model.Close()
		b.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + saidLast(r)) })
		b.telegram.AddChat(telegramtest.Chat{ID: anna}, telegramtest.Open)
		b.telegram.AddChat(telegramtest.Chat{ID: bruno}, telegramtest.Open)
		b.telegram.AddChat(telegramtest.Chat{ID: family, Type: "group", Title: "Family"}, telegramtest.Open)
		b.settings = settings.Settings{
			Debounce: -1, // an answer to each message
			Media:    settings.Media{MaxDownload: 20 << 20, Quota: 1 << 30, Workers: 1, Images: settings.Images{MaxSide: 1568, MaxPerRequest: 4}, Documents: settings.Documents{PDF: "auto", OCR: "off", MaxPages: 500, FirstChars: 8000}},
			Language: "en", MaxToolCallRounds: 10, MaxConcurrentModelCalls: 8, ContextWindow: 4, MaxOutputChars: 10_000,
			Streaming: map[string]string{"telegram": settings.StreamEdit}, Owners: map[string][]int64{"telegram": {bruno}},
			Models: settings.Models{Default: "main", Timeout: 20 * time.Second, Retries: 3, Entries: map[string]settings.Model{
				"main": {Provider: "test", Type: "openai", BaseURL: "http://model.test/v1", APIKey: canaryKey, Name: "test-model", ContextBudget: 32_000},
			}},
		}
		defer func() { b.stop() }()
		test(t, b)
		if t.Failed() {
			t.Logf("log:\n%s", tailOf(b.logs.String()))
		}
	})
}

// now are the settings of this moment.
func (b *bubble) now() settings.Settings {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settings
}

// change changes the settings of a bot that runs.
func (b *bubble) change(f func(*settings.Settings)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.settings)
}

// saidLast is the last message of the person, without the note about the time.
func saidLast(r modeltest.Request) string {
	text, _, _ := strings.Cut(r.LastUser(), "(now:")
	text, _, _ = strings.Cut(text, "(sent:")
	return strings.TrimSpace(text)
}

// conversation is what a model was asked, in words.
func conversation(r modeltest.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Role + ": " + m.Text() + "\n")
	}
	return b.String()
}

// start runs the bot until stop or the end of the test.
func (b *bubble) start() {
	b.t.Helper()
	log := slog.New(slog.NewTextHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var menu []telegram.Command
	for _, c := range engine.Commands("en", false) {
		menu = append(menu, telegram.Command(c))
	}
	ch, err := telegram.New(telegram.Config{
		Token: telegramtest.DefaultToken, APIURL: "http://telegram.test", Log: log,
		Limits: func() telegram.Limits { return b.limits }, Commands: menu,
		Transport: b.transport,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	door, err := gateway.New(gateway.Config{
		Channels: append([]gateway.Channel{ch}, b.more...), Log: log,
		Whitelist: func() whitelist.List {
			b.mu.Lock()
			defer b.mu.Unlock()
			return whitelist.List{"telegram": {Chats: b.chats}, "console": {Local: true}}
		},
		Migrated: func(chat gateway.ChatID, to int64) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.chats = slices.Clone(b.chats)
			if i := slices.Index(b.chats, chat.ID); i >= 0 {
				b.chats[i] = to
				b.migrated = append(b.migrated, chat.ID, to)
			}
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	workspace := filepath.Join(b.dir, "workspace")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		b.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: b.dial}}
	ctx, cancel := context.WithCancel(context.Background())
	e, err := engine.New(ctx, engine.Config{Base: engine.Base{LookEvery: b.look,
		Dir: b.dir, Gateway: door, Tools: b.tools, HTTP: client, Settings: b.now,
		Workspace: workspace, Redact: new(redact.Set), Version: "test", Log: log,
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.engine = e
	ended := make(chan error, 2)
	go func() { ended <- e.Run(ctx) }()
	go func() { ended <- door.Serve(ctx, e) }()
	b.stop = func() {
		b.stop = func() {}
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				b.t.Errorf("ended with %v", err)
			}
		}
		if err := e.Close(); err != nil {
			b.t.Errorf("close: %v", err)
		}
		client.CloseIdleConnections()
	}
}

func (b *bubble) transport() http.RoundTripper {
	if b.wire != nil {
		return b.wire()
	}
	return b.pipe.Transport()
}

// until lets fake time pass until the condition holds, for a day at most. It
// looks each half second, and more rarely, but each ten seconds, when it waits long.
func (b *bubble) until(what string, holds func() bool) {
	b.t.Helper()
	for began := time.Now(); time.Since(began) < 24*time.Hour; {
		synctest.Wait()
		if holds() {
			return
		}
		<-time.After(min(max(500*time.Millisecond, time.Since(began)/60), 10*time.Second))
	}
	b.t.Fatalf("never: %s\n%s\nlog:\n%s", what, b.telegram.Transcript(anna), tailOf(b.logs.String()))
}

// skip lets time pass without the bot, which costs nothing: a bot that waits polls.
func (b *bubble) skip(d time.Duration) {
	b.t.Helper()
	b.stop()
	<-time.After(d)
	b.start()
}

// shows are the texts of the bot that a chat shows now, oldest first.
func (b *bubble) shows(chat int64) []string {
	var all []string
	for _, m := range b.telegram.Messages(chat) {
		if m.Bot && !m.Deleted {
			all = append(all, m.Text)
		}
	}
	return all
}

// says reports whether the last words in a chat are the bot's, and these.
func (b *bubble) says(chat int64, text string) func() bool {
	return func() bool {
		all := b.shows(chat)
		return len(all) > 0 && all[len(all)-1] == text
	}
}

// idle reports whether nothing waits and nothing runs.
func (b *bubble) idle() bool {
	s, err := b.engine.Status(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Running+s.Inbox.Waiting+s.Outbox.Waiting == 0
}
