package whitelist_test

import (
	"testing"

	"klawbot/whitelist"
)

const (
	alice, bob     = int64(11), int64(22)
	family, others = int64(-1001), int64(-1002)
	helperBot      = int64(77)
)

func TestIn(t *testing.T) {
	open := whitelist.List{
		"telegram": {Chats: []int64{alice, family}},
		"console":  {Local: true},
	}
	strict := whitelist.List{"telegram": {Chats: []int64{alice, family}, Users: []int64{alice, helperBot}}}
	for _, tc := range []struct {
		name string
		list whitelist.List
		from whitelist.Source
		in   bool
	}{
		{"listed person", open, whitelist.Source{Channel: "telegram", Chat: alice, User: alice}, true},
		{"stranger", open, whitelist.Source{Channel: "telegram", Chat: bob, User: bob}, false},
		{"nothing is listed", whitelist.List{"telegram": {}}, whitelist.Source{Channel: "telegram", Chat: alice, User: alice}, false},
		{"no list at all", nil, whitelist.Source{Channel: "telegram", Chat: alice, User: alice}, false},
		{"unknown channel", open, whitelist.Source{Channel: "matrix", Chat: alice, User: alice}, false},
		{"update without a chat", open, whitelist.Source{Channel: "telegram", User: alice}, false},
		{"update without a sender", open, whitelist.Source{Channel: "telegram", Chat: alice}, false},
		{"anybody in a listed group", open, whitelist.Source{Channel: "telegram", Chat: family, User: bob, Group: true}, true},
		{"listed person in a strange group", open, whitelist.Source{Channel: "telegram", Chat: others, User: alice, Group: true}, false},
		{"listed user in a group with users", strict, whitelist.Source{Channel: "telegram", Chat: family, User: alice, Group: true}, true},
		{"other user in a group with users", strict, whitelist.Source{Channel: "telegram", Chat: family, User: bob, Group: true}, false},
		{"users do not open private chats", strict, whitelist.Source{Channel: "telegram", Chat: helperBot, User: helperBot}, false},
		{"stranger who claims a listed private chat", open, whitelist.Source{Channel: "telegram", Chat: alice, User: bob}, false},
		{"anonymous administrator", open, whitelist.Source{Channel: "telegram", Chat: family, User: family, Group: true, Anonymous: true}, false},
		{"anonymous with a listed user's id", strict, whitelist.Source{Channel: "telegram", Chat: family, User: alice, Group: true, Anonymous: true}, false},
		{"another bot", open, whitelist.Source{Channel: "telegram", Chat: family, User: helperBot, Group: true, Bot: true}, false},
		{"a bot that is listed", strict, whitelist.Source{Channel: "telegram", Chat: family, User: helperBot, Group: true, Bot: true}, true},
		{"the terminal", open, whitelist.Source{Channel: "console", User: 1}, true},
		{"another chat of the terminal", open, whitelist.Source{Channel: "console", Chat: 5, User: 1}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.list.In(tc.from); (err == nil) != tc.in {
				t.Errorf("In(%+v) = %v, want allowed %v", tc.from, err, tc.in)
			}
		})
	}
}

func TestOut(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{alice}}, "console": {Local: true}}
	for _, tc := range []struct {
		channel string
		chat    int64
		want    string
	}{
		{"telegram", alice, ""},
		{"telegram", bob, "chatId telegram_22 not in allowedChatIds"},
		{"telegram", 0, "chatId telegram_default not in allowedChatIds"},
		{"console", 0, ""},
		{"console", 3, "chatId console_3 not in allowedChatIds"},
		{"matrix", alice, "chatId matrix_11 not in allowedChatIds"},
	} {
		got := ""
		if err := list.Out(tc.channel, tc.chat); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("Out(%s, %d) = %q, want %q", tc.channel, tc.chat, got, tc.want)
		}
	}
}

func TestParseID(t *testing.T) {
	for _, tc := range []struct {
		in      string
		channel string
		chat    int64
		fails   bool
	}{
		{in: "123456", chat: 123456},
		{in: "-1001234567890", chat: -1001234567890},
		{in: "telegram_123456", channel: "telegram", chat: 123456},
		{in: " telegram_-100123 ", channel: "telegram", chat: -100123},
		{in: "console_default", channel: "console"},
		{in: "@somebody", fails: true},
		{in: "telegram_@somebody", fails: true},
		{in: "_5", fails: true},
		{in: "", fails: true},
		{in: "0", fails: true},
		{in: "telegram_0", fails: true},
		{in: "99999999999999999999", fails: true},
		{in: "1_2_3", fails: true},
	} {
		channel, chat, err := whitelist.ParseID(tc.in)
		if (err != nil) != tc.fails || channel != tc.channel || chat != tc.chat {
			t.Errorf("ParseID(%q) = %q, %d, %v", tc.in, channel, chat, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"1", "-5", "telegram_7", "console_default", "a_b", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		channel, chat, err := whitelist.ParseID(s)
		if err != nil || channel == "" {
			return
		}
		again, number, err := whitelist.ParseID(whitelist.FormatID(channel, chat))
		if err != nil || again != channel || number != chat {
			t.Errorf("%q does not come back: %q %d %v", s, again, number, err)
		}
	})
}
