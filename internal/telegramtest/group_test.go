package telegramtest_test

import (
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

func TestPrivacyMode(t *testing.T) {
	for _, reads := range []bool{false, true} {
		s, c := start(t, telegramtest.Config{ReadsGroups: reads, Bot: telegramtest.User{Username: "mybot"}})
		s.AddToGroup(telegramtest.Chat{ID: super}, alice)
		ours := c.send(obj{"chat_id": super, "text": "hi all"})
		before := pending(s)
		for text, meant := range map[string]bool{
			"just talking": false, "@MyBot hello": true, "mail@mybot": false, "/help": true, "/help@mybot x": true,
			"/help@otherbot": false, "[Klaw](tg://user?id=1000001) hi": true, "[Bob](tg://user?id=5) hi": false,
		} {
			s.User(alice).In(super).Send(text)
			if got := pending(s) > before; got != (meant || reads) {
				t.Errorf("reads all %v, %q: update %v", reads, text, got)
			}
			before = pending(s)
		}
		s.User(alice).In(super).Reply(ours, "an answer")
		if pending(s) == before {
			t.Error("a reply to the bot did not arrive")
		}
	}
}

// pending is how many updates wait for the bot.
func pending(s *telegramtest.Server) (n int) {
	s.View(func(v telegramtest.State) { n = v.Pending() })
	return n
}

func TestEntitiesOfPeople(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("😀 /start@klaw_test_bot and @bob, [Ann B](tg://user?id=7) see https://a.b/c")
	var list []struct {
		Message struct {
			Text     string
			Entities []telegramtest.Entity
		}
	}
	c.decode(c.call("getUpdates", nil), &list)
	m := list[0].Message
	if m.Text != "😀 /start@klaw_test_bot and @bob, Ann B see https://a.b/c" {
		t.Error(m.Text)
	}
	want := []telegramtest.Entity{
		{Type: "bot_command", Offset: 3, Length: 20}, {Type: "mention", Offset: 28, Length: 4},
		{Type: "text_mention", Offset: 34, Length: 5}, {Type: "url", Offset: 44, Length: 13},
	}
	for i, e := range m.Entities {
		if u := e.User; u != nil && (u.ID != 7 || e.Type != "text_mention") {
			t.Errorf("%+v", e)
		}
		e.User = nil
		if i >= len(want) || e != want[i] {
			t.Errorf("entity %d is %+v", i, e)
		}
	}
	if len(m.Entities) != len(want) {
		t.Errorf("%d entities", len(m.Entities))
	}
}

func TestMembership(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.AddToGroup(telegramtest.Chat{ID: super, Title: "Home"}, alice)
	s.Kick(super, alice)
	c.refused("sendMessage", obj{"chat_id": super, "text": "x"}, 403, "Forbidden: bot was kicked from the supergroup chat")
	s.User(alice).In(super).Send("@klaw_test_bot are you there?")
	s.User(alice).Block()
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x"}, 403, "Forbidden: bot was blocked by the user")
	s.User(alice).Unblock()
	c.send(obj{"text": "back"})
	s.User(alice).Block()
	s.User(alice).Send("writing unblocks")
	c.send(obj{"text": "back again"})
	s.AddToGroup(telegramtest.Chat{ID: group}, alice)
	c.call("leaveChat", obj{"chat_id": group})
	c.refused("leaveChat", obj{"chat_id": group}, 403, "Forbidden: bot is not a member of the group chat")
	var list []struct {
		Change *struct {
			New struct{ Status string } `json:"new_chat_member"`
		} `json:"my_chat_member"`
	}
	c.decode(c.call("getUpdates", nil), &list)
	var got []string
	for _, u := range list {
		if u.Change == nil {
			got = append(got, "-")
		} else {
			got = append(got, u.Change.New.Status)
		}
	}
	if want := "member kicked kicked member kicked member - member left"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestReplyThreadsAreNoTopics(t *testing.T) {
	s, c := start(t, telegramtest.Config{ReadsGroups: true})
	p := s.User(alice).In(super)
	first := p.Send("first")
	p.Reply(p.Reply(first, "second"), "third")
	got := string(c.call("getUpdates", obj{"offset": -1}).Result)
	if !strings.Contains(got, `"message_thread_id":1,`) || strings.Contains(got, "is_topic_message") {
		t.Error(got)
	}
	c.refused("sendMessage", obj{"chat_id": super, "text": "x", "message_thread_id": 1}, 400, "Bad Request: message thread not found")
}

func TestEditsAndForwardsOfPeople(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	p := s.User(alice)
	id := p.Send("helo")
	if err := p.Edit(id, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := s.User(7).In(alice).Edit(id, "not theirs"); err == nil {
		t.Error("a stranger edited a message")
	}
	p.Post(telegramtest.Draft{Text: "news", Forward: "Bob"})
	got := string(c.call("getUpdates", nil).Result)
	for _, want := range []string{`"edited_message":{"message_id":1,`, `"edit_date":`, `"sender_user_name":"Bob"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
