package store

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the text form, as gateway.Address writes it: "telegram_-100123_7",
// "console_default" for chat 0. It names the folder of the conversation.
func (a Address) String() string {
	if a.Thread == 0 {
		return a.chatID()
	}
	return fmt.Sprintf("%s_%d", a.chatID(), a.Thread)
}

// localChat stands for chat 0, the one chat of a local channel.
const localChat = "default"

func (a Address) chatID() string {
	if a.Chat == 0 {
		return a.Channel + "_" + localChat
	}
	return a.Channel + "_" + strconv.FormatInt(a.Chat, 10)
}

// isChannel says whether a channel may be called so, as its name becomes part
// of a path.
func isChannel(name string) bool {
	return name != "" && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// parseAddress reads the chatID form.
func parseAddress(chatID string, thread int64) (Address, error) {
	channel, number, _ := strings.Cut(chatID, "_")
	if !isChannel(channel) {
		return Address{}, fmt.Errorf("chat_id %q has no channel", chatID)
	}
	if number == localChat {
		return Address{Channel: channel, Thread: thread}, nil
	}
	chat, err := strconv.ParseInt(number, 10, 64)
	if err != nil || chat == 0 {
		return Address{}, fmt.Errorf("chat_id %q has no number", chatID)
	}
	return Address{Channel: channel, Chat: chat, Thread: thread}, nil
}
