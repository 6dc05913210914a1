package telegramtest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/telegramtest"
)

func keyboard(button obj) obj {
	return obj{"inline_keyboard": [][]obj{{button}}}
}

func TestChatsThatRefuse(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	c.refused("sendMessage", obj{"text": "x"}, 400, "Bad Request: chat_id is empty")
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x"}, 400, "Bad Request: chat not found")
	c.refused("sendMessage", obj{"chat_id": "@nobody", "text": "x"}, 400, "Bad Request: chat not found")
	s.AddChat(telegramtest.Chat{ID: alice}, telegramtest.NotStarted)
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x"}, 403, "Forbidden: bot can't initiate conversation with a user")
	s.User(alice).Send("hello")
	c.send(obj{"text": "hi"})
	for _, test := range []struct {
		chat   int64
		access telegramtest.Access
		code   int
		want   string
	}{
		{alice, telegramtest.Blocked, 403, "Forbidden: bot was blocked by the user"},
		{alice, telegramtest.Deactivated, 403, "Forbidden: user is deactivated"},
		{group, telegramtest.Kicked, 403, "Forbidden: bot was kicked from the group chat"},
		{super, telegramtest.Kicked, 403, "Forbidden: bot was kicked from the supergroup chat"},
		{super, telegramtest.Left, 403, "Forbidden: bot is not a member of the supergroup chat"},
		{group, telegramtest.Deleted, 403, "Forbidden: the group chat was deleted"},
		{super, telegramtest.Restricted, 400, "Bad Request: not enough rights to send text messages to the chat"},
	} {
		s.Deny(test.chat, test.access)
		c.refused("sendMessage", obj{"chat_id": test.chat, "text": "x"}, test.code, test.want)
	}
	s.Deny(super, telegramtest.Open)
	c.send(obj{"chat_id": super, "text": "open again"})
	s.AddChat(telegramtest.Chat{ID: super, Username: "town", Type: "supergroup"}, telegramtest.Open)
	c.send(obj{"chat_id": "@Town", "text": "by name"})
}

