package control

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Remembered is what the bot remembers.
type Remembered struct {
	// Core is the core memory, which every prompt contains, the bot's part first.
	Core []CorePart
	// CoreFault says why it cannot be read.
	CoreFault string
	// Facts are the memories that were found or stored last.
	Facts   []Fact
	Changes []MemoryChange
	// Search says how memories are searched.
	Search string
}

// CorePart is the core memory of the bot, of a chat or of a user.
type CorePart struct {
	// Kind is "" for the bot, "chats" or "people"; ID is the chat.
	Kind, ID string
	Facts    []CoreFact
}

// CoreFact is a line of the core memory.
type CoreFact struct{ Section, Key, Value string }

// Fact is a memory.
type Fact struct {
	ID int64
	// Chat is the one that may find it, empty for all.
	Chat, Key, Category, Source, Provenance string
	At                                      time.Time
	Content                                 string
}

// MemoryChange is a change of the memories that can be undone.
type MemoryChange struct {
	ID int64
	At time.Time
	// Saved says that a memory was stored, Before is the one that went.
	Saved  bool
	Before string
	Undone bool
}

// MemoryDesk reads and changes what the bot remembers.
type MemoryDesk interface {
	// Remembered finds memories with a text, or lists the newest for an empty one.
	Remembered(ctx context.Context, text string) (Remembered, error)
	SaveFact(ctx context.Context, key, content string) error
	// ForgetFact deletes a memory and returns the change, which UndoMemory takes back.
	ForgetFact(ctx context.Context, id int64) (change int64, err error)
	UndoMemory(ctx context.Context, change int64) error
	// SetCore stores a fact of the core memory; an empty value deletes it. The part is
	// that of a CorePart.
	SetCore(ctx context.Context, kind, id string, f CoreFact) error
	// UndoCore takes back the last change of the core memory.
	UndoCore(ctx context.Context) error
}

var memoryPage = control{
	pattern: "/memory", file: "memory",
	show: func(q *Request) (any, error) {
		text := searched(q.HTTP)
		all, err := q.Desk.Remembered(q.HTTP.Context(), text)
		return memoryView{all, text}, err
	},
	acts: []act{
		{"/memory/save", func(q *Request) (string, error) {
			text := strings.TrimSpace(q.HTTP.PostFormValue("content"))
			if text == "" {
				return "", Say(q.t("memory.notext"))
			}
			return done("/memory", "save"), q.Desk.SaveFact(q.HTTP.Context(), strings.TrimSpace(q.HTTP.PostFormValue("key")), text)
		}},
		{"/memory/forget", func(q *Request) (string, error) {
			id, err := strconv.ParseInt(q.HTTP.PostFormValue("id"), 10, 64)
			if err != nil {
				return "", ErrNotFound
			}
			change, err := q.Desk.ForgetFact(q.HTTP.Context(), id)
			return done("/memory", "forget") + "&undo=" + strconv.FormatInt(change, 10), err
		}},
		{"/memory/undo", func(q *Request) (string, error) {
			if q.HTTP.PostFormValue("change") == "core" {
				return done("/memory", "undo"), q.Desk.UndoCore(q.HTTP.Context())
			}
			change, err := strconv.ParseInt(q.HTTP.PostFormValue("change"), 10, 64)
			if err != nil {
				return "", ErrNotFound
			}
			return done("/memory", "undo"), q.Desk.UndoMemory(q.HTTP.Context(), change)
		}},
		{"/memory/core", func(q *Request) (string, error) {
			form := q.HTTP.PostFormValue
			f := CoreFact{Section: form("section"), Key: form("key"), Value: form("value")}
			if form("delete") != "" {
				f.Value = ""
			} else if strings.TrimSpace(f.Value) == "" {
				return "", Say(q.t("memory.novalue"))
			}
			return done("/memory", "core"), q.Desk.SetCore(q.HTTP.Context(), form("kind"), form("id"), f)
		}},
	},
}

type memoryView struct {
	Remembered
	Query string
}

// maxQuery bounds what is searched for, in characters.
const maxQuery = 500

// searched is what a request searches for.
func searched(r *http.Request) string {
	text := []rune(strings.TrimSpace(r.URL.Query().Get("q")))
	return string(text[:min(len(text), maxQuery)])
}
