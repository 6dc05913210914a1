package message

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
)

// Bounds of a file that is sent and of its caption, as messengers set them.
const (
	maxFileBytes = 1 << 20
	maxCaption   = 1000
)

type fileArgs struct {
	Path    string `json:"path"`
	Caption string `json:"caption,omitempty"`
	ChatID  string `json:"chatId,omitempty"`
}

func (m messenger) sendFile(_ context.Context, c tools.Call, a fileArgs) tools.Result {
	if n := utf8.RuneCountInString(a.Caption); n > maxCaption {
		return tools.Fail(tools.Validation, fmt.Sprintf("caption has %d characters, %d are allowed; send the rest as a message", n, maxCaption))
	}
	chat, thread, err := a.target(c)
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	if err := m.door.Check(chat); err != nil {
		return tools.Fail(tools.PolicyDenied, err.Error())
	}
	content, refused := m.readFile(a.Path)
	if refused != nil {
		return *refused
	}
	if err := sendable(content); err != nil {
		return tools.Fail(tools.Validation, fmt.Sprintf("%.200s %v", a.Path, err))
	}
	name := path.Base(strings.ReplaceAll(a.Path, `\`, "/"))
	r := tools.OK(fmt.Sprintf("OK: file %s sent to %s", name, chat))
	r.Outgoing = []tools.Outgoing{{Chat: chat, Thread: thread, Text: a.Caption, File: &tools.File{Name: name, Content: string(content)}}}
	return r
}

// target is the chat that gets the file: the one that is named, else the one of
// the call, in its topic. A bare id is one of the same messenger.
func (a fileArgs) target(c tools.Call) (chat string, thread int64, err error) {
	id := strings.TrimSpace(a.ChatID)
	channel, _, _ := strings.Cut(c.Chat, "_")
	switch {
	case id == "" && c.Chat == "":
		return "", 0, errors.New("there is no chat to send to here; give chatId, such as telegram_123456")
	case id == "", id == c.Chat:
		return c.Chat, c.Thread, nil
	case strings.Contains(id, "_"):
		return id, 0, nil
	case channel == "":
		return "", 0, errors.New("chatId needs its messenger, such as telegram_123456")
	case channel+"_"+id == c.Chat:
		return c.Chat, c.Thread, nil
	}
	return channel + "_" + id, 0, nil
}

// sendable reports why a file cannot be sent.
func sendable(content []byte) error {
	switch {
	case len(content) == 0:
		return errors.New("is empty; there is nothing to send")
	case len(content) > maxFileBytes:
		return fmt.Errorf("has %d bytes, and %d can be sent; send a part of it", len(content), maxFileBytes)
	case !utf8.Valid(content) || strings.ContainsRune(string(content), 0):
		return fmt.Errorf("is binary (%s); this version sends text files only", http.DetectContentType(content))
	}
	return nil
}
