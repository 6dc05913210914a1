// Package whitelist says which chat and which user may talk to the bot.
//
// The rules are pure: no I/O, no clock, no log. They fail closed: a channel
// without rules and an empty list let nobody in. Only numeric ids count; a user
// name never opens a door, because anybody can take one over. The package does
// not know what a message is: the gateway asks it on the way in, on the way
// out, and once more when a stored message is dispatched.
package whitelist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rules are the lists of one channel. The zero value lets nobody in.
type Rules struct {
	// Chats are the ids of the chats that may be served. In a private chat
	// the id of the chat is the id of the person.
	Chats []int64
	// Users narrows groups: only these may speak there. Empty means everyone
	// in an allowed group. It also names the other bots that may speak.
	Users []int64
	// Local marks a channel of this machine (console, web), whose one chat
	// has the id 0 and is always allowed.
	Local bool
}

// List holds the rules of every channel by its name ("telegram").
type List map[string]Rules

// Source is where an update comes from, as far as the rules need it.
type Source struct {
	Channel string
	// Chat is the id of the chat, 0 when the update belongs to none.
	Chat int64
	// User is the id of the person, 0 when there is none.
	User int64
	// Group says that Chat is not a private chat.
	Group bool
	// Bot says that the sender is a bot.
	Bot bool
	// Anonymous says that somebody speaks in the name of a chat: an anonymous
	// administrator, a linked channel. Nobody knows who that is.
	Anonymous bool
}

// In reports whether an update from s may come in: nil, or why not.
func (l List) In(s Source) error {
	r, err := l.chat(s.Channel, s.Chat)
	switch {
	case err != nil:
		return err
	case r.Local:
		return nil
	case s.Anonymous:
		return fmt.Errorf("chatId %s: the sender is anonymous", FormatID(s.Channel, s.Chat))
	case s.Bot && !slices.Contains(r.Users, s.User):
		return fmt.Errorf("userId %d is a bot and not in allowedUserIds", s.User)
	case s.User == 0:
		return fmt.Errorf("chatId %s: the sender is unknown", FormatID(s.Channel, s.Chat))
	case s.Group && len(r.Users) > 0 && !slices.Contains(r.Users, s.User):
		return fmt.Errorf("userId %d not in allowedUserIds", s.User)
	case !s.Group && !s.Bot && s.User != s.Chat:
		return fmt.Errorf("userId %d speaks in the private chat %d of somebody else", s.User, s.Chat)
	}
	return nil
}

// Out reports whether a message may leave for a chat: nil, or why not.
func (l List) Out(channel string, chat int64) error {
	_, err := l.chat(channel, chat)
	return err
}

func (l List) chat(channel string, chat int64) (Rules, error) {
	r, ok := l[channel]
	if ok && r.Local && chat == 0 || ok && !r.Local && chat != 0 && slices.Contains(r.Chats, chat) {
		return r, nil
	}
	return Rules{}, fmt.Errorf("chatId %s not in allowedChatIds", FormatID(channel, chat))
}

// localChat is the text form of the one chat of a local channel.
const localChat = "default"

// FormatID writes a chat id with its channel: "telegram_-100123",
// "console_default".
func FormatID(channel string, chat int64) string {
	if chat == 0 {
		return channel + "_" + localChat
	}
	return channel + "_" + strconv.FormatInt(chat, 10)
}

// ParseID reads what FormatID writes. The channel is the part before the first
// underscore; an id without one has the channel "".
func ParseID(s string) (channel string, chat int64, err error) {
	s = strings.TrimSpace(s)
	number := s
	if before, after, found := strings.Cut(s, "_"); found {
		channel, number = before, after
		if channel == "" {
			return "", 0, fmt.Errorf("%q has no channel before the underscore", s)
		}
		if number == localChat {
			return channel, 0, nil
		}
	}
	chat, err = strconv.ParseInt(number, 10, 64)
	if err != nil || chat == 0 {
		return "", 0, fmt.Errorf("%q isn't a chat ID. Use a number, e.g. 123456, -1001234567890 or telegram_123456", s)
	}
	return channel, chat, nil
}
