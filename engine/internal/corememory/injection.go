package corememory

import (
	"log/slog"
	"strings"
	"sync"

	"klawbot/tools/injection"
)

// Screen keeps facts that look like an injection out of prompts. It caches its verdicts
// by text, because parts seldom change.
type Screen struct {
	log *slog.Logger

	mu    sync.Mutex
	known map[string]Part // guarded by mu
}

// NewScreen makes a Screen that logs what it leaves out.
func NewScreen(log *slog.Logger) *Screen { return &Screen{log: log, known: map[string]Part{}} }

// maxScreened is the size of the cache.
const maxScreened = 256

// View combines the parts of places, the nearest first, without what looks like an
// injection.
func (s *Screen) View(facts CoreFacts, places []Place) Part {
	view := Part{User: Facts{}, Agent: Facts{}}
	for i := len(places) - 1; i >= 0; i-- {
		view = s.part(places[i], facts.At(places[i])).Over(view)
	}
	return view
}

// part is a part without the facts that look like an injection. It logs each once.
func (s *Screen) part(at Place, part Part) Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := at.name() + "\n" + part.String()
	kept, ok := s.known[name]
	if ok {
		return kept
	}
	kept, left := part.Screened(refusedInPrompt)
	if len(s.known) >= maxScreened {
		clear(s.known)
	}
	s.known[name] = kept
	if len(left) > 0 {
		s.log.Warn("facts of the core memory left out of prompts", "part", at.name(), "facts", strings.Join(left, ", "))
	}
	return kept
}

// LeftOut names the facts that are left out of prompts.
func (f CoreFacts) LeftOut() (names []string) {
	look := func(at Place) {
		_, left := f.At(at).Screened(refusedInPrompt)
		for _, name := range left {
			if at.Kind != "" {
				name = at.name() + "." + name
			}
			names = append(names, name)
		}
	}
	look(Place{})
	for id := range f.Chats {
		look(Place{Kind: KindChats, ID: id})
	}
	for id := range f.People {
		look(Place{Kind: KindPeople, ID: id})
	}
	return names
}

// refusedInPrompt reports whether a stored text must not reach a model.
func refusedInPrompt(text string) bool { return injection.Write(text).Level == injection.Block }

// name is the name of a place in the file.
func (p Place) name() string {
	if p.Kind == "" {
		return "bot"
	}
	return p.Kind + "." + p.ID
}
