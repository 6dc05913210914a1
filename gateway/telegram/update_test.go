package telegram_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/whitelist"
)

func TestPeek(t *testing.T) {
	chat := func(id, thread int64) gateway.Address {
		return gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: id}, Thread: thread}
	}
	for _, tt := range []struct {
		name, raw string
		want      gateway.Update
	}{
		{"A1 private message", in("message", "private", `"text":"x"`), gateway.Update{ID: 1, Kind: "message", Address: chat(5, 0), Message: 7, From: 5}},
		{"A3 edit", in("edited_message", "private", `"text":"x"`), gateway.Update{ID: 1, Kind: "edited_message", Address: chat(5, 0), Message: 7, From: 5}},
		{"A3 channel post", `{"update_id":1,"channel_post":{"message_id":7,"chat":{"id":-100,"type":"channel"},"sender_chat":{"id":-100}}}`, gateway.Update{ID: 1, Kind: "channel_post", Address: chat(-100, 0), Message: 7, From: -100, Group: true, Anonymous: true}},
		{"A3 press", `{"update_id":1,"callback_query":{"id":"q","from":{"id":5},"message":{"message_id":7,"chat":{"id":-100,"type":"group"},"from":{"id":1,"is_bot":true}}}}`, gateway.Update{ID: 1, Kind: "callback_query", Address: chat(-100, 0), Message: 7, From: 5, Group: true}},
		{"A3 membership", `{"update_id":1,"my_chat_member":{"chat":{"id":-100,"type":"group"},"from":{"id":5}}}`, gateway.Update{ID: 1, Kind: "my_chat_member", Address: chat(-100, 0), From: 5, Group: true}},
		{"A3 reaction", `{"update_id":1,"message_reaction":{"chat":{"id":5,"type":"private"},"message_id":7,"user":{"id":5}}}`, gateway.Update{ID: 1, Kind: "message_reaction", Address: chat(5, 0), Message: 7, From: 5}},
		{"A3 anonymous reaction", `{"update_id":1,"message_reaction":{"chat":{"id":-100,"type":"group"},"message_id":7,"actor_chat":{"id":-100}}}`, gateway.Update{ID: 1, Kind: "message_reaction", Address: chat(-100, 0), Message: 7, From: -100, Group: true, Anonymous: true}},
		{"A3 inline query", `{"update_id":1,"inline_query":{"id":"1","from":{"id":5}}}`, gateway.Update{ID: 1, Kind: "inline_query", Address: chat(0, 0), From: 5}},
		{"A3 stopped generation", `{"update_id":1,"stopped_message_generation":{"chat":{"id":5,"type":"private"},"message_thread_id":9}}`, gateway.Update{ID: 1, Kind: "stopped_message_generation", Address: chat(5, 9), From: 5}},
		{"A7 anonymous administrator", `{"update_id":1,"message":{"message_id":7,"chat":{"id":-100,"type":"supergroup"},"from":{"id":1087968824,"is_bot":true},"sender_chat":{"id":-100}}}`, gateway.Update{ID: 1, Kind: "message", Address: chat(-100, 0), Message: 7, From: -100, Group: true, FromBot: true, Anonymous: true}},
		{"A7 linked channel", `{"update_id":1,"message":{"message_id":7,"chat":{"id":-100,"type":"supergroup"},"from":{"id":777000}}}`, gateway.Update{ID: 1, Kind: "message", Address: chat(-100, 0), Message: 7, From: 777000, Group: true, Anonymous: true}},
		{"A8 bot", `{"update_id":1,"message":{"message_id":7,"chat":{"id":-100,"type":"group"},"from":{"id":8,"is_bot":true}}}`, gateway.Update{ID: 1, Kind: "message", Address: chat(-100, 0), Message: 7, From: 8, Group: true, FromBot: true}},
		{"A8 words of an inline bot", `{"update_id":1,"message":{"message_id":7,"chat":{"id":5,"type":"private"},"from":{"id":5},"via_bot":{"id":8,"is_bot":true}}}`, gateway.Update{ID: 1, Kind: "message", Address: chat(5, 0), Message: 7, From: 8, FromBot: true}},
		{"B7 poll", `{"update_id":1,"poll":{"id":"1"}}`, gateway.Update{ID: 1, Kind: "poll", Address: chat(0, 0)}},
		{"unknown kind", `{"update_id":1,"telepathy":{"chat":{"id":5,"type":"private"},"from":{"id":5}}}`, gateway.Update{ID: 1, Kind: "telepathy", Address: chat(5, 0), From: 5}},
		{"I4 large ids", `{"update_id":9007199254740993,"message":{"message_id":7,"chat":{"id":-1009007199254740,"type":"group"},"from":{"id":9007199254740993}}}`, gateway.Update{ID: 9007199254740993, Kind: "message", Address: chat(-1009007199254740, 0), Message: 7, From: 9007199254740993, Group: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := json.RawMessage(tt.raw)
			tt.want.Channel, tt.want.Bot, tt.want.Raw = "telegram", botID, raw
			if diff := cmp.Diff(tt.want, telegram.Peek(botID, 0, raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPeekFault(t *testing.T) {
	for _, raw := range []string{
		`{"update_id":4}`, `{"update_id":4,"message":null}`, `{"update_id":4,"message":[]}`, `{"update_id":4,"message":{"chat":7}}`,
		`{"update_id":"x","message":{}}`, `{"update_id":4,"message":{},"poll":{}}`, `[]`, `"x"`, `1`, `{"message":{"from":{"id":1.5}}}`,
	} {
		u := telegram.Peek(botID, 4, json.RawMessage(raw))
		if u.Fault == "" || u.ID != 4 || u.From != 0 {
			t.Errorf("B6 %s: got %+v", raw, u)
		}
	}
}

// TestPeekFaultTellsTheChat: what cannot be read of an update does not hide which
// chat it is from.
func TestPeekFaultTellsTheChat(t *testing.T) {
	for _, raw := range []string{
		`{"update_id":4,"message":{"message_id":"x","chat":{"id":66,"type":"private"}}}`,
		`{"update_id":4,"edited_message":{"message_thread_id":"7","chat":{"id":66,"type":"private"},"from":{"id":66}}}`,
		`{"update_id":4,"message":{"chat":{"id":66,"type":"private"},"from":{"id":66.5}}}`,
		`{"update_id":4,"callback_query":{"from":{"id":"x"},"message":{"chat":{"id":66,"type":"private"}}}}`,
		`{"update_id":4,"my_chat_member":{"from":[],"chat":{"id":66,"type":7}}}`,
	} {
		u := telegram.Peek(botID, 4, json.RawMessage(raw))
		if u.Fault == "" || u.Address.Chat.ID != 66 || u.From != 0 {
			t.Errorf("%s: got %+v", raw, u)
		}
	}
}

// FuzzUpdate throws anything at the way in. Nothing panics, and whoever speaks in
// the name of a chat never passes for the listed person.
func FuzzUpdate(f *testing.F) {
	f.Add(in("message", "private", `"text":"/start@x a","entities":[{"type":"bot_command","offset":0,"length":8}]`))
	f.Add(in("message", "group", `"text":"😀","entities":[{"type":"mention","offset":1,"length":1}],"sender_chat":{"id":5}`))
	f.Add(in("edited_message", "private", `"caption":"x","caption_entities":[{"type":"pre","offset":-1,"length":99}]`))
	f.Add(in("message", "group", `"reply_to_message":{"forum_topic_created":{}},"quote":{"text":"x"},"via_bot":{"id":5}`))
	f.Add(`{"update_id":1,"callback_query":{"from":{"id":5},"inline_message_id":"x"}}`)
	f.Add(`{"update_id":1,"my_chat_member":{"chat":{},"new_chat_member":{"status":"restricted"},"old_chat_member":{"status":"left"}}}`)
	f.Add(`{"update_id":1,"message":{"from":{"id":1087968824},"chat":{"id":5,"type":"private"}}}`)
	f.Add(`{"update_id":1,"message_reaction":{"user":{"id":5},"actor_chat":{"id":5},"chat":{"id":5,"type":"private"}}}`)
	f.Add(`[{}]`)
	c, err := telegram.New(telegram.Config{Token: token, Log: discard()})
	if err != nil {
		f.Fatal(err)
	}
	list := whitelist.List{"telegram": {Chats: []int64{5, -100}, Users: []int64{5}}}
	f.Fuzz(func(t *testing.T, raw string) {
		u := telegram.Peek(botID, 1, json.RawMessage(raw))
		m, err := c.Decode(u)
		if u.Fault != "" && err == nil {
			t.Error("a fault was decoded")
		}
		if m.Sender.ID != u.From || m.Address != u.Address {
			t.Errorf("decoded %+v, but the whitelist was asked about %+v", m, u)
		}
		if u.Fault == "" && u.Anonymous && letIn(list, u) {
			t.Errorf("let in: %+v", u)
		}
		// The same as fields of a message in the name of a chat.
		u = telegram.Peek(botID, 1, json.RawMessage(in("message", "private", strings.Trim(raw, "{}")+`,"sender_chat":{"id":5}`)))
		if u.Fault == "" && letIn(list, u) {
			t.Errorf("let in: %+v", u)
		}
	})
}

func letIn(list whitelist.List, u gateway.Update) bool {
	return list.In(whitelist.Source{
		Channel: u.Channel, Chat: u.Address.Chat.ID, User: u.From, Group: u.Group, Bot: u.FromBot, Anonymous: u.Anonymous,
	}) == nil
}
