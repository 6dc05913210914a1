// Package message holds the tools that send messages and tell the time.
//
// send_message only checks and hands over: the message travels in the Result
// and leaves in the transaction that stores it. Whether a chat may be written
// to is somebody else's decision, asked through Door.
package message

import (
	"embed"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Door is the way out of the bot.
type Door interface {
	// Check reports whether a message may leave for a chat, named in its text
	// form ("telegram_123"): nil, or why not in words for the model. It does
	// not send and does not wait.
	Check(chat string) error
}

// Config is what New needs.
type Config struct {
	// Door is asked before a message is taken. Required.
	Door Door
	// Location is the time zone of current_time as it is now; nil, also as
	// its result, is UTC.
	Location func() *time.Location
}

// New returns the tools send_message and current_time.
func New(c Config) []tools.Tool {
	m := messenger{door: c.Door}
	k := clock{location: c.Location}
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "send_message", Group: tools.GroupMessage, Changes: true, Atomic: true,
		}, texts, m.send),
		tools.New(tools.Spec{
			Name: "current_time", Group: tools.GroupSystem,
		}, texts, k.now),
	}
}
