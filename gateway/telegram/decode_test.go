package telegram_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
)

const (
	botID = 123456789
	token = "123456789:AAcanary-token-that-must-not-appear-AA"
)

// silent is a channel without a server, which is enough to decode.
func silent(t *testing.T, respondAll bool) *telegram.Channel {
	t.Helper()
	c, err := telegram.New(telegram.Config{
		Token: token, APIURL: "http://telegram.test", Log: discard(),
		RespondAll: func() bool { return respondAll },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read takes an update the whole way in: peek, then decode.
func read(t *testing.T, c *telegram.Channel, raw string) gateway.Message {
	t.Helper()
	u := telegram.Peek(botID, 0, json.RawMessage(raw))
	if u.Fault != "" {
		t.Fatalf("fault: %s", u.Fault)
	}
	m, err := c.Decode(u)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// in is a message of person 5 in the private chat or in group -100, with more fields.
func in(kind, chat, fields string) string {
	chats := map[string]string{
		"private": `{"id":5,"type":"private"}`,
		"group":   `{"id":-100,"type":"supergroup","title":"G"}`,
	}
	return `{"update_id":1,"` + kind + `":{"message_id":7,"date":1000,"from":{"id":5,"first_name":"Ann","last_name":"Lee"},"chat":` +
		chats[chat] + `,` + fields + `}}`
}

func TestDecodeContent(t *testing.T) {
	c := silent(t, false)
	for _, tt := range []struct{ name, fields, text string }{
		{"plain text", `"text":"hi"`, "hi"},
		{"D8 sticker", `"sticker":{"file_id":"x","emoji":"😀","set_name":"Cats"}`, "[sticker 😀 Cats]"},
		{"D8 location", `"location":{"latitude":52.5,"longitude":13.25}`, "[location 52.50000, 13.25000]"},
		{"D8 venue", `"venue":{"title":"Bar","address":"A 1","location":{"latitude":1,"longitude":2}},"location":{"latitude":1,"longitude":2}`, "[venue Bar, A 1, 1.00000, 2.00000]"},
		{"D8 contact", `"contact":{"first_name":"Bo","phone_number":"+1"}`, "[contact Bo +1]"},
		{"D8 poll", `"poll":{"id":"1","question":"Q?","options":[{"text":"a"},{"text":"b"}]}`, "[poll Q? 1) a 2) b]"},
		{"D8 dice", `"dice":{"emoji":"🎲","value":4}`, "[dice 🎲 4]"},
		{"D8 checklist", `"checklist":{"title":"T","tasks":[{"id":1,"text":"x","completion_date":3},{"id":2,"text":"y"}]}`, "[checklist T ☑ x ☐ y]"},
		{"D4 photo with caption", `"photo":[{"file_id":"x"}],"caption":"look"`, "[photo]\nlook"},
		{"D5 document, name made harmless", `"document":{"file_id":"x","file_name":"a]\n[b.pdf"},"caption":"c"`, "[document a b.pdf]\nc"},
		{"D7 voice is never silence", `"voice":{"file_id":"x","duration":63}`, "[voice 1:03]"},
		{"D7 audio", `"audio":{"file_id":"x","performer":"P","title":"S"}`, "[audio P S]"},
		{"D14 rich message", `"rich_message":{"blocks":[]}`, "[rich message]"},
		{"D14 story", `"story":{"id":1,"chat":{"id":5,"type":"private"}}`, "[story]"},
		{"D14 gift", `"gift":{"gift":{"id":"1"}}`, "[gift]"},
		{"D14 paid media", `"paid_media":{"star_count":1,"paid_media":[]}`, "[paid media]"},
		{"D14 newer than the library", `"hologram":{"x":1}`, "[unsupported message hologram]"},
		{"D11 links and code", `"text":"see this and run x","entities":[{"type":"text_link","offset":4,"length":4,"url":"https://a.b/"},{"type":"code","offset":17,"length":1}]`, "see [this](https://a.b/) and run `x`"},
		{"D11 nested, behind an emoji", `"text":"😀 ab","entities":[{"type":"bold","offset":3,"length":2},{"type":"italic","offset":3,"length":1}]`, "😀 **_a_b**"},
		{"D11 entities out of range", `"text":"ab","entities":[{"type":"bold","offset":1,"length":9},{"type":"bold","offset":-1,"length":1},{"type":"code","offset":2147483647,"length":9}]`, "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := read(t, c, in("message", "private", tt.fields))
			if m.Kind != gateway.KindText || m.Text != tt.text {
				t.Errorf("kind %q, text %q; want %q", m.Kind, m.Text, tt.text)
			}
			if m.Described != strings.HasPrefix(tt.text, "[") {
				t.Errorf("described: %v", m.Described)
			}
		})
	}
}

func TestDecodeNothing(t *testing.T) {
	c := silent(t, true)
	for _, tt := range []struct{ name, raw string }{
		{"D13 pin", in("message", "group", `"pinned_message":{"message_id":1,"date":0,"chat":{"id":-100,"type":"group"}}`)},
		{"D13 join", in("message", "group", `"new_chat_members":[{"id":6,"first_name":"x"}]`)},
		{"D13 title", in("message", "group", `"new_chat_title":"T"`)},
		{"D13 chat photo", in("message", "group", `"new_chat_photo":[{"file_id":"x"}]`)},
		{"D13 topic made", in("message", "group", `"forum_topic_created":{"name":"x","icon_color":1}`)},
		{"E9 the other half of a migration", in("message", "group", `"migrate_from_chat_id":-5`)},
		{"D15 empty", in("message", "private", `"text":""`)},
		{"D15 old forward fields only", in("message", "private", `"forward_date":1`)},
		{"D8 live location moves", in("edited_message", "private", `"location":{"latitude":1,"longitude":2},"edit_date":2000`)},
		{"E12 channel post", `{"update_id":1,"channel_post":{"message_id":7,"date":1,"chat":{"id":-100,"type":"channel"},"text":"x"}}`},
		{"reaction", `{"update_id":1,"message_reaction":{"chat":{"id":5,"type":"private"},"message_id":1,"user":{"id":5},"date":1,"old_reaction":[],"new_reaction":[]}}`},
		{"inline query", `{"update_id":1,"inline_query":{"id":"1","from":{"id":5},"query":"x","offset":""}}`},
		{"poll", `{"update_id":1,"poll":{"id":"1","question":"q","options":[]}}`},
		{"boost", `{"update_id":1,"chat_boost":{"chat":{"id":-100,"type":"group"},"boost":{}}}`},
		{"guest message", in("guest_message", "private", `"text":"x"`)},
		{"business message", in("business_message", "private", `"text":"x"`)},
		{"unknown kind", `{"update_id":1,"telepathy":{"chat":{"id":5,"type":"private"},"from":{"id":5}}}`},
		{"promotion is no joining", `{"update_id":1,"my_chat_member":{"chat":{"id":-100,"type":"group"},"from":{"id":5},"date":1,"old_chat_member":{"status":"member","user":{"id":1}},"new_chat_member":{"status":"administrator","user":{"id":1}}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if m := read(t, c, tt.raw); m.Kind != gateway.KindNone {
				t.Errorf("kind %q, text %q; want none", m.Kind, m.Text)
			}
		})
	}
}

func TestDecodeCommand(t *testing.T) {
	c := silent(t, false)
	type result struct{ Command, Args string }
	for _, tt := range []struct {
		name, kind, fields string
		want               result
	}{
		{"H9 alone", "message", `"text":"/Start","entities":[{"type":"bot_command","offset":0,"length":6}]`, result{"start", ""}},
		{"H8 start with payload", "message", `"text":"/start abc-1","entities":[{"type":"bot_command","offset":0,"length":6}]`, result{"start", "abc-1"}},
		{"H9 argument on the next line", "message", `"text":"/note\n😀 b","entities":[{"type":"bot_command","offset":0,"length":5}]`, result{"note", "😀 b"}},
		{"H9 in a caption", "message", `"photo":[{"file_id":"x"}],"caption":"/save a","caption_entities":[{"type":"bot_command","offset":0,"length":5}]`, result{"save", "a"}},
		{"H9 not at the beginning", "message", `"text":"😀 /start","entities":[{"type":"bot_command","offset":3,"length":6}]`, result{}},
		{"H9 without entity", "message", `"text":"/etc/passwd is a file"`, result{}},
		{"D12 not in an edit", "edited_message", `"text":"/new","entities":[{"type":"bot_command","offset":0,"length":4}],"edit_date":2000`, result{}},
		{"not in a forward", "message", `"text":"/new","entities":[{"type":"bot_command","offset":0,"length":4}],"forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"Bo"}`, result{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := read(t, c, in(tt.kind, "private", tt.fields))
			if diff := cmp.Diff(tt.want, result{m.Command, m.Args}); diff != "" || m.Kind == gateway.KindNone || m.Text == "" {
				t.Errorf("kind %q, text %q, command %s", m.Kind, m.Text, diff)
			}
		})
	}
}

func TestDecodeGroup(t *testing.T) {
	named := identified(t)
	mention := func(text string, offset, length string) string {
		return `"text":"` + text + `","entities":[{"type":"mention","offset":` + offset + `,"length":` + length + `}]`
	}
	own := `"reply_to_message":{"message_id":3,"date":1,"chat":{"id":-100,"type":"group"},"from":{"id":123456789,"is_bot":true,"first_name":"Klaw"},`
	for _, tt := range []struct {
		name, fields string
		addressed    bool
		text         string
	}{
		{"E1 plain message", `"text":"hi all"`, false, "hi all"},
		{"E1 photo", `"photo":[{"file_id":"x"}]`, false, "[photo]"},
		{"E1 sticker", `"sticker":{"file_id":"x","emoji":"😀"}`, false, "[sticker 😀]"},
		{"E1 voice", `"voice":{"file_id":"x"}`, false, "[voice 0:00]"},
		{"E1 mention of somebody else", mention("@other hi", "0", "6"), false, "@other hi"},
		{"E1 name without entity", `"text":"I met klaw_test_bot"`, false, "I met klaw_test_bot"},
		{"E2 mention in any case", mention("@Klaw_Test_BOT, hi", "0", "14"), true, "hi"},
		{"E2 mention in the middle", mention("😀 ask @klaw_test_bot now", "7", "14"), true, "😀 ask now"},
		{"E2 mention alone", mention("@klaw_test_bot", "0", "14"), true, "@klaw_test_bot"},
		{"E2 mention in a caption", `"photo":[{"file_id":"x"}],"caption":"@klaw_test_bot what?","caption_entities":[{"type":"mention","offset":0,"length":14}]`, true, "[photo]\nwhat?"},
		{"E2 text mention", `"text":"Klaw hi","entities":[{"type":"text_mention","offset":0,"length":4,"user":{"id":123456789}}]`, true, "hi"},
		{"E2 reply to the bot", own + `"text":"before"},"text":"why?"`, true, "why?"},
		{"E2 reply to somebody else", `"reply_to_message":{"message_id":3,"date":1,"chat":{"id":-100,"type":"group"},"from":{"id":6,"first_name":"B"},"text":"x"},"text":"why?"`, false, "why?"},
		{"E2 topic made by the bot is no reply", own + `"forum_topic_created":{"name":"x","icon_color":1}},"text":"hi","is_topic_message":true,"message_thread_id":3`, false, "hi"},
		{"E2 command", `"text":"/status","entities":[{"type":"bot_command","offset":0,"length":7}]`, true, "/status"},
		{"E3 command for this bot in any case", `"text":"/status@KLAW_test_bot","entities":[{"type":"bot_command","offset":0,"length":21}]`, true, "/status@KLAW_test_bot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := read(t, named, in("message", "group", tt.fields))
			if m.Kind != gateway.KindText || m.Addressed != tt.addressed || m.Text != tt.text || !m.Group {
				t.Errorf("got %+v", m)
			}
		})
	}
	other := `"text":"/status@other_bot","entities":[{"type":"bot_command","offset":0,"length":17}]`
	t.Run("E3 command for another bot", func(t *testing.T) {
		for _, c := range []*telegram.Channel{named, silent(t, true)} {
			if m := read(t, c, in("message", "group", other)); m.Kind != gateway.KindNone || m.Addressed {
				t.Errorf("got %+v", m)
			}
		}
	})
	t.Run("all are addressed when the group is configured so", func(t *testing.T) {
		if m := read(t, silent(t, true), in("message", "group", `"text":"hi"`)); !m.Addressed {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("while the name is unknown ids still count", func(t *testing.T) {
		m := read(t, silent(t, false), in("message", "group", own+`"text":"before"},"text":"why?"`))
		if !m.Addressed {
			t.Errorf("got %+v", m)
		}
	})
}

func TestDecodeQuote(t *testing.T) {
	c := silent(t, false)
	for _, tt := range []struct {
		name, fields string
		want         *gateway.Quote
	}{
		{"D9 reply", `"reply_to_message":{"message_id":3,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":6,"first_name":"Bo"},"text":"said"},"text":"x"`, &gateway.Quote{Author: "Bo", Text: "said", From: 6}},
		{"D9 reply to the bot", `"reply_to_message":{"message_id":3,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":123456789,"first_name":"Klaw"},"text":"said"},"text":"x"`, &gateway.Quote{Author: "Klaw", Text: "said", From: 123456789, Own: true, ID: 3}},
		{"D9 reply to a photo", `"reply_to_message":{"message_id":3,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":6,"first_name":"Bo"},"photo":[{"file_id":"x"}],"caption":"cap"},"text":"x"`, &gateway.Quote{Author: "Bo", Text: "[photo]\ncap", From: 6, Attachments: []gateway.Attachment{{Kind: gateway.AttachPhoto, File: "x", MIME: "image/jpeg"}}}},
		{"D9 quoted part", `"quote":{"text":"part","position":0},"reply_to_message":{"message_id":3,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":6,"first_name":"Bo"},"text":"a part of it"},"text":"x"`, &gateway.Quote{Author: "Bo", Text: "part", From: 6}},
		{"D9 from another chat", `"quote":{"text":"far","position":0},"external_reply":{"origin":{"type":"channel","date":1,"chat":{"id":-1,"type":"channel","title":"News"},"message_id":1},"document":{"file_id":"x","file_name":"f.txt"}},"text":"x"`, &gateway.Quote{Author: "News", Text: "[document f.txt]\nfar"}},
		{"no reply", `"text":"x"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := read(t, c, in("message", "private", tt.fields))
			if diff := cmp.Diff(tt.want, m.Reply); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeForward(t *testing.T) {
	c := silent(t, false)
	for origin, want := range map[string]string{
		`{"type":"user","date":1,"sender_user":{"id":6,"first_name":"Bo"}}`:                        "Bo",
		`{"type":"hidden_user","date":1,"sender_user_name":"Hid"}`:                                 "Hid",
		`{"type":"chat","date":1,"sender_chat":{"id":-1,"type":"group","title":"G"}}`:              "G",
		`{"type":"channel","date":1,"chat":{"id":-1,"type":"channel","title":"C"},"message_id":1}`: "C",
		`{"type":"dream","date":1}`: "unknown",
	} {
		m := read(t, c, in("message", "private", `"text":"x","forward_origin":`+origin))
		if m.Forwarded != want {
			t.Errorf("D10 forwarded from %q, want %q", m.Forwarded, want)
		}
	}
}

func TestDecodeEvents(t *testing.T) {
	c := silent(t, false)
	private := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 5}}
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	ann := gateway.Sender{ID: 5, Name: "Ann Lee"}
	at := time.Unix(1000, 0).UTC()
	change := func(chat, old, now string) string {
		return `{"update_id":1,"my_chat_member":{"chat":` + chat + `,"from":{"id":5,"first_name":"Ann","last_name":"Lee"},"date":1000,"old_chat_member":{"status":"` + old +
			`","user":{"id":1}},"new_chat_member":{"status":"` + now + `","user":{"id":1}}}}`
	}
	for _, tt := range []struct {
		name, raw string
		want      gateway.Message
	}{
		{"D12 edit", in("edited_message", "private", `"text":"new","edit_date":2000`), gateway.Message{Kind: gateway.KindEdit, Address: private, ID: 7, Sender: ann, Time: at, Edited: time.Unix(2000, 0).UTC(), Addressed: true, Text: "new"}},
		{"E5 topic", in("message", "group", `"text":"x","is_topic_message":true,"message_thread_id":9`), gateway.Message{Kind: gateway.KindText, Address: gateway.Address{Chat: group.Chat, Thread: 9}, ID: 7, Sender: ann, Time: at, Group: true, Place: gateway.Place{Title: "G"}, Text: "x"}},
		{"E7 chain of replies", in("message", "group", `"text":"x","message_thread_id":9`), gateway.Message{Kind: gateway.KindText, Address: group, ID: 7, Sender: ann, Time: at, Group: true, Place: gateway.Place{Title: "G"}, Text: "x"}},
		{"H1 press", `{"update_id":1,"callback_query":{"id":"q1","from":{"id":5,"first_name":"Ann","last_name":"Lee"},"data":"d","message":{"message_id":7,"date":1000,"chat":{"id":-100,"type":"supergroup"},"from":{"id":123456789},"is_topic_message":true,"message_thread_id":9}}}`,
			gateway.Message{Kind: gateway.KindCallback, Address: gateway.Address{Chat: group.Chat, Thread: 9}, ID: 7, Sender: ann, Group: true, Addressed: true, Callback: &gateway.Callback{Query: "q1", Data: "d", Message: 7}}},
		{"H6 inaccessible message", `{"update_id":1,"callback_query":{"id":"q1","from":{"id":5,"first_name":"Ann","last_name":"Lee"},"data":"d","message":{"message_id":7,"date":0,"chat":{"id":5,"type":"private"}}}}`,
			gateway.Message{Kind: gateway.KindCallback, Address: private, ID: 7, Sender: ann, Addressed: true, Callback: &gateway.Callback{Query: "q1", Data: "d", Message: 7}}},
		{"H6 inline message", `{"update_id":1,"callback_query":{"id":"q1","from":{"id":5,"first_name":"Ann","last_name":"Lee"},"data":"d","inline_message_id":"i"}}`,
			gateway.Message{Kind: gateway.KindCallback, Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram"}}, Sender: ann, Addressed: true, Callback: &gateway.Callback{Query: "q1", Data: "d"}}},
		{"C3 stopped", `{"update_id":1,"stopped_message_generation":{"chat":{"id":5,"type":"private"},"message_thread_id":9,"draft_id":1}}`,
			gateway.Message{Kind: gateway.KindStop, Address: gateway.Address{Chat: private.Chat, Thread: 9}, Sender: gateway.Sender{ID: 5}, Addressed: true}},
		{"A9 joined", change(`{"id":-100,"type":"group"}`, "left", "member"), gateway.Message{Kind: gateway.KindMember, Address: group, Sender: ann, Time: at, Group: true, Addressed: true, Member: gateway.MemberJoined}},
		{"E10 kicked", change(`{"id":-100,"type":"group"}`, "administrator", "kicked"), gateway.Message{Kind: gateway.KindMember, Address: group, Sender: ann, Time: at, Group: true, Addressed: true, Member: gateway.MemberLeft}},
		{"E10 blocked", change(`{"id":5,"type":"private"}`, "member", "kicked"), gateway.Message{Kind: gateway.KindMember, Address: private, Sender: ann, Time: at, Addressed: true, Member: gateway.MemberLeft}},
		{"E10 unblocked", change(`{"id":5,"type":"private"}`, "kicked", "member"), gateway.Message{Kind: gateway.KindMember, Address: private, Sender: ann, Time: at, Addressed: true, Member: gateway.MemberJoined}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(t, c, tt.raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// identified is a channel that has learned its name, @klaw_test_bot.
func identified(t *testing.T) *telegram.Channel {
	t.Helper()
	var c *telegram.Channel
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve(nil)
		w.until("the name is known", func() bool { return w.Health().Name == "@klaw_test_bot" })
		c = w.Channel
	})
	return c
}
