package web

import (
	"context"
	"io"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/web/control"
	"klawbot/internal/redact"
)

// Desk is the engine's side: what the pages read and do. It may be used by several
// goroutines. What is not there is ErrNotFound.
type Desk interface {
	Chat
	Browsers
	Files
	control.Desk
	// Language is that of the bot, "en" or "ru", and Zone the one of the times that people see.
	Language() string
	Zone() *time.Location
	// Secrets are what no page shows.
	Secrets() *redact.Set
	// Hears reports whether the bot turns speech into text.
	Hears() bool
}

// ErrNotFound means that what was asked for is not there.
var ErrNotFound = control.ErrNotFound

// Chat keeps the messages of the page.
type Chat interface {
	// Add keeps a message, unless there is one with its key, and returns what is kept.
	Add(ctx context.Context, m Message) (Message, error)
	// Put gives a message another text, buttons and file, and adds it if it is not there.
	Put(ctx context.Context, m Message) error
	// Remove deletes a message. One that is not there is no error.
	Remove(ctx context.Context, id int64) error
	Message(ctx context.Context, id int64) (Message, error)
	// After lists what changed after a rev, in the order of the changes, and the newest rev.
	After(ctx context.Context, rev int64, limit int) (changed []Message, last int64, err error)
	// Before lists the newest messages before an id, the newest first, and the newest rev.
	Before(ctx context.Context, id int64, limit int) (older []Message, last int64, err error)
	// SaidSince lists what people wrote since a time, the oldest first.
	SaidSince(ctx context.Context, t time.Time) ([]Message, error)
}

// Message is a message of the chat, as it is kept.
type Message struct {
	ID int64
	// Key is unique: a second message with the same key is the same message.
	Key string
	// Said says that a person wrote it.
	Said bool
	// Text is Markdown.
	Text    string
	ReplyTo int64
	Buttons [][]gateway.Button
	// Until is when the question of the buttons expires, zero for never.
	Until time.Time
	File  *File
	Gone  bool
	// Rev grows with each change, over all messages.
	Rev int64
	At  time.Time
}

// File is a file of a message.
type File struct {
	// Sum is its SHA-256, in hex.
	Sum  string `json:"sum"`
	Name string `json:"name"`
	Size int64  `json:"size"`
	// Kind is how it is shown: "image", "audio" or "".
	Kind string `json:"kind,omitempty"`
	// Voice says that a person spoke it.
	Voice bool `json:"voice,omitempty"`
}

// Files keeps the files of messages.
type Files interface {
	// Keep keeps what fill writes.
	Keep(ctx context.Context, fill func(io.Writer) error) (sum string, size int64, err error)
	// Open opens a kept file; it is ErrNotFound when it is not kept any more.
	Open(sum string) (io.ReadSeekCloser, error)
}

// Browsers are those that are signed in.
type Browsers interface {
	// SignIn adds a browser by the hash of its cookie.
	SignIn(ctx context.Context, hash, agent string) error
	// Browser is the one whose cookie has the hash.
	Browser(ctx context.Context, hash string) (Browser, error)
	Browsers(ctx context.Context) ([]Browser, error)
	// Seen notes that a browser was seen now, and its language.
	Seen(ctx context.Context, id int64, language string) error
	// End signs a browser out.
	End(ctx context.Context, id int64) error
}

// Browser is a browser that is signed in.
type Browser struct {
	ID int64
	// Agent is what it calls itself. It is foreign text.
	Agent string
	// Language is the chosen one, "" for that of the bot.
	Language   string
	At, SeenAt time.Time
}
