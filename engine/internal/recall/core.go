package recall

import (
	"errors"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	recalltools "klawbot/tools/recall"
)

// PlacesOf are the parts of the core memory that a chat sees, the nearest first.
// Only in a private chat that is also what the person said there. "" is the
// command line, and so is the place of a job that belongs to no chat.
func PlacesOf(chat string) []corememory.Place {
	id, err := gateway.ParseChatID(chat)
	switch {
	case chat == "" || err != nil || id.Channel == store.JobChannel:
		return []corememory.Place{{}}
	case id.ID < 0:
		return []corememory.Place{{Kind: corememory.KindChats, ID: id.String()}, {}}
	}
	return []corememory.Place{{Kind: corememory.KindPeople, ID: id.String()}, {Kind: corememory.KindChats, ID: id.String()}, {}}
}

// CoreAt is what the core memory knows in some places, the nearest first, without
// what looks like an injection.
func (r *Memory) CoreAt(places []corememory.Place) (corememory.Part, error) {
	facts, err := r.core.Facts()
	return r.screen.View(facts, places), err
}

// Core returns what the call's chat sees of the core memory, as JSON.
func (r *Memory) Core(c tools.Call) (string, error) {
	view, err := r.CoreAt(PlacesOf(c.Chat))
	if err != nil {
		return "", err
	}
	return view.JSON()
}

// CoreScope is the scope of a change: the command line's is the whole bot, a
// chat's is the chat, unless the call says otherwise. What is removed without a
// scope is the nearest fact of its name.
func (r *Memory) CoreScope(c tools.Call, asked recalltools.Scope, section, key string, removing bool) recalltools.Scope {
	if asked != "" {
		return asked
	}
	places := PlacesOf(c.Chat)
	if len(places) == 1 {
		return recalltools.ScopeBot
	}
	if !removing {
		return recalltools.ScopeChat
	}
	facts, err := r.core.Facts()
	if err != nil {
		return recalltools.ScopeChat
	}
	for _, at := range places {
		if at.Kind != "" && facts.At(at).Holds(section, key) {
			return recalltools.ScopeChat
		}
	}
	if facts.At(corememory.Place{}).Holds(section, key) {
		return recalltools.ScopeBot
	}
	return recalltools.ScopeChat
}

// errNoChat: the command line has no part of its own.
var errNoChat = errors.New("there is no chat here; leave scope out")

// SetCore stores a fact in the core memory.
func (r *Memory) SetCore(c tools.Call, to recalltools.Scope, section, key, value string) error {
	at := corememory.Place{}
	if to != recalltools.ScopeBot {
		if at = PlacesOf(c.Chat)[0]; at.Kind == "" {
			return errNoChat
		}
		facts, err := r.core.Facts()
		if err != nil {
			return err
		}
		if section == corememory.SectionAgent && facts.At(corememory.Place{}).Holds(section, key) {
			return recalltools.ErrOwners
		}
	}
	_, _, err := r.core.Set(at, section, key, value)
	return coreError(err)
}

// DeleteCore removes a fact from the core memory.
func (r *Memory) DeleteCore(c tools.Call, from recalltools.Scope, section, key string) error {
	places := []corememory.Place{{}}
	if from != recalltools.ScopeBot {
		all := PlacesOf(c.Chat)
		if places = all[:len(all)-1]; len(places) == 0 {
			return errNoChat
		}
	}
	var err error
	for _, at := range places {
		if _, err = r.core.Delete(at, section, key); !errors.Is(err, corememory.ErrNoKey) {
			break
		}
	}
	return coreError(err)
}

// coreError says it in the words of the tools.
func coreError(err error) error {
	switch {
	case errors.Is(err, corememory.ErrSection):
		return recalltools.ErrSection
	case errors.Is(err, corememory.ErrNoKey):
		return recalltools.ErrNotFound
	}
	return err
}

// MoveCore gives the part of a chat to the chat that it has become.
func (r *Memory) MoveCore(from gateway.ChatID, to int64) {
	now := gateway.ChatID{Channel: from.Channel, ID: to}
	if err := r.core.Move(from.String(), now.String()); err != nil {
		r.config.Log.Error("core memory not moved", "chat", from.String(), "to", now.String(), "err", err)
	}
}
