package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/whitelist"
)

// channel notes every call and fails the first ones as the test says.
type channel struct {
	gateway.Channel
	mu    sync.Mutex
	calls []string             // guarded by mu
	fail  []*gateway.SendError // guarded by mu; nil is none
}

func (c *channel) Name() string { return "telegram" }

func (c *channel) Health() gateway.Health {
	return gateway.Health{Channel: c.Name(), State: gateway.StateOK}
}

func (c *channel) Send(_ context.Context, _ gateway.Address, p gateway.Part) (int64, error) {
	return 1, c.call("send " + p.Text)
}

func (c *channel) Edit(_ context.Context, _ gateway.Address, id int64, p gateway.Part) error {
	return c.call(fmt.Sprintf("edit %d %s", id, p.Text))
}

func (c *channel) Delete(_ context.Context, _ gateway.Address, id int64) error {
	return c.call(fmt.Sprintf("delete %d", id))
}

func (c *channel) call(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, what)
	if len(c.fail) == 0 {
		return nil
	}
	err := c.fail[0]
	c.fail = c.fail[1:]
	err.RetryAfter = time.Millisecond
	return err
}

// lost notes the chats that are lost.
type lost []string

func (l *lost) Lose(_ context.Context, _ gateway.ChatID, why string, _ ...store.InboxID) {
	*l = append(*l, why)
}

func (l *lost) Move(context.Context, gateway.ChatID, int64, ...store.InboxID) {}

func (l *lost) Mute(_ context.Context, _ gateway.Address, _ bool, why string) {
	*l = append(*l, "muted: "+why)
}

func (*lost) Muted(gateway.Address) bool { return false }

func TestOutcomes(t *testing.T) {
	failure := func(kind gateway.Failure) *gateway.SendError {
		return &gateway.SendError{Kind: kind, Err: errors.New("told to")}
	}
	server := func() *gateway.SendError {
		return &gateway.SendError{Kind: gateway.Ambiguous, Server: true, Err: errors.New("502")}
	}
	for _, tc := range []struct {
		name  string
		row   store.Out
		hold  bool
		fail  []*gateway.SendError
		want  []string
		state store.OutboxState
	}{
		{name: "all is well", want: []string{"send hello"}, state: store.OutboxSent},
		{name: "retry", fail: []*gateway.SendError{failure(gateway.Retry)}, want: []string{"send hello", "send hello"}, state: store.OutboxSent},
		{name: "ambiguous send is repeated once and marked", fail: []*gateway.SendError{failure(gateway.Ambiguous)},
			want: []string{"send hello", "send ↻ hello"}, state: store.OutboxSent},
		{name: "and not a second time", fail: []*gateway.SendError{failure(gateway.Ambiguous), failure(gateway.Ambiguous)},
			want: []string{"send hello", "send ↻ hello"}, state: store.OutboxUnknown},
		{name: "fault of the server is repeated more often", fail: []*gateway.SendError{server(), server(), server(), server()},
			want: []string{"send hello", "send ↻ hello", "send ↻ hello", "send ↻ hello"}, state: store.OutboxUnknown},
		{name: "ambiguous send is held", hold: true, fail: []*gateway.SendError{failure(gateway.Ambiguous)}, want: []string{"send hello"}, state: store.OutboxUnknown},
		{name: "send of a process that died is marked", row: store.Out{State: store.OutboxSending}, want: []string{"send ↻ hello"}, state: store.OutboxSent},
		{name: "edit of a process that died is not", row: store.Out{State: store.OutboxSending, Edit: 7}, want: []string{"edit 7 hello"}, state: store.OutboxSent},
		{name: "ambiguous edit is repeated", row: store.Out{Edit: 7}, fail: []*gateway.SendError{failure(gateway.Ambiguous)},
			want: []string{"edit 7 hello", "edit 7 hello"}, state: store.OutboxSent},
		{name: "edit target gone becomes a send", row: store.Out{Edit: 7}, fail: []*gateway.SendError{failure(gateway.NotFound)},
			want: []string{"edit 7 hello", "send hello"}, state: store.OutboxSent},
		{name: "rejected edit becomes a send", row: store.Out{Edit: 7}, fail: []*gateway.SendError{failure(gateway.Rejected)},
			want: []string{"edit 7 hello", "send hello", "delete 7"}, state: store.OutboxSent},
		{name: "rejected send says that there was an answer", fail: []*gateway.SendError{failure(gateway.Rejected)},
			want: []string{"send hello", "send " + locale.Say("en", locale.Undeliverable)}, state: store.OutboxSent},
		{name: "dead chat is lost", fail: []*gateway.SendError{failure(gateway.Dead)}, want: []string{"send hello", "lost told to"}, state: store.OutboxDead},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}
			row := outbox.Rows(to, []gateway.Part{{Text: "hello"}}, "test", 0)[0]
			row.Edit = tc.row.Edit
			if tc.row.State != "" {
				row.State = tc.row.State
			}
			ch := &channel{fail: tc.fail}
			calls, state := deliverRow(t, ch, row, tc.hold)
			if !slices.Equal(calls, tc.want) || state != tc.state {
				t.Errorf("%q ends as %s, want %q and %s", calls, state, tc.want, tc.state)
			}
		})
	}
}

