package control

import (
	"context"
	"strings"
	"time"
)

// People are the chats that may talk to the bot, and those that knocked.
type People struct {
	Allowed          []Person
	Knocked, Ignored []Person
	// Fixed says why the list of allowed chats cannot be changed here, "" when it can.
	Fixed string
}

// Person is a chat. Its name is foreign text.
type Person struct {
	// Chat is its id in text form, "telegram_555".
	Chat string
	ID   int64
	Name string
	// Owner says that it is the private chat of an owner.
	Owner bool
	// Times counts the messages of one that is not allowed.
	Times int
	// LastAt is when it wrote last, zero for never.
	LastAt time.Time
}

// PeopleDesk changes who may talk to the bot.
type PeopleDesk interface {
	People(ctx context.Context) (People, error)
	Allow(ctx context.Context, chat string) error
	Deny(ctx context.Context, chat string) error
	Ignore(ctx context.Context, chat string) error
	Unignore(ctx context.Context, chat string) error
}

var peoplePage = control{
	pattern: "/people", file: "people",
	show: func(q *Request) (any, error) { return q.Desk.People(q.HTTP.Context()) },
	acts: []act{
		{"/people/allow", aboutPerson("allow", Desk.Allow)},
		{"/people/deny", aboutPerson("deny", Desk.Deny)},
		{"/people/ignore", aboutPerson("ignore", Desk.Ignore)},
		{"/people/unignore", aboutPerson("unignore", Desk.Unignore)},
	},
}

func aboutPerson(what string, do func(Desk, context.Context, string) error) func(*Request) (string, error) {
	return func(q *Request) (string, error) {
		return done("/people", what), do(q.Desk, q.HTTP.Context(), strings.TrimSpace(q.HTTP.PostFormValue("chat")))
	}
}
