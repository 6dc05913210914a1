package engine

import (
	"errors"
	"strings"
	"sync"

	"klawbot/engine/internal/corememory"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/recall"
	"klawbot/tools/screen"
)

// corePlaces are the parts of the core memory that a chat sees, the nearest first.
// Only in a private chat that is also what the person said there. "" is the
// command line, and so is the place of a job that belongs to no chat.
func corePlaces(chat string) []corememory.Place {
	id, err := gateway.ParseChatID(chat)
	switch {
	case chat == "" || err != nil || id.Channel == store.JobChannel:
		return []corememory.Place{{}}
	case id.ID < 0:
		return []corememory.Place{{Kind: corememory.KindChats, ID: id.String()}, {}}
	}
	return []corememory.Place{{Kind: corememory.KindPeople, ID: id.String()}, {Kind: corememory.KindChats, ID: id.String()}, {}}
}

// corePlaces are those that the turn sees: what its chat sees, unless its answer
// goes to another one.
func (t *turn) corePlaces() []corememory.Place {
	home := t.home()
	if t.job != nil && !sameChat(home, t.e.outbox.Now(workplace(t.job.job))) {
		return corePlaces("")
	}
	return corePlaces(home.Chat.String())
}

// coreFor is what the core memory knows in some places, the nearest first, without
// what looks like an injection.
func (r *remembering) coreFor(places []corememory.Place) (corememory.Part, error) {
	facts, err := r.core.Facts()
	view := corememory.Part{User: corememory.Facts{}, Agent: corememory.Facts{}}
	for i := len(places) - 1; i >= 0; i-- {
		view = r.screened(places[i], facts.At(places[i])).Over(view)
	}
	return view, err
}

// screenedParts remembers the verdicts on parts of the core memory, by their text:
// they stand in every prompt and seldom change.
type screenedParts struct {
	mu  sync.Mutex
	all map[string]screenedPart // guarded by mu
}

type screenedPart struct {
	kept corememory.Part
	left []string
}

// maxScreened bounds what is remembered.
const maxScreened = 256

// screened is a part without the facts that look like an injection. What is left
// out is logged once.
func (r *remembering) screened(at corememory.Place, part corememory.Part) corememory.Part {
	s := &r.verdicts
	s.mu.Lock()
	defer s.mu.Unlock()
	name := placeName(at) + "\n" + part.String()
	known, ok := s.all[name]
	if !ok {
		known.kept, known.left = part.Screened(refusedInPrompt)
		if s.all == nil || len(s.all) >= maxScreened {
			s.all = map[string]screenedPart{}
		}
		s.all[name] = known
		if len(known.left) > 0 {
			r.log.Warn("facts of the core memory left out of prompts", "part", placeName(at), "facts", strings.Join(known.left, ", "))
		}
	}
	return known.kept
}

// refusedInPrompt reports whether a text that is kept must not reach a model.
func refusedInPrompt(text string) bool { return screen.Write(text).Level == screen.Block }

// placeName is a part of the core memory as its file has it.
func placeName(at corememory.Place) string {
	if at.Kind == "" {
		return "bot"
	}
	return at.Kind + "." + at.ID
}

// leftOut names the facts that no prompt gets.
func (r *remembering) leftOut(facts corememory.CoreFacts) (names []string) {
	look := func(at corememory.Place) {
		_, left := facts.At(at).Screened(refusedInPrompt)
		for _, name := range left {
			if at.Kind != "" {
				name = placeName(at) + "." + name
			}
			names = append(names, name)
		}
	}
	look(corememory.Place{})
	for id := range facts.Chats {
		look(corememory.Place{Kind: corememory.KindChats, ID: id})
	}
	for id := range facts.People {
		look(corememory.Place{Kind: corememory.KindPeople, ID: id})
	}
	return names
}

// Core returns what the call's chat sees of the core memory, as JSON.
func (r *remembering) Core(c tools.Call) (string, error) {
	view, err := r.coreFor(corePlaces(c.Chat))
	if err != nil {
		return "", err
	}
	return view.JSON()
}

// CoreScope is the scope of a change: the command line's is the whole bot, a
// chat's is the chat, unless the call says otherwise. What is removed without a
// scope is the nearest fact of its name.
func (r *remembering) CoreScope(c tools.Call, asked recall.Scope, section, key string, removing bool) recall.Scope {
	if asked != "" {
		return asked
	}
	places := corePlaces(c.Chat)
	if len(places) == 1 {
		return recall.ScopeBot
	}
	if !removing {
		return recall.ScopeChat
	}
	facts, err := r.core.Facts()
	if err != nil {
		return recall.ScopeChat
	}
	for _, at := range places {
		if at.Kind != "" && facts.At(at).Holds(section, key) {
			return recall.ScopeChat
		}
	}
	if facts.At(corememory.Place{}).Holds(section, key) {
		return recall.ScopeBot
	}
	return recall.ScopeChat
}

// errNoChat: the command line has no part of its own.
var errNoChat = errors.New("there is no chat here; leave scope out")

// SetCore stores a fact in the core memory.
func (r *remembering) SetCore(c tools.Call, to recall.Scope, section, key, value string) error {
	at := corememory.Place{}
	if to != recall.ScopeBot {
		if at = corePlaces(c.Chat)[0]; at.Kind == "" {
			return errNoChat
		}
		facts, err := r.core.Facts()
		if err != nil {
			return err
		}
		if section == corememory.SectionAgent && facts.At(corememory.Place{}).Holds(section, key) {
			return recall.ErrOwners
		}
	}
	_, _, err := r.core.Set(at, section, key, value)
	return coreError(err)
}

// DeleteCore removes a fact from the core memory.
func (r *remembering) DeleteCore(c tools.Call, from recall.Scope, section, key string) error {
	places := []corememory.Place{{}}
	if from != recall.ScopeBot {
		all := corePlaces(c.Chat)
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
		return recall.ErrSection
	case errors.Is(err, corememory.ErrNoKey):
		return recall.ErrNotFound
	}
	return err
}

// moveCore gives the part of a chat to the chat that it has become.
func (r *remembering) moveCore(from gateway.ChatID, to int64) {
	now := gateway.ChatID{Channel: from.Channel, ID: to}
	if err := r.core.Move(from.String(), now.String()); err != nil {
		r.log.Error("core memory not moved", "chat", from.String(), "to", now.String(), "err", err)
	}
}
