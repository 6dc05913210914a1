package telegramtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/telegramtest"
)

// flood sends as fast as it may for a time, with the wait that it is told, and
// returns how many messages went through.
func flood(t *testing.T, c *client, chat int64, d time.Duration) (sent int) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		r := c.call("sendMessage", obj{"chat_id": chat, "text": "x"})
		switch {
		case r.OK:
			sent++
		case r.Code != 429 || r.Parameters.RetryAfter < 1:
			t.Fatalf("%+v", r)
		default:
			time.Sleep(time.Duration(r.Parameters.RetryAfter) * time.Second)
		}
	}
	return sent
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{Limits: true})
		s.User(alice).Send("hello")
		s.AddToGroup(telegramtest.Chat{ID: super}, alice)
		if n := flood(t, c, alice, time.Minute); n < 60 || n > 63 {
			t.Errorf("%d messages a minute in a private chat", n)
		}
		if n := flood(t, c, super, time.Minute); n != 20 {
			t.Errorf("%d messages in the first minute of a group", n)
		}
	})
}

func TestLimitsCountEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{Limits: true})
		s.User(alice).Send("hello")
		id := c.send(obj{"text": "…"})
		c.call("editMessageText", obj{"chat_id": alice, "message_id": id, "text": "1"})
		c.call("editMessageText", obj{"chat_id": alice, "message_id": id, "text": "2"})
		c.refused("editMessageText", obj{"chat_id": alice, "message_id": id, "text": "3"}, 429, "Too Many Requests: retry after 1")
		if r := c.call("sendChatAction", obj{"chat_id": alice, "action": "typing"}); !r.OK {
			t.Errorf("typing was counted: %+v", r)
		}
		time.Sleep(time.Second)
		if r := c.call("editMessageText", obj{"chat_id": alice, "message_id": id, "text": "3"}); !r.OK {
			t.Errorf("%+v", r)
		}
	})
}

func TestLimitForAllChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{Limits: true})
		sent := 0
		for user := range int64(40) {
			s.User(user + 1).Send("hello")
			if c.call("sendMessage", obj{"chat_id": user + 1, "text": "x"}).OK {
				sent++
			}
		}
		if sent != 30 {
			t.Errorf("%d messages in one moment", sent)
		}
	})
}

func TestNoLimits(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	for range 50 {
		c.send(obj{"text": "x"})
	}
	if n := len(texts(s)); n != 50 {
		t.Error(n)
	}
}
