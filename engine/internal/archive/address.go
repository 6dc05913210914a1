package archive

import (
	"fmt"
	"strconv"
	"strings"

	"klawbot/engine/internal/store"
)

// localChat stands for chat 0, the one chat of a local channel.
const localChat = "default"

// chatOf is the text form of the chat of an address, without its topic.
func chatOf(a store.Address) string {
	a.Thread = 0
	return a.String()
}

// isChannel says whether a channel may be called so, as its name becomes part
// of a path.
func isChannel(name string) bool {
	return name != "" && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// parseAddress reads what chatOf writes.
func parseAddress(chatID string, thread int64) (store.Address, error) {
	channel, number, _ := strings.Cut(chatID, "_")
	if !isChannel(channel) {
		return store.Address{}, fmt.Errorf("chat_id %q has no channel", chatID)
	}
	if number == localChat {
		return store.Address{Channel: channel, Thread: thread}, nil
	}
	chat, err := strconv.ParseInt(number, 10, 64)
	if err != nil || chat == 0 {
		return store.Address{}, fmt.Errorf("chat_id %q has no number", chatID)
	}
	return store.Address{Channel: channel, Chat: chat, Thread: thread}, nil
}
