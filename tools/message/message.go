// Package message holds the tools that send messages and files and tell the time.
//
// A sender only checks: the message travels in the Result and leaves in the
// transaction that stores it.
package message

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Door decides which chats may get messages.
type Door interface {
	// Check says why a chat, in its text form ("telegram_123"), may not get a message,
	// in words for the model. The error is a GoneError when the chat is gone.
	Check(ctx context.Context, chat string) error
}

// GoneError means that a chat was deleted, or removed or blocked the bot.
type GoneError struct{ Chat, Why string }

func (e *GoneError) Error() string {
	return e.Chat + " can't be reached: the chat is gone, or the bot was removed or blocked there (" + e.Why + "). It can be reached again after a user writes to the bot there"
}

// unreachable is the result for a chat that may not get messages.
func unreachable(err error) tools.Result {
	if _, gone := errors.AsType[*GoneError](err); gone {
		return tools.Fail(tools.Execution, err.Error())
	}
	return tools.Fail(tools.PolicyDenied, err.Error())
}

// Config is what New needs.
type Config struct {
	// Door is required.
	Door Door
	// Location is the current time zone of current_time; nil, also as its result, is UTC.
	Location func() *time.Location
	// OpenFile opens a file of the workspace, or says why not. Nil: no send_file.
	OpenFile func(path string) (file fs.File, refused *tools.Result)
	// Speaker makes voice messages. Nil: no speak.
	Speaker Speaker
}

// New returns the tools send_message, send_file, speak and current_time.
func New(c Config) []tools.Tool {
	m := messenger{door: c.Door, openFile: c.OpenFile}
	k := clock{location: c.Location}
	all := []tools.Tool{
		tools.New(tools.Spec{Name: "send_message", Group: tools.GroupMessage, Changes: true, Atomic: true}, texts, m.send),
		tools.New(tools.Spec{Name: "current_time", Group: tools.GroupSystem}, texts, k.now),
	}
	if c.OpenFile != nil {
		all = append(all, tools.New(tools.Spec{Name: "send_file", Group: tools.GroupMessage, Changes: true, Atomic: true}, texts, m.sendFile))
	}
	if c.Speaker != nil {
		all = append(all, speakTool(c.Speaker))
	}
	return all
}
