package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"klawbot/gateway"
)

// TestMutedPlaceIsTriedNowAndThen: without a word from the messenger, time decides when the
// bot finds out whether it may write again.
func TestMutedPlaceIsTriedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
		topic, other := gateway.Address{Chat: chat.Chat, Thread: 7}, gateway.Address{Chat: chat.Chat, Thread: 8}
		var m muted
		if !m.add(topic, true, "TOPIC_CLOSED") || m.add(topic, true, "TOPIC_CLOSED") {
			t.Error("a place is new once")
		}
		if is, _ := m.at(other, time.Minute); is {
			t.Error("another topic is muted")
		}
		if is, _ := m.at(chat, time.Minute); is {
			t.Error("the whole chat is muted")
		}
		if is, lately := m.at(topic, time.Minute); !is || !lately {
			t.Error("the topic is not muted")
		}
		time.Sleep(time.Minute)
		if is, lately := m.at(topic, time.Minute); !is || lately {
			t.Error("it is not tried again after a minute")
		}
		m.add(chat, false, "muted")
		if is, lately := m.at(other, time.Minute); !is || !lately {
			t.Error("a topic of a muted chat is not muted")
		}
		m.lift(other, false)
		if is, _ := m.at(topic, time.Minute); !is {
			t.Error("the closed topic is forgotten")
		}
		m.lift(chat, true)
		if len(m.list()) > 0 {
			t.Errorf("left: %q", m.list())
		}
	})
}
