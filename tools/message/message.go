// Package message holds the tools that send messages and files and tell the
// time.
//
// The senders only check and hand over: the message travels in the Result and
// leaves in the transaction that stores it. Whether a chat may be written
// to is somebody else's decision, asked through Door.
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

// Door is the way out of the bot.
type Door interface {
	// Check reports whether a message may leave for a chat, named in its text
	// form ("telegram_123"): nil, or why not in words for the model. The error
	// is a GoneError when the chat is not there any more. It does not send.
	Check(ctx context.Context, chat string) error
}

// GoneError says that a chat was deleted, or has removed or blocked the bot.
type GoneError struct {
	Chat string
	// Why is what the messenger said.
	Why string
}

func (e *GoneError) Error() string {
	return e.Chat + " cannot be reached: the chat is gone, or the bot was removed or blocked there (" + e.Why + "). A message would not arrive; it can again when somebody writes to the bot there"
}

// unreachable is the result of a call whose chat may not be written to.
func unreachable(err error) tools.Result {
	if _, gone := errors.AsType[*GoneError](err); gone {
		return tools.Fail(tools.Execution, err.Error())
	}
	return tools.Fail(tools.PolicyDenied, err.Error())
}

// Config is what New needs.
type Config struct {
	// Door is asked before a message is taken. Required.
	Door Door
	// Location is the time zone of current_time as it is now; nil, also as
	// its result, is UTC.
	Location func() *time.Location
	// OpenFile opens a file of the workspace, or says why not. Without it there
	// is no send_file.
	OpenFile func(path string) (file fs.File, refused *tools.Result)
}

// New returns the tools send_message, send_file and current_time.
func New(c Config) []tools.Tool {
	m := messenger{door: c.Door, openFile: c.OpenFile}
	k := clock{location: c.Location}
	all := []tools.Tool{
		tools.New(tools.Spec{
			Name: "send_message", Group: tools.GroupMessage, Changes: true, Atomic: true,
		}, texts, m.send),
		tools.New(tools.Spec{
			Name: "current_time", Group: tools.GroupSystem,
		}, texts, k.now),
	}
	if c.OpenFile != nil {
		all = append(all, tools.New(tools.Spec{
			Name: "send_file", Group: tools.GroupMessage, Changes: true, Atomic: true,
		}, texts, m.sendFile))
	}
	return all
}