func TestMigration(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.AddToGroup(telegramtest.Chat{ID: group, Title: "Home"}, alice)
	s.Migrate(group, super)
	r := c.refused("sendMessage", obj{"chat_id": group, "text": "x"}, 400, "Bad Request: group chat was upgraded to a supergroup chat")
	if r.Parameters.MigrateTo != super {
		t.Errorf("%+v", r)
	}
	c.send(obj{"chat_id": super, "text": "x"})
	got := string(c.call("getUpdates", nil).Result)
	for _, want := range []string{`"migrate_to_chat_id":-1001234567890`, `"migrate_from_chat_id":-77`, `"title":"Home"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestReplies(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	asked := s.User(alice).Send("a question")
	gone := s.User(alice).Send("gone")
	if err := s.User(alice).Delete(gone); err != nil {
		t.Fatal(err)
	}
	m, _ := message(s, alice, c.send(obj{"text": "x", "reply_parameters": obj{"message_id": asked, "quote": "quest"}, "disable_notification": true}))
	if m.ReplyTo != asked || !m.Silent || !m.Preview {
		t.Errorf("%+v", m)
	}
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x", "reply_parameters": obj{"message_id": gone}}, 400, "Bad Request: message to be replied not found")
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x", "reply_to_message_id": 999}, 400, "Bad Request: message to be replied not found")
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x", "reply_parameters": obj{"message_id": asked, "quote": "other"}}, 400, "Bad Request: QUOTE_TEXT_INVALID")
	m, _ = message(s, alice, c.send(obj{"text": "x", "reply_parameters": obj{"message_id": gone, "allow_sending_without_reply": true}, "link_preview_options": obj{"is_disabled": true}}))
	if m.ReplyTo != 0 || m.Preview {
		t.Errorf("%+v", m)
	}
}

func TestTopics(t *testing.T) {
	s, c := start(t, telegramtest.Config{ReadsGroups: true})
	s.AddToGroup(telegramtest.Chat{ID: super, Forum: true}, alice)
	s.User(alice).In(super).Topic(7).Send("in the topic")
	m, _ := message(s, super, c.send(obj{"chat_id": super, "text": "x", "message_thread_id": 7}))
	if m.Thread != 7 {
		t.Errorf("%+v", m)
	}
	for _, thread := range []int{1, 8} {
		c.refused("sendMessage", obj{"chat_id": super, "text": "x", "message_thread_id": thread}, 400, "Bad Request: message thread not found")
	}
	if r := c.call("sendChatAction", obj{"chat_id": super, "action": "typing", "message_thread_id": 1}); !r.OK {
		t.Error(r.Description)
	}
	c.refused("sendChatAction", obj{"chat_id": super, "action": "dancing"}, 400, "Bad Request: wrong parameter action in request")
	if got := string(c.call("getUpdates", obj{"offset": -1}).Result); !strings.Contains(got, `"message_thread_id":7`) || !strings.Contains(got, `"is_topic_message":true`) {
		t.Error(got)
	}
}

func TestKeyboards(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	send := func(button obj) obj { return obj{"chat_id": alice, "text": "x", "reply_markup": keyboard(button)} }
	c.send(send(obj{"text": "a", "callback_data": strings.Repeat("x", 64)}))
	c.refused("sendMessage", send(obj{"text": "a", "callback_data": strings.Repeat("x", 65)}), 400, "Bad Request: BUTTON_DATA_INVALID")
	c.refused("sendMessage", send(obj{"text": "a", "callback_data": ""}), 400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	c.refused("sendMessage", send(obj{"callback_data": "a"}), 400, `Bad Request: can't parse inline keyboard button: Can't find field "text"`)
	c.refused("sendMessage", send(obj{"text": "a", "url": "not-a-url"}), 400, "Bad Request: inline keyboard button URL 'not-a-url' is invalid: Wrong HTTP URL")
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x", "reply_markup": "{"}, 400, "Bad Request: can't parse reply keyboard markup JSON object")
}

func TestCallbackQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{})
		s.User(alice).Send("hello")
		id := c.send(obj{"text": "well?", "reply_markup": keyboard(obj{"text": "Yes", "callback_data": "y"})})
		if _, err := s.User(alice).Press(id, "No"); err == nil {
			t.Error("a button that is not there was pressed")
		}
		const old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
		press := func() string {
			q, err := s.User(alice).Press(0, "Yes")
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		first := press()
		if got := string(c.call("getUpdates", obj{"offset": -1}).Result); !strings.Contains(got, `"data":"y"`) {
			t.Error(got)
		}
		c.call("answerCallbackQuery", obj{"callback_query_id": first, "text": "thanks"})
		s.View(func(v telegramtest.State) {
			if text, ok := v.Answered(first); !ok || text != "thanks" {
				t.Error(text, ok)
			}
		})
		c.refused("answerCallbackQuery", obj{"callback_query_id": first}, 400, old)
		c.refused("answerCallbackQuery", obj{"callback_query_id": "999"}, 400, old)
		late := press()
		time.Sleep(16 * time.Second)
		c.refused("answerCallbackQuery", obj{"callback_query_id": late}, 400, old)
	})
}

func TestEdits(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	theirs := s.User(alice).Send("hello")
	id := c.send(obj{"text": "…"})
	edit := func(text string) obj { return obj{"chat_id": alice, "message_id": id, "text": text} }
	if r := c.call("editMessageText", edit("done")); !r.OK || !strings.Contains(string(r.Result), `"edit_date"`) {
		t.Errorf("%+v", r)
	}
	const same = "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"
	c.refused("editMessageText", edit(" done "), 400, same)
	m, _ := message(s, alice, id)
	if m.Text != "done" || m.Edits != 1 {
		t.Errorf("%+v", m)
	}
	c.call("editMessageReplyMarkup", obj{"chat_id": alice, "message_id": id, "reply_markup": keyboard(obj{"text": "a", "callback_data": "b"})})
	if m, _ = message(s, alice, id); len(m.Buttons) != 1 {
		t.Errorf("%+v", m)
	}
	c.call("editMessageText", edit("done")) // takes the keyboard away
	c.refused("editMessageReplyMarkup", obj{"chat_id": alice, "message_id": id}, 400, same)
	c.refused("editMessageText", obj{"chat_id": alice, "message_id": theirs, "text": "x"}, 400, "Bad Request: message can't be edited")
	c.refused("editMessageText", obj{"chat_id": alice, "message_id": 999, "text": "x"}, 400, "Bad Request: message to edit not found")
	c.refused("editMessageText", obj{"chat_id": alice, "text": "x"}, 400, "Bad Request: message identifier is not specified")
	c.call("deleteMessage", obj{"chat_id": alice, "message_id": id})
	c.refused("editMessageText", edit("again"), 400, "Bad Request: message to edit not found")
	c.refused("deleteMessage", obj{"chat_id": alice, "message_id": id}, 400, "Bad Request: message to delete not found")
	if m, _ = message(s, alice, id); !m.Deleted {
		t.Errorf("%+v", m)
	}
}

func TestDeleting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{})
		theirs := s.User(alice).In(super).Send("hello")
		c.refused("deleteMessage", obj{"chat_id": super, "message_id": theirs}, 400, "Bad Request: message can't be deleted")
		id := c.send(obj{"chat_id": super, "text": "x"})
		time.Sleep(49 * time.Hour)
		c.refused("deleteMessage", obj{"chat_id": super, "message_id": id}, 400, "Bad Request: message can't be deleted")
	})
}

func TestReactionsCommandsAndDescription(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	id := s.User(alice).Send("hello")
	react := func(emoji string, id int64) obj {
		return obj{"chat_id": alice, "message_id": id, "reaction": []obj{{"type": "emoji", "emoji": emoji}}}
	}
	c.call("setMessageReaction", react("👀", id))
	c.refused("setMessageReaction", react("✅", id), 400, "Bad Request: REACTION_INVALID")
	c.refused("setMessageReaction", react("👀", 999), 400, "Bad Request: message to react not found")
	if m, _ := message(s, alice, id); m.Reaction != "👀" {
		t.Errorf("%+v", m)
	}
	menu := func(name, text string) obj {
		return obj{"commands": []obj{{"command": "help", "description": "Help"}, {"command": name, "description": text}}}
	}
	c.call("setMyCommands", menu("stop", "Stop"))
	var many []obj
	for range 30 {
		many = append(many, obj{"command": "stop", "description": strings.Repeat("x", 200)})
	}
	c.refused("setMyCommands", obj{"commands": many}, 400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
	c.refused("setMyCommands", menu("Stop", "Stop"), 400, "Bad Request: BOT_COMMAND_INVALID")
	c.refused("setMyCommands", menu("stop", ""), 400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
	if got := s.Commands(); len(got) != 2 || got[1].Command != "stop" {
		t.Errorf("%+v", got)
	}
	if got := string(c.call("getMyCommands", nil).Result); !strings.Contains(got, `"help"`) {
		t.Error(got)
	}
	c.refused("setMyDescription", obj{"description": strings.Repeat("x", 513)}, 400, "Bad Request: BOT_DESCRIPTION_TOO_LONG")
}

func TestMessageIDs(t *testing.T) {
	s, c := start(t, telegramtest.Config{ReadsGroups: true})
	got := []int64{
		s.User(1).Send("a"), s.User(2).Send("b"), s.User(1).In(group).Send("c"),
		s.User(1).In(super).Send("d"), c.send(obj{"chat_id": super, "text": "e"}), c.send(obj{"chat_id": 1, "text": "f"}),
	}
	if want := []int64{1, 2, 3, 1, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
