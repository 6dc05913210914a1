package store

import (
	"fmt"
	"strconv"
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
