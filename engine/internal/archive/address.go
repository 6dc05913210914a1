package archive

import (
	"fmt"
	"strconv"
	"strings"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// localChat stands for chat 0, the one chat of a local channel.
const localChat = "default"

// isChannel says whether a channel may be called so, as its name becomes part
// of a path.
func isChannel(name string) bool {
	return name != "" && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// parseAddress reads the text form of a chat.
func parseAddress(chatID string, thread int64) (store.Address, error) {
	channel, number, _ := strings.Cut(chatID, "_")
	if !isChannel(channel) {
		return store.Address{}, fmt.Errorf("chat_id %q has no channel", chatID)
	}
	if number == localChat {
		return store.Address{Chat: gateway.ChatID{Channel: channel}, Thread: thread}, nil
	}
	chat, err := strconv.ParseInt(number, 10, 64)
	if err != nil || chat == 0 {
		return store.Address{}, fmt.Errorf("chat_id %q has no number", chatID)
	}
	return store.Address{Chat: gateway.ChatID{Channel: channel, ID: chat}, Thread: thread}, nil
}
