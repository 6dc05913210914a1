package model

import (
	"errors"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
)

// How long a model that failed is left alone. What passes by itself is tried
// again soon, later each time it fails in a row; what needs a person is not.
const (
	shortCooldown   = 15 * time.Second
	longestCooldown = 5 * time.Minute
	personCooldown  = 30 * time.Minute
	// longestAsked bounds what a provider may ask for.
	longestAsked = 24 * time.Hour
)

// knowledge is, while the process runs, which models failed, what they cannot do, and
// what chats were told about it.
type knowledge struct {
	mu     sync.Mutex
	models map[Key]*facts       // guarded by mu
	told   map[noticeKey]string // guarded by mu
}

// facts are what is known of a model.
type facts struct {
	// until is how long it is left alone, after it failed strikes times in a row.
	until    time.Time
	strikes  int
	toolless bool
	// unreadable are the tools that its server cannot read.
	unreadable map[string]bool
	sight      sight
}

// of returns what is known of a model, to be read or changed. mu is held.
func (k *knowledge) of(model Key) *facts {
	if k.models[model] == nil {
		k.models[model] = &facts{unreadable: map[string]bool{}}
	}
	return k.models[model]
}

// toolless reports whether a model refused tools, now or before.
func (k *knowledge) toolless(model Key, now bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.of(model)
	f.toolless = f.toolless || now
	return f.toolless
}

// Failed leaves a model alone for a while.
func (c *Client) Failed(by Candidate, err error) {
	fail, ok := errors.AsType[*llm.Error](err)
	if !ok || fail.Kind == llm.Exhausted { // the next question may be an easier one
		return
	}
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	f := c.known.of(by.Key())
	f.strikes++
	wait := min(shortCooldown<<min(f.strikes-1, 8), longestCooldown)
	if !fail.Temporary() || fail.Daily {
		wait = personCooldown
	}
	f.until = time.Now().Add(max(wait, min(fail.RetryAfter, longestAsked)))
}

// Answered forgets that a model failed. The notice says who answered in place of the
// chosen model, for News.
func (c *Client) Answered(by Candidate, chosen string) Notice {
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	f := c.known.of(by.Key())
	f.until, f.strikes = time.Time{}, 0
	if by.Name == chosen {
		return Notice{kind: noticeModel} // the next switch is news again
	}
	return Notice{noticeModel, by.Name, locale.Say(c.config.Settings().Language, locale.AnsweredBy, by.Name, chosen)}
}

// Candidates are the models to ask, in order: the one that answered before, the chosen
// one, and the fallbacks. Those that are to be left alone are left out; if that is all
// of them, the chosen one is asked.
func (c *Client) Candidates(before, chosen string) []Candidate {
	models := c.config.Settings().Models
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	var ready []Candidate
	var seen []string
	for _, name := range append([]string{before, chosen}, models.Fallback...) {
		m, ok := models.Entries[name]
		if !ok || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		if one := (Candidate{name, m}); !time.Now().Before(c.known.of(one.Key()).until) {
			ready = append(ready, one)
		}
	}
	if len(ready) == 0 {
		name, m := models.For(chosen)
		return []Candidate{{name, m}}
	}
	return ready
}

// AnotherHelps reports whether another model may succeed where one failed. A
// request that is too long or wrong is so everywhere, a refusal is an answer,
// and a budget is one for all.
func AnotherHelps(err error) bool {
	if _, ok := errors.AsType[*BudgetError](err); ok {
		return false
	}
	fail, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return true // the model's configuration is wrong
	}
	switch fail.Kind {
	case llm.ContextOverflow, llm.BadRequest, llm.Refused:
		return false
	}
	return true
}

// refusesFeature reports whether a model cannot do something at all.
func refusesFeature(err error, feature string) bool {
	fail, ok := errors.AsType[*llm.Error](err)
	return ok && fail.Kind == llm.Unsupported && fail.Feature == feature
}

// Notice is something that a person is told once in a session.
type Notice struct {
	kind noticeKind
	// about is what it says, as far as it can change; line is its text.
	about, line string
}

// noticeKind is a kind of thing that a person is told once in a session.
type noticeKind int

const (
	// noticeModel says that another model answered than was chosen.
	noticeModel noticeKind = iota
	noticeTools
	noticeSchema
	noticeCut
	noticeVision
)

type noticeKey struct {
	session store.SessionID
	kind    noticeKind
}

// noticesKept bounds the notices that are remembered.
const noticesKept = 1000

// News returns the lines of the notices that a session has not been told last, and
// notes them.
func (c *Client) News(session store.SessionID, notices ...Notice) (lines []string) {
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	for _, n := range notices {
		key := noticeKey{session, n.kind}
		if c.known.told[key] == n.about {
			continue
		}
		if len(c.known.told) >= noticesKept {
			clear(c.known.told)
		}
		c.known.told[key] = n.about
		if n.line != "" {
			lines = append(lines, n.line)
		}
	}
	return lines
}
