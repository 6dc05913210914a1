package message

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

func (m messenger) send(ctx context.Context, _ tools.Call, a sendArgs) tools.Result {
	if !strings.ContainsFunc(a.Text, visible) {
		return tools.Fail(tools.Validation, "text is empty; there is nothing to send")
	}
	chat, err := a.chat()
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	if err := m.door.Check(ctx, chat); err != nil {
		return unreachable(err)
	}
	r := tools.OK(fmt.Sprintf("OK: message sent to %s/%s", strings.TrimSpace(a.Channel), strings.TrimSpace(a.ChatID)))
	r.Outgoing = []tools.Outgoing{{Chat: chat, Thread: a.Thread, Text: a.Text}}
	return r
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
