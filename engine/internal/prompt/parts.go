package prompt

import "sync"

// Parts are about how many tokens the parts of a request take.
type Parts struct {
	// Instructions are the files of the workspace, Memory the core memory in the prompt.
	Instructions, Skills, Memory, Tools int
	// History are the earlier messages, Message is what was asked with all that is added.
	History, Message int
}

// last keeps the parts of the last window.
type last struct {
	mu    sync.Mutex
	parts Parts // guarded by mu
}

// Last returns the parts of the last window that was built for a model, zero before the
// first.
func (b *Builder) Last() Parts {
	b.last.mu.Lock()
	defer b.last.mu.Unlock()
	return b.last.parts
}

// note keeps what the parts of a window take.
func (b *Builder) note(w *Window, p sections) {
	tokens := func(s string) int {
		if s == "" {
			return 0
		}
		return b.tokens.Text(s)
	}
	parts := Parts{
		Instructions: tokens(p.instructions), Skills: tokens(p.skills), Memory: tokens(p.memory),
		History: b.tokens.Messages(w.Past), Message: b.tokens.Messages(w.Asked),
	}
	if len(w.Tools) > 0 {
		parts.Tools = w.fixed - b.tokens.Fixed(w.System, nil)
	}
	b.last.mu.Lock()
	defer b.last.mu.Unlock()
	b.last.parts = parts
}
