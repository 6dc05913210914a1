package progress_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"klawbot/engine/internal/progress"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// window is a channel that shows what the bot does.
type window struct {
	channel
	work chan gateway.Work
}

func (w *window) Work(_ context.Context, _ gateway.Address, work gateway.Work) error {
	w.work <- work
	return nil
}

// TestWork tells a turn: it thinks, runs two tools at a time, waits for a person, ends.
func TestWork(t *testing.T) {
	w := &window{channel: channel{asked: make(chan gateway.Part, 1)}, work: make(chan gateway.Work)}
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{w}, Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{11}}} }, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	shows := progress.Shows{Gateway: g, Alone: func(context.Context, gateway.Address) func() { return nil }, Redact: new(redact.Set)}
	p := shows.Start(t.Context(), progress.Shown{
		Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}, Streaming: settings.StreamOff, Log: log,
	})
	expect := func(kind gateway.WorkKind, tool, detail string) {
		t.Helper()
		if got := <-w.work; got.Kind != kind || got.Tool != tool || got.Detail != detail || got.Since.IsZero() {
			t.Errorf("shown is %+v, want %s %q %q", got, kind, tool, detail)
		}
	}
	expect(gateway.WorkThinking, "", "")
	p.Text("half an ans") // is no other work
	shell := p.Busy("shell", json.RawMessage(`{"command":"du -sh notes","timeout_seconds":5}`))
	expect(gateway.WorkTool, "shell", "du -sh notes")
	read := p.Busy("file_read", json.RawMessage(`{"path":"notes.md"}`))
	expect(gateway.WorkTool, "file_read", "notes.md")
	read()
	expect(gateway.WorkTool, "shell", "du -sh notes")
	resume := p.Wait("shell")
	expect(gateway.WorkWaiting, "shell", "")
	resume()
	expect(gateway.WorkTool, "shell", "du -sh notes")
	shell()
	expect(gateway.WorkThinking, "", "")
	odd := p.Busy("weather", json.RawMessage(`{"path":`))
	expect(gateway.WorkTool, "weather", "")
	odd()
	expect(gateway.WorkThinking, "", "")
	done := make(chan struct{})
	go func() { p.Settle(); close(done) }()
	expect(gateway.WorkIdle, "", "")
	<-done
}
