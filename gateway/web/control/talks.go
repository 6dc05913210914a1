package control

import (
	"context"
	"strconv"
	"time"
)

// Talk is a conversation.
type Talk struct {
	// ID is that of its current session.
	ID int64
	// Chat is the chat in text form, Name its title or person, which is foreign text.
	Chat, Name, Model string
	Messages          int
	LastAt            time.Time
}

// Said is a message of a conversation.
type Said struct {
	ID int64
	// Role is "user", "assistant", "tool" or "system".
	Role string
	// Name is who wrote it, for a user; foreign text.
	Name string
	Text string
	// Calls are the tools that were called, in short.
	Calls []string
	// Type is empty, or "session_break", "error", "stopped", "delivered".
	Type  string
	Model string
	At    time.Time
}

// Transcript is a part of a conversation, oldest first.
type Transcript struct {
	Talk
	Said []Said
	// Older says that there is more before, with the number of messages to ask for.
	Older int
	// Earlier and Later are the sessions before and after, 0 for none.
	Earlier, Later int64
}

// Found is a message that a search found.
type Found struct {
	Session, Message int64
	Chat, Name, Text string
	At               time.Time
}

// TalksDesk reads conversations.
type TalksDesk interface {
	Talks(ctx context.Context) ([]Talk, error)
	// FindSaid finds messages of all chats, the best first.
	FindSaid(ctx context.Context, text string) ([]Found, error)
	// Transcript reads the newest messages of a session, most at most, or, if at is not 0,
	// those around a message. An unknown session is ErrNotFound.
	Transcript(ctx context.Context, session, at int64, most int) (Transcript, error)
}

var talksPage = control{
	pattern: "/talks", file: "talks",
	show: func(q *Request) (any, error) {
		v := talksView{Query: searched(q.HTTP)}
		var err error
		if v.Query != "" {
			v.Found, err = q.Desk.FindSaid(q.HTTP.Context(), v.Query)
		} else {
			v.Talks, err = q.Desk.Talks(q.HTTP.Context())
		}
		return v, err
	},
}

type talksView struct {
	Query string
	Talks []Talk
	Found []Found
}

// saidShown is how many messages of a conversation a page shows first.
const saidShown = 100

var talkPage = control{
	pattern: "/talks/{id}", file: "talk",
	show: func(q *Request) (any, error) {
		id, err := numbered(q.HTTP, "id")
		if err != nil {
			return nil, err
		}
		at, _ := strconv.ParseInt(q.HTTP.URL.Query().Get("at"), 10, 64) // none shows the newest
		most, err := strconv.Atoi(q.HTTP.URL.Query().Get("most"))
		if err != nil {
			most = saidShown
		}
		t, err := q.Desk.Transcript(q.HTTP.Context(), id, at, most)
		return talkView{t, at}, err
	},
}

type talkView struct {
	Transcript
	At int64
}
