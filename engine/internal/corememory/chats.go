package corememory

import (
	"errors"
	"log/slog"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	recalltools "klawbot/tools/recall"
)

// Chats is the core memory as each chat sees and changes it.
type Chats struct {
	core   *Core
	screen *Screen
	log    *slog.Logger
}

// NewChats returns the core memory of a data directory.
func NewChats(dir string, log *slog.Logger) *Chats {
	return &Chats{core: NewCore(dir), screen: NewScreen(log), log: log}
}

// CoreFile is the core memory as its owner has it.
func (c *Chats) CoreFile() *Core { return c.core }

// PlacesOf are the parts of the core memory that a chat sees, the nearest first.
// Only in a private chat that is also what the person said there. "" is the
// command line, and so is the place of a job that belongs to no chat.
func PlacesOf(chat string) []Place {
	id, err := gateway.ParseChatID(chat)
	switch {
	case chat == "" || err != nil || id.Channel == store.JobChannel:
		return []Place{{}}
	case id.ID < 0:
		return []Place{{Kind: KindChats, ID: id.String()}, {}}
	}
	return []Place{{Kind: KindPeople, ID: id.String()}, {Kind: KindChats, ID: id.String()}, {}}
}

// CoreAt is what the core memory knows in some places, the nearest first, without
// what looks like an injection.
func (c *Chats) CoreAt(places []Place) (Part, error) {
	facts, err := c.core.Facts()
	return c.screen.View(facts, places), err
}

// Core returns what the call's chat sees of the core memory, as JSON.
func (c *Chats) Core(call tools.Call) (string, error) {
	view, err := c.CoreAt(PlacesOf(call.Chat))
	if err != nil {
		return "", err
	}
	return view.JSON()
}

// CoreScope is the scope of a change: the command line's is the whole bot, a
// chat's is the chat, unless the call says otherwise. What is removed without a
// scope is the nearest fact of its name.
func (c *Chats) CoreScope(call tools.Call, asked recalltools.Scope, section, key string, removing bool) recalltools.Scope {
	if asked != "" {
		return asked
	}
	places := PlacesOf(call.Chat)
	if len(places) == 1 {
		return recalltools.ScopeBot
	}
	if !removing {
		return recalltools.ScopeChat
	}
	facts, err := c.core.Facts()
	if err != nil {
		return recalltools.ScopeChat
	}
	for _, at := range places {
		if at.Kind != "" && facts.At(at).Holds(section, key) {
			return recalltools.ScopeChat
		}
	}
	if facts.At(Place{}).Holds(section, key) {
		return recalltools.ScopeBot
	}
	return recalltools.ScopeChat
}

// errNoChat: the command line has no part of its own.
var errNoChat = errors.New("there is no chat here; leave scope out")

// SetCore stores a fact in the core memory.
func (c *Chats) SetCore(call tools.Call, to recalltools.Scope, section, key, value string) error {
	at := Place{}
	if to != recalltools.ScopeBot {
		if at = PlacesOf(call.Chat)[0]; at.Kind == "" {
			return errNoChat
		}
		facts, err := c.core.Facts()
		if err != nil {
			return err
		}
		if section == SectionAgent && facts.At(Place{}).Holds(section, key) {
			return recalltools.ErrOwners
		}
	}
	return coreError(c.core.Set(at, section, key, value))
}

// DeleteCore removes a fact from the core memory.
func (c *Chats) DeleteCore(call tools.Call, from recalltools.Scope, section, key string) error {
	places := []Place{{}}
	if from != recalltools.ScopeBot {
		all := PlacesOf(call.Chat)
		if places = all[:len(all)-1]; len(places) == 0 {
			return errNoChat
		}
	}
	var err error
	for _, at := range places {
		if err = c.core.Delete(at, section, key); !errors.Is(err, ErrNoKey) {
			break
		}
	}
	return coreError(err)
}

// coreError says it in the words of the tools.
func coreError(err error) error {
	switch {
	case errors.Is(err, ErrSection):
		return recalltools.ErrSection
	case errors.Is(err, ErrNoKey):
		return recalltools.ErrNotFound
	}
	return err
}

// MoveCore gives the part of a chat to the chat that it has become.
func (c *Chats) MoveCore(from gateway.ChatID, to int64) {
	now := gateway.ChatID{Channel: from.Channel, ID: to}
	if err := c.core.Move(from.String(), now.String()); err != nil {
		c.log.Error("core memory not moved", "chat", from.String(), "to", now.String(), "err", err)
	}
}
