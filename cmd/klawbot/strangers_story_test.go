package main

import (
	"fmt"
	"testing"

	"klawbot/internal/telegramtest"
)

// The people of the story: owner is listed, and so is the group, where only
// owner may speak.
const (
	owner    = 11
	stranger = 66
	group    = -100500
	foreign  = -100600
)

// TestStrangersReachNothing shows the bot updates of every kind that nobody has
// allowed, and then a message of an allowed user. Only that one may
// cause anything.
func TestStrangersReachNothing(t *testing.T) {
	r := newRig(t, "edit", owner, group)
	b := r.start("", fmt.Sprintf("KLAWBOT_CHANNELS__TELEGRAM__ALLOWEDUSERIDS=%d", owner))
	for _, id := range []int64{owner, stranger, group, foreign} {
		r.telegram.AddChat(telegramtest.Chat{ID: id}, telegramtest.Open)
	}
	for _, update := range strangersUpdates() {
		if _, err := r.telegram.Push(update); err != nil {
			t.Fatalf("push %s: %v", update, err)
		}
	}
	r.telegram.User(owner).Send("hello")
	r.wait(b, "the owner is answered", func(v telegramtest.State) bool {
		return v.Pending() == 0 && shows(v, owner, "OK")
	})
	if n := len(r.model.Completions()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	for _, c := range r.telegram.Calls("") {
		if c.Chat != 0 && c.Chat != owner || c.Method == "answerCallbackQuery" {
			t.Errorf("%s to chat %d %v", c.Method, c.Chat, c.Params)
		}
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

// strangersUpdates are messages of each kind by each sort of person that may
// not write, and what else a bot may be told.
func strangersUpdates() []string {
	var all []string
	for _, kind := range []string{
		"message", "edited_message", "channel_post", "edited_channel_post", "business_message", "edited_business_message", "guest_message",
	} {
		for _, m := range strangersMessages() {
			all = append(all, fmt.Sprintf(`{%q:%s}`, kind, m))
		}
	}
	who := from(stranger, false)
	return append(all,
		`{"callback_query":{"id":"1"`+who+`,"data":"x","message":`+messageJSON(group, from(owner, false))+`}}`,
		`{"callback_query":{"id":"2"`+who+`,"data":"x","inline_message_id":"abc"}}`,
		`{"callback_query":{"id":"3"`+who+`,"data":"x","message":{"message_id":3,"date":0,"chat":{"id":66,"type":"private"}}}}`,
		`{"inline_query":{"id":"1"`+who+`,"query":"x","offset":""}}`,
		`{"message_reaction":{"chat":{"id":66,"type":"private"},"message_id":1,"user":{"id":66,"is_bot":false},"date":1}}`,
		`{"message_reaction":{"chat":{"id":-100500,"type":"supergroup"},"message_id":1,"actor_chat":{"id":-100500,"type":"supergroup"},"date":1}}`,
		`{"my_chat_member":{"chat":{"id":-100600,"type":"supergroup","title":"x"}`+who+`,"date":1,`+
			`"old_chat_member":{"status":"left","user":{"id":1000001,"is_bot":true}},"new_chat_member":{"status":"member","user":{"id":1000001,"is_bot":true}}}}`,
		`{"stopped_message_generation":{"chat":{"id":66,"type":"private"},"draft_id":1}}`,
		`{"poll":{"id":"1","question":"q","options":[]}}`,
		`{"business_connection":{"id":"1","user":{"id":66,"is_bot":false},"user_chat_id":66,"date":1,"is_enabled":true}}`,
		`{"kind_of_tomorrow":{"chat":{"id":66}}}`, `{"kind_of_tomorrow":"text"}`, `{"kind_of_tomorrow":17}`,
		`{"message":[]}`, `{"message":null}`, `{"message":{}}`, `{}`,
		`{"message":{"message_id":"x"}}`, `{"message":{"message_id":1,"chat":7}}`,
		`{"message":{"message_id":1,"date":1,"chat":{"id":66,"type":"private"},"from":{"id":66.5},"text":"x"}}`,
	)
}

func strangersMessages() []string {
	inTheNameOf := func(chat int64) string { return fmt.Sprintf(`,"sender_chat":{"id":%d,"type":"channel"}`, chat) }
	return []string{
		messageJSON(stranger, from(stranger, false)),
		messageJSON(stranger, ""),
		messageJSON(stranger, from(owner, false)),
		messageJSON(owner, from(stranger, false)),
		messageJSON(foreign, from(owner, false)),
		messageJSON(foreign, inTheNameOf(group)),
		messageJSON(group, from(stranger, false)),
		messageJSON(group, ""),
		messageJSON(group, from(1087968824, true)+inTheNameOf(group)),
		messageJSON(group, from(136817688, true)+inTheNameOf(-100777)),
		messageJSON(group, from(777000, false)+inTheNameOf(-100777)),
		messageJSON(group, from(owner, false)+inTheNameOf(-100777)),
		messageJSON(group, from(owner, false)+`,"via_bot":{"id":99,"is_bot":true}`),
	}
}

// messageJSON is a message that mentions the bot, so that nothing but the
// whitelist can keep it out.
func messageJSON(chat int64, sender string) string {
	kind := "private"
	if chat < 0 {
		kind = "supergroup"
	}
	return fmt.Sprintf(`{"message_id":500,"date":1764000000,"chat":{"id":%d,"type":%q}%s,"text":"@klaw_test_bot hi","entities":[{"type":"mention","offset":0,"length":14}]}`,
		chat, kind, sender)
}

// from has the names that others may take too.
func from(id int64, isBot bool) string {
	return fmt.Sprintf(`,"from":{"id":%d,"is_bot":%v,"first_name":"Owner","username":"owner"}`, id, isBot)
}

// shows reports whether the bot says exactly the text in the chat.
func shows(v telegramtest.State, chat int64, text string) bool {
	for _, m := range v.Messages(chat) {
		if m.Bot && !m.Deleted && m.Text == text {
			return true
		}
	}
	return false
}
