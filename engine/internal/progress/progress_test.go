package progress_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/progress"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// channel takes one placeholder, or refuses it.
type channel struct {
	gateway.Channel
	refusal *gateway.SendError
	asked   chan gateway.Part
}

func (c *channel) Name() string { return "telegram" }

func (c *channel) Render(string) []gateway.Part { return nil }

func (c *channel) Send(_ context.Context, _ gateway.Address, p gateway.Part) (int64, error) {
	c.asked <- p
	if c.refusal != nil {
		return 0, c.refusal
	}
	return 7, nil
}

func TestPlaceholder(t *testing.T) {
	at := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}
	for name, tc := range map[string]struct {
		shown   progress.Shown
		refusal *gateway.SendError
		text    string
		state   string
		id      int64
		lost    bool
	}{
		"person":   {shown: progress.Shown{Streaming: settings.StreamEdit}, text: "…", state: store.PlaceholderShown, id: 7},
		"subagent": {shown: progress.Shown{Streaming: settings.StreamOff, Subagent: "news"}, text: "⏳ news…", state: store.PlaceholderShown, id: 7},
		"refused": {shown: progress.Shown{Streaming: settings.StreamEdit}, refusal: &gateway.SendError{Kind: gateway.Busy, Err: errors.New("full")},
			text: "…", state: store.PlaceholderForgotten},
		"dead chat": {shown: progress.Shown{Streaming: settings.StreamEdit}, refusal: &gateway.SendError{Kind: gateway.Dead, Err: errors.New("blocked")},
			text: "…", state: store.PlaceholderForgotten, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			log := slog.New(slog.DiscardHandler)
			ch := &channel{refusal: tc.refusal, asked: make(chan gateway.Part, 1)}
			g, err := gateway.New(gateway.Config{
				Channels: []gateway.Channel{ch}, Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{11}}} }, Log: log,
			})
			if err != nil {
				t.Fatal(err)
			}
			st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: log})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			lost := false
			shows := progress.Shows{
				Store: st, Gateway: g, Alone: func(context.Context, gateway.Address) func() { return func() {} }, Redact: new(redact.Set),
				Lose: func(context.Context, gateway.ChatID, string, ...store.InboxID) { lost = true },
			}
			tc.shown.Address, tc.shown.State, tc.shown.Log = at, store.PlaceholderNone, log
			if err := st.Write(t.Context(), func(tx *store.Tx) (err error) {
				session, err := tx.Sessions().Session(at)
				if err != nil {
					return err
				}
				tc.shown.Turn, err = tx.Turns().AddTurn(store.Turn{Address: at, Session: session.ID, State: store.TurnRunning, Placeholder: store.PlaceholderNone})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			p := shows.Start(t.Context(), tc.shown)
			p.Need()
			if part := <-ch.asked; part.Text != tc.text || part.Silent != (tc.shown.Subagent != "") {
				t.Errorf("the placeholder is %+v", part)
			}
			if state, id := p.Settle(); state != tc.state || id != tc.id || lost != tc.lost {
				t.Errorf("state %s of message %d, chat lost: %v", state, id, lost)
			}
			if err := st.Read(t.Context(), func(tx *store.Tx) error {
				row, err := tx.Turns().Turn(tc.shown.Turn)
				if row.Placeholder != tc.state || row.PlaceholderID != tc.id {
					t.Errorf("stored are state %s and message %d", row.Placeholder, row.PlaceholderID)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestNothingIsShown: a run that shows nothing is asked to all the same.
func TestNothingIsShown(t *testing.T) {
	var p progress.Progress
	p.Need()
	p.Text("text")
	done := p.Busy("tool", nil)
	p.Step("half")
	p.Wait("tool")()
	done()
	if state, id := p.Settle(); state != "" || id != 0 {
		t.Errorf("state %q of message %d", state, id)
	}
}

// editor notes when a message is edited.
type editor struct {
	channel
	edits []time.Time
}

func (e *editor) Edit(context.Context, gateway.Address, int64, gateway.Part) error {
	e.edits = append(e.edits, time.Now())
	return nil
}

func (e *editor) Render(text string) []gateway.Part { return []gateway.Part{{Text: text}} }

func (e *editor) Typing(context.Context, gateway.Address) error { return nil }

// TestStatusIsShownSeldom: what a model has read changes often; a chat is told every two
// seconds at most, and of the answer a little more often.
func TestStatusIsShownSeldom(t *testing.T) {
	for name, tc := range map[string]struct {
		tell  func(*progress.Progress, string)
		pause time.Duration
	}{"status": {(*progress.Progress).Status, 2 * time.Second}, "answer": {(*progress.Progress).Text, 1500 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, ch := slog.New(slog.DiscardHandler), &editor{}
				g, err := gateway.New(gateway.Config{
					Channels: []gateway.Channel{ch}, Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{11}}} }, Log: log,
				})
				if err != nil {
					t.Fatal(err)
				}
				p := progress.Shows{Gateway: g, Redact: new(redact.Set)}.Start(t.Context(), progress.Shown{
					Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}, State: store.PlaceholderShown, MessageID: 7,
					Streaming: settings.StreamEdit, Log: log,
				})
				for i := range 80 {
					tc.tell(p, fmt.Sprintf("%d %%", i))
					time.Sleep(100 * time.Millisecond)
				}
				p.Settle()
				if len(ch.edits) < 3 {
					t.Fatalf("%d edits", len(ch.edits))
				}
				for i, at := range ch.edits[1:] {
					if pause := at.Sub(ch.edits[i]); pause < tc.pause || pause > tc.pause+200*time.Millisecond {
						t.Errorf("two edits are %s apart, want %s", pause, tc.pause)
					}
				}
			})
		})
	}
}
