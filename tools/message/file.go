package message

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
)

// maxCaption is the longest caption, in characters.
const maxCaption = 1000

type fileArgs struct {
	Path    string `json:"path"`
	Caption string `json:"caption,omitempty"`
	ChatID  string `json:"chatId,omitempty"`
}

func (m messenger) sendFile(ctx context.Context, c tools.Call, a fileArgs) tools.Result {
	if n := utf8.RuneCountInString(a.Caption); n > maxCaption {
		return tools.Fail(tools.Validation, fmt.Sprintf("caption has %d characters, %d are allowed; send the rest as a message", n, maxCaption))
	}
	chat, thread, err := a.target(c)
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	if err := m.door.Check(ctx, chat); err != nil {
		return unreachable(err)
	}
	file, refused := m.openFile(a.Path)
	if refused != nil {
		return *refused
	}
	if err := sendable(file); err != nil {
		file.Close()
		return tools.Fail(tools.Validation, fmt.Sprintf("%.200s %v", a.Path, err))
	}
	name := tools.FileName(a.Path)
	r := tools.OK(fmt.Sprintf("OK: file %s sent to %s", name, chat))
	r.Outgoing = []tools.Outgoing{{Chat: chat, Thread: thread, Text: a.Caption, File: &tools.File{Name: name, Content: file}}}
	return r
}

// target is the chat that the call names, else its own chat and topic. An id without
// a messenger belongs to the messenger of the call.
func (a fileArgs) target(c tools.Call) (chat string, thread int64, err error) {
	id := strings.TrimSpace(a.ChatID)
	channel, _, _ := strings.Cut(c.Chat, "_")
	switch {
	case id == "" && c.Chat == "":
		return "", 0, errors.New("this call has no chat; give chatId, such as telegram_123456")
	case id == "", id == c.Chat:
		return c.Chat, c.Thread, nil
	case strings.Contains(id, "_"):
		if chat, thread = withTopic(id); thread == 0 && chat == c.Chat {
			thread = c.Thread
		}
		return chat, thread, nil
	case channel == "":
		return "", 0, errors.New("chatId needs its messenger, such as telegram_123456")
	case channel+"_"+id == c.Chat:
		return c.Chat, c.Thread, nil
	}
	return channel + "_" + id, 0, nil
}

// sendable reports why a file cannot be sent.
func sendable(file fs.File) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return errors.New("is empty; there is nothing to send")
	case info.Size() > tools.MaxFileBytes:
		return fmt.Errorf("has %d bytes, and %d can be sent; send a part of it", info.Size(), tools.MaxFileBytes)
	}
	return nil
}
