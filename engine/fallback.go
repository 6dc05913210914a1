package engine

import (
	"errors"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
)

// candidate is a model that may answer, by its configured name.
type candidate struct {
	name  string
	model settings.Model
}

func (c candidate) place() place { return place{c.model.BaseURL, c.model.APIKey, c.model.Name} }

// place is what a failure is remembered for: a new key or address begins anew.
type place struct{ baseURL, key, model string }

// How long a model that failed is left alone. What passes by itself is tried
// again soon, later each time it fails in a row; what needs a person is not.
const (
	shortCooldown   = 15 * time.Second
	longestCooldown = 5 * time.Minute
	personCooldown  = 30 * time.Minute
	// longestAsked bounds what a provider may ask for.
	longestAsked = 24 * time.Hour
)

// fallbacks remember, while the process runs, which models failed, what they
// cannot do, and what chats were told about it. The zero value is ready.
type fallbacks struct {
	mu       sync.Mutex
	cooling  map[place]cooldown   // guarded by mu
	toolless map[place]bool       // guarded by mu
	told     map[noticeKey]string // guarded by mu
	// unreadable are the tools that a model's server cannot read.
	unreadable map[place]map[string]bool // guarded by mu
}

// cooldown is how long a model is left alone, and how often it failed in a row.
type cooldown struct {
	until   time.Time
	strikes int
	reason  llm.ErrorKind
}

// noticeKind is a kind of thing that a person is told once in a session.
type noticeKind int

const (
	// noticeModel says that another model answered than was chosen.
	noticeModel noticeKind = iota
	noticeTools
	noticeSchema
	noticeCut
)

type noticeKey struct {
	session store.SessionID
	kind    noticeKind
}

// noticesKept bounds the notices that are remembered.
const noticesKept = 1000

// cool leaves a model alone for a while after it failed.
func (f *fallbacks) cool(p place, err error) {
	fail, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cooling == nil {
		f.cooling = map[place]cooldown{}
	}
	c := f.cooling[p]
	c.strikes++
	c.reason = fail.Kind
	wait := min(shortCooldown<<min(c.strikes-1, 8), longestCooldown)
	if !fail.Temporary() {
		wait = personCooldown
	}
	c.until = time.Now().Add(max(wait, min(fail.RetryAfter, longestAsked)))
	f.cooling[p] = c
}

// ready reports whether a model need not be left alone.
func (f *fallbacks) ready(p place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !time.Now().Before(f.cooling[p].until)
}

// healed forgets that a model failed.
func (f *fallbacks) healed(p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cooling, p)
}

// withoutTools reports whether a model refused tools before.
func (f *fallbacks) withoutTools(p place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.toolless[p]
}

func (f *fallbacks) noteWithoutTools(p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.toolless == nil {
		f.toolless = map[place]bool{}
	}
	f.toolless[p] = true
}

// news reports whether a session has not been told this last, and notes it.
func (f *fallbacks) news(k noticeKey, what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[k] == what {
		return false
	}
	if f.told == nil || len(f.told) >= noticesKept {
		f.told = map[noticeKey]string{}
	}
	f.told[k] = what
	return true
}

// refusesTools reports whether a model cannot call tools at all.
func refusesTools(err error) bool {
	fail, ok := errors.AsType[*llm.Error](err)
	return ok && fail.Kind == llm.Unsupported && fail.Feature == "tools"
}

// anotherHelps reports whether another model may succeed where one failed. A
// request that is too long or wrong is so everywhere, a refusal is an answer,
// and a budget is one for all.
func anotherHelps(err error) bool {
	if _, ok := errors.AsType[*budgetError](err); ok {
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

// candidates are the models to ask, in order: the one that answered in this
// turn before, the chosen one, and the fallbacks. Those that are to be left
// alone are left out; if that is all of them, the chosen one is asked.
func (t *turn) candidates() []candidate {
	models := t.e.settings().Models
	var ready []candidate
	var seen []string
	for _, name := range append([]string{t.sticky, t.chosen}, models.Fallback...) {
		m, ok := models.Entries[name]
		if !ok || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		if c := (candidate{name, m}); t.e.fallbacks.ready(c.place()) {
			ready = append(ready, c)
		}
	}
	if len(ready) == 0 {
		name, m := t.e.settings().Models.For(t.chosen)
		return []candidate{{name, m}}
	}
	return ready
}

// answeredBy notes which model answered; the turn stays with it. The person is
// told when it is another one than last time.
func (t *turn) answeredBy(c candidate) {
	t.e.fallbacks.healed(c.place())
	t.sticky, t.row.Model = c.name, c.name
	if c.name == t.chosen {
		t.e.fallbacks.news(noticeKey{t.row.Session, noticeModel}, "") // the next switch is news again
		return
	}
	t.tell(noticeModel, c.name, locale.Say(t.settings.Language, locale.AnsweredBy, c.name, t.chosen))
}

// tell puts a line below the answer, unless the session has been told already.
func (t *turn) tell(kind noticeKind, what, line string) {
	if t.e.fallbacks.news(noticeKey{t.row.Session, kind}, what) {
		t.notes = append(t.notes, line)
	}
}

// noted is the text of an answer with what the person is to be told below it.
func (t *turn) noted(text string) string {
	for _, line := range t.notes {
		text += "\n\n(" + line + ")"
	}
	return text
}

// fitting is the past and the conversation, without the oldest turns when it is
// too long for a model, which may have a smaller budget than the chosen one. The
// summary goes last; what was asked in this turn and what came of it stays.
func (t *turn) fitting(conv []llm.Message, m candidate) []llm.Message {
	if t.harder >= maxHarder {
		conv = shrinkResults(conv)
	}
	left := t.e.estimates.room(m, t.fixed())
	for _, message := range slices.Concat(t.past, conv) {
		left -= t.e.estimates.message(message)
	}
	head := 0
	if t.summed && len(t.past) > 0 {
		head = 1
	}
	first := head
	for first < len(t.past) && (left < 0 || t.past[first].Role != llm.RoleUser) {
		left += t.e.estimates.message(t.past[first])
		first++
	}
	if left < 0 {
		head = 0
	}
	return slices.Concat(t.past[:head], t.past[first:], conv)
}
