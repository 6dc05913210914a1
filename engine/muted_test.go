package engine_test

import (
	"errors"
	"strings"
	"testing"

	"klawbot/gateway"
)

// TestMutedPlaceCostsNothing: where the bot may not write no model is asked, owners are told
// once, status says it, and it works again by itself.
func TestMutedPlaceCostsNothing(t *testing.T) {
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	closed := gateway.Address{Chat: group.Chat, Thread: 7}
	open := gateway.Address{Chat: group.Chat, Thread: 8}
	for _, c := range []struct {
		name, why string
		at, other gateway.Address // where it is muted, and where it is not
		topic     bool
		streaming string
	}{
		{"muted-in-a-group", "not enough rights to send text messages to the chat", group, private(bob), false, "off"},
		{"muted while it works", "CHAT_WRITE_FORBIDDEN", group, private(bob), false, "edit"},
		{"a closed topic", "TOPIC_CLOSED", closed, open, true, "off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			h.settings.Streaming = map[string]string{"telegram": c.streaming}
			h.echo()
			if c.streaming == "edit" {
				h.slowEcho()
			}
			mutedNow := true
			h.messenger.fail = func(call string) *gateway.SendError {
				if mutedNow && strings.HasPrefix(call, "send "+c.at.String()+" ") {
					return &gateway.SendError{Kind: gateway.Muted, Topic: c.topic, Err: errors.New(c.why)}
				}
				return nil
			}
			h.start()
			ask := func(at gateway.Address, text string) {
				h.accept(h.next(gateway.Message{Address: at, Group: at.Chat.ID < 0, Place: gateway.Place{Title: "Family"}, Sender: gateway.Sender{ID: bob, Name: "Bob"}, Text: text}))
			}
			ask(c.at, "one")
			h.see(alice, "🔇 I can't write in "+c.at.String())
			for _, text := range []string{"two", "three", "four"} {
				ask(c.at, text)
			}
			h.until("nothing waits", func() bool {
				s, err := h.engine.Status(t.Context())
				return err == nil && s.Inbox.Waiting == 0
			})
			if n := len(h.model.Completions()); n > 1 {
				t.Errorf("%d model calls", n)
			}
			if n := strings.Count(strings.Join(h.messenger.log(), "\n"), "send "+c.at.String()+" "); n > 1 {
				t.Errorf("%d sends", n)
			}
			if all := h.messenger.texts(alice); len(all) != 1 {
				t.Errorf("the owner reads %q", all)
			}
			s, err := h.engine.Status(t.Context())
			if err != nil || len(s.Muted) != 1 || !strings.Contains(s.Muted[0], c.why) {
				t.Errorf("status says %q, %v", s.Muted, err)
			}
			ask(c.other, "five")
			h.until("elsewhere it answers", func() bool { return strings.Contains(strings.Join(h.messenger.log(), "\n"), "five") })

			h.messenger.mu.Lock()
			mutedNow = false
			h.messenger.mu.Unlock()
			u := h.next(gateway.Message{Kind: gateway.KindMember, Address: gateway.Address{Chat: c.at.Chat, Thread: c.at.Thread}, Group: true, Member: gateway.MemberUnmuted, Sender: gateway.Sender{ID: bob}})
			h.accept(u)
			ask(c.at, "six")
			h.until("it answers again", func() bool { return strings.Contains(strings.Join(h.messenger.log(), "\n"), "six") })
			if s, err := h.engine.Status(t.Context()); err != nil || len(s.Muted) > 0 {
				t.Errorf("status says %q, %v", s.Muted, err)
			}
		})
	}
}
