package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/file"
	"klawbot/tools/find"
	"klawbot/tools/web"
	"klawbot/whitelist"
)

// house is an engine with a messenger and a model that the test plays.
type house struct {
	t         *testing.T
	dir       string
	messenger *messenger
	model     *modeltest.Server
	engine    *engine.Engine
	settings  settings.Settings
	list      atomic.Pointer[[]int64] // allowedChatIds
	tools     []tools.Tool
	// local are channels of this machine, which the messenger plays, too.
	local []string
	// web is what the tools of the web need; nil has none of them.
	web     *web.Config
	examine func(context.Context) []health.Finding
	redact  *redact.Set
	// allow puts a chat on the list after a button; nil asks about no unknown sender.
	allow func(gateway.ChatID) error
	// learn downloads the speech model; nil: it is not offered.
	learn func(context.Context) error
	// ears says whether the server of the settings hears; nil: as they say.
	ears  *atomic.Bool
	logs  *lockedBuffer
	stop  context.CancelFunc
	ended chan error

	mu     sync.Mutex
	update int64 // guarded by mu
}

// nearby is the messenger as another channel.
type nearby struct {
	*messenger
	name string
}

func (n nearby) Name() string { return n.name }

func (n nearby) Health() gateway.Health {
	return gateway.Health{Channel: n.name, State: gateway.StateOK}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const alice, bob = int64(11), int64(22)

// build returns a house that does not run yet. Its debounce is 0 and it streams
// with edits.
func build(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), messenger: newMessenger(), model: modeltest.Start("model-key"), redact: new(redact.Set), logs: &lockedBuffer{}}
	h.list.Store(&[]int64{alice, bob, -100})
	t.Cleanup(h.model.Close)
	h.settings = settings.Settings{
		Debounce: -1, // most tests want an answer to each message
		Language: "en", MaxToolCallRounds: 10, MaxConcurrentModelCalls: 4, ContextWindow: 20, MaxOutputChars: 10_000,
		Streaming: map[string]string{"telegram": settings.StreamEdit}, Owners: map[string][]int64{"telegram": {alice}},
		Models: settings.Models{
			Default: "main", Timeout: 10 * time.Second, Retries: 0,
			Entries: map[string]settings.Model{
				"main":  {Provider: "test", Type: "openai", BaseURL: h.model.URL + "/v1", APIKey: "model-key", Name: "test-model", ContextBudget: 32_000},
				"other": {Provider: "test", Type: "openai", BaseURL: h.model.URL + "/v1", APIKey: "model-key", Name: "other-model", ContextBudget: 8_000},
			},
		},
	}
	h.tools = file.New(file.Config{Workspace: h.workspace(), Data: h.dir, Spill: filepath.Join(h.dir, "spill")})
	if err := os.MkdirAll(h.workspace(), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) workspace() string { return filepath.Join(h.dir, "workspace") }