// deliverRow delivers a row and what follows from it, and returns what the channel has
// seen and how the row ended.
func deliverRow(t *testing.T, ch *channel, row store.Out, hold bool) (calls []string, state store.OutboxState) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g, err := gateway.New(gateway.Config{
		Channels:  []gateway.Channel{ch},
		Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{row.Address.Chat.ID}}} }, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var gone lost
	ended := make(chan store.Out, 9)
	out := outbox.New(outbox.Config{
		Store: st, Gateway: g, Life: lifecycle.New(lifecycle.Config{Store: st, Gateway: g, Log: log}), Chats: &gone,
		HoldAmbiguous: func() bool { return hold },
		Settled: func(_ *store.Tx, o store.Out) (func(), error) {
			return func() {
				if o.State != store.OutboxNew && o.State != store.OutboxSending {
					ended <- o
				}
			}, nil
		},
		Attempted: func(store.Out) {},
		Say:       func(p locale.Phrase, args ...any) string { return locale.Say("en", p, args...) }, Log: log,
	})
	if err := st.Write(t.Context(), func(tx *store.Tx) error { return outbox.Add(tx, []store.Out{row}) }); err != nil {
		t.Fatal(err)
	}
	if err := out.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for o := range ended {
		if o.Key == row.Key {
			state = o.State
			break
		}
	}
	out.Close()
	out.Wait() // the courier goes when nothing waits any more
	for _, why := range gone {
		ch.calls = append(ch.calls, "lost "+why)
	}
	return ch.calls, state
}

// TestLateNoticeOfAnEdit: notices of rows have no order. One that comes late does not bring
// back an old text.
func TestLateNoticeOfAnEdit(t *testing.T) {
	log, ch := slog.New(slog.DiscardHandler), &channel{}
	g, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{ch}, Log: log,
		Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{11}}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	var out *outbox.Outbox
	var told []store.Out
	st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: log, Committed: func(c store.Changes) {
		for _, o := range c.Out {
			told = append(told, o)
			out.Added(o)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var gone lost
	out = outbox.New(outbox.Config{
		Store: st, Gateway: g, Life: lifecycle.New(lifecycle.Config{Store: st, Gateway: g, Log: log}), Chats: &gone, Log: log,
		HoldAmbiguous: func() bool { return false }, Attempted: func(store.Out) {},
		Settled: func(*store.Tx, store.Out) (func(), error) { return nil, nil },
		Say:     func(p locale.Phrase, args ...any) string { return locale.Say("en", p, args...) },
	})
	if err := out.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	add := func(text string, edit int64) {
		row := outbox.Rows(gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}, []gateway.Part{{Text: text}}, text, 0)[0]
		row.Edit = edit
		if err := st.Write(t.Context(), func(tx *store.Tx) error { return outbox.Add(tx, []store.Out{row}) }); err != nil {
			t.Fatal(err)
		}
	}
	idle := func() {
		for waits := true; waits; {
			err := st.Read(t.Context(), func(tx *store.Tx) error {
				all, err := tx.Outbox().PendingOut(nil, 1)
				waits = len(all) > 0
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	add("old", 7)
	idle()
	add("new", 7)
	idle()
	out.Wait() // the courier has left
	out.Added(told[0])
	add("next", 0)
	idle()
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if want := []string{"edit 7 old", "edit 7 new", "send next"}; !slices.Equal(ch.calls, want) {
		t.Errorf("called %q, want %q", ch.calls, want)
	}
}
