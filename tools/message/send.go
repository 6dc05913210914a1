package message

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"klawbot/tools"
)

type sendArgs struct {
	Channel string `json:"channel"`
	ChatID  string `json:"chatId"`
	Text    string `json:"text"`
	Thread  int64  `json:"thread,omitempty" min:"0"`
}

type messenger struct {
	door     Door
	openFile func(path string) (fs.File, *tools.Result)
}

func (m messenger) send(ctx context.Context, c tools.Call, a sendArgs) tools.Result {
	if !strings.ContainsFunc(a.Text, visible) {
		return tools.Fail(tools.Validation, "text is empty; there is nothing to send")
	}
	chat, thread, err := a.target(c)
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	if err := m.door.Check(ctx, chat); err != nil {
		return unreachable(err)
	}
	r := tools.OK(fmt.Sprintf("OK: message sent to %s/%s", strings.TrimSpace(a.Channel), strings.TrimSpace(a.ChatID)))
	r.Outgoing = []tools.Outgoing{{Chat: chat, Thread: thread, Text: a.Text}}
	return r
}

// target is the chat, in its text form, and the topic. In the chat of the call a message
// stays in the topic of the call unless another one is named.
func (a sendArgs) target(c tools.Call) (chat string, thread int64, err error) {
	if chat, err = a.chat(); err != nil {
		return "", 0, err
	}
	chat, thread = withTopic(chat)
	switch {
	case a.Thread != 0:
		thread = a.Thread
	case thread == 0 && chat == c.Chat:
		thread = c.Thread
	}
	return chat, thread, nil
}

// withTopic splits an id that ends in a topic ("telegram_-100123_7"), as logs and folders
// write it.
func withTopic(id string) (chat string, thread int64) {
	i := strings.LastIndexByte(id, '_')
	if i <= strings.IndexByte(id, '_') {
		return id, 0
	}
	thread, err := strconv.ParseInt(id[i+1:], 10, 64)
	if err != nil || thread <= 0 {
		return id, 0
	}
	return id[:i], thread
}

// chat is the text form of the chat. An id that names another channel is an error.
func (a sendArgs) chat() (string, error) {
	channel, id := strings.TrimSpace(a.Channel), strings.TrimSpace(a.ChatID)
	if channel == "" || id == "" {
		return "", errors.New("channel and chatId must not be empty")
	}
	prefix, _, named := strings.Cut(id, "_")
	switch {
	case !named:
		return channel + "_" + id, nil
	case prefix != channel:
		return "", fmt.Errorf("channel %s contradicts chatId %s; give the channel that the chatId begins with", channel, id)
	}
	return id, nil
}

// visible reports whether a character shows anything.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && r != '\u2800' && r != '\u3164'
}