// start opens and runs the engine.
func (h *house) start() *house {
	h.t.Helper()
	log := slog.New(slog.NewTextHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	channels := []gateway.Channel{h.messenger}
	for _, name := range h.local {
		channels = append(channels, nearby{h.messenger, name})
	}
	g, err := gateway.New(gateway.Config{
		Channels: channels,
		Whitelist: func() whitelist.List {
			all := whitelist.List{"telegram": {Chats: *h.list.Load()}}
			for _, name := range h.local {
				all[name] = whitelist.Rules{Local: true}
			}
			return all
		},
		Redact: h.redact,
		Log:    log,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.engine, err = engine.New(ctx, engine.Config{AskAbout: func() bool { return h.allow != nil }, Allow: func(c gateway.ChatID) error { return h.allow(c) }, Examine: h.examine, Learn: h.learn, Grace: 200 * time.Millisecond, Base: engine.Base{
		Dir: h.dir, Gateway: g, Tools: h.tools, HTTP: http.DefaultClient, Settings: h.current,
		OpenFile: file.Opener(file.Config{Workspace: h.workspace()}), Web: h.web,
		Workspace: h.workspace(), Redact: h.redact, Version: "test", Log: log,
	}})
	if err != nil {
		cancel()
		h.t.Fatal(err)
	}
	h.stop, h.ended = cancel, make(chan error, 1)
	e, ended := h.engine, h.ended
	go func() { ended <- e.Run(ctx) }()
	h.t.Cleanup(h.end)
	return h
}

// current are the settings as they are now.
func (h *house) current() settings.Settings {
	s := h.settings
	if h.ears != nil && h.ears.Load() {
		s.Media.Transcription.Provider = "ears"
	}
	return s
}

// end stops the engine in good order and reports what went wrong.
func (h *house) end() {
	if h.stop == nil {
		return
	}
	h.stop()
	h.stop = nil
	if err := <-h.ended; err != nil {
		h.t.Errorf("run: %v", err)
	}
	if err := h.engine.Close(); err != nil {
		h.t.Errorf("close: %v", err)
	}
	if h.t.Failed() {
		h.t.Logf("log:\n%s\ncalls:\n%s", clipped(h.logs.String()), clipped(strings.Join(h.messenger.log(), "\n")))
	}
}

// restart ends the engine and starts another one on the same folder.
func (h *house) restart() {
	h.t.Helper()
	h.end()
	h.start()
}

// update is what a channel would hand over for a message.
func (h *house) next(m gateway.Message) gateway.Update {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.update++
	if m.ID == 0 {
		m.ID = h.update
	}
	if m.Kind == gateway.KindNone {
		m.Kind = gateway.KindText
	}
	m.Addressed = true
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	if name, args, found := strings.Cut(m.Text, " "); strings.HasPrefix(m.Text, "/") {
		m.Command, m.Args = name[1:], args
		if !found {
			m.Args = ""
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		h.t.Fatal(err)
	}
	kind := "message"
	if m.Kind == gateway.KindEdit {
		kind = "edited_message"
	}
	return gateway.Update{
		Channel: cmp.Or(m.Address.Chat.Channel, "telegram"), Bot: 1, ID: h.update, Kind: kind, Address: m.Address, Message: m.ID,
		From: m.Sender.ID, Group: m.Group, Raw: raw,
	}
}

// says lets a person write in the private chat, all in one delivery.
func (h *house) says(person int64, texts ...string) {
	h.t.Helper()
	var updates []gateway.Update
	for _, text := range texts {
		updates = append(updates, h.next(gateway.Message{Address: private(person), Sender: gateway.Sender{ID: person, Name: "Person"}, Text: text}))
	}
	h.accept(updates...)
}

func (h *house) accept(updates ...gateway.Update) {
	h.t.Helper()
	if err := h.engine.Accept(context.Background(), updates); err != nil {
		h.t.Fatal(err)
	}
}

func private(person int64) gateway.Address {
	return gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: person}}
}

// shows waits until a chat shows exactly these texts.
func (h *house) shows(chat int64, want ...string) {
	h.t.Helper()
	if !h.messenger.wait(10*time.Second, func() bool { return slices.Equal(h.messenger.texts(chat), want) }) {
		h.t.Fatalf("chat %d shows %q, want %q", chat, h.messenger.texts(chat), want)
	}
}

// echo makes the model answer "re: " and the last message of the person.
func (h *house) echo() {
	h.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + said(r)) })
}

// said is the last message of the person without the note about the time.
func said(r modeltest.Request) string {
	text, _, _ := strings.Cut(r.LastUser(), "(now:")
	text, _, _ = strings.Cut(text, "(sent:")
	return strings.TrimSpace(text)
}

// slowEcho is echo of a model that takes so long that a placeholder stands there.
func (h *house) slowEcho() {
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "re: " + said(r), Delay: time.Second}
	})
}

func clipped(s string) string {
	if len(s) > 3000 {
		return s[:1500] + "\n…\n" + s[len(s)-1500:]
	}
	return s
}

// showsAll has the models see every tool in full.
func (h *house) showsAll() {
	for name, m := range h.settings.Models.Entries {
		m.Tools = find.ShowAll
		h.settings.Models.Entries[name] = m
	}
}
