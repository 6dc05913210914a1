// Package recall holds the tools of the memory: what was saved (memory_search,
// memory_save, memory_forget), the facts that every turn knows (memory_core_get,
// memory_core_update, memory_core_delete), the memory files of the workspace
// (memory_get) and what was said before in the chat (history_search).
//
// The search itself is behind the interface Memory. A call names its chat, and the chat
// decides what the call may see.
package recall

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/tools"
)

//go:embed *.md
var texts embed.FS

// Errors of Memory that the tools have words for.
var (
	// ErrNotFound means that there is no such memory, key or file.
	ErrNotFound = errors.New("not found")
	// ErrSection means that the core memory has no such section.
	ErrSection = errors.New("no such section")
	// ErrOwners means that the bot's part has the fact, and a chat cannot change it.
	ErrOwners = errors.New("the bot's part has it")
)

// Scope says who sees a fact of the core memory.
type Scope string

// The scopes: the chat of the call, in a private chat the person, and the whole bot.
const (
	ScopeChat Scope = "chat"
	ScopeBot  Scope = "bot"
)

// Hit is a text that was found.
type Hit struct {
	ID     int64     `json:"id"`
	Source string    `json:"source"`
	At     time.Time `json:"created_at"`
	// Score is between 0 and 1, comparable within one search.
	Score   float64 `json:"score"`
	Content string  `json:"content"`
	// Others says that it may be of people who are no owners.
	Others bool `json:"-"`
}

// Entry is something to be remembered.
type Entry struct {
	Content, Source, Key, Category string
}

// Memory stores and finds, also from several goroutines. Its errors are for the model.
type Memory interface {
	// Search finds memories that a call may see, the best first.
	Search(ctx context.Context, c tools.Call, query string, topK int) ([]Hit, error)
	// History finds messages of the call's chat, the best first.
	History(ctx context.Context, c tools.Call, query string, topK int) ([]Hit, error)
	// Save remembers a text and returns in how many chunks; 0 is nothing to save.
	Save(ctx context.Context, c tools.Call, e Entry) (chunks int, err error)
	// Forget deletes a memory of the chat by its key, or by its id without a key.
	Forget(ctx context.Context, c tools.Call, key string, id int64) error
	// Core returns what the call's chat sees of the core memory, as JSON.
	Core(c tools.Call) (string, error)
	// CoreScope is the scope that a change of a fact has when the call asks for
	// asked, which may be empty. Removing means the place where the fact is.
	CoreScope(c tools.Call, asked Scope, section, key string, removing bool) Scope
	// SetCore stores a fact, DeleteCore removes one.
	SetCore(c tools.Call, to Scope, section, key, value string) error
	DeleteCore(c tools.Call, from Scope, section, key string) error
	// File returns a memory file of the workspace by its name, and the journal of a
	// day (2006-01-02) by an empty one.
	File(name, day string) (text string, err error)
	// Today is the present day where the user lives, and the zone.
	Today() time.Time
}

// The greatest numbers that a call may ask for.
const maxHits = 50

// New returns the tools of the memory.
func New(m Memory) []tools.Tool {
	f := family{m}
	changes := func(name string) tools.Spec {
		return tools.Spec{Name: name, Group: tools.GroupMemory, Changes: true}
	}
	reads := func(name string) tools.Spec {
		return tools.Spec{Name: name, Group: tools.GroupMemory}
	}
	search := reads("memory_search")
	search.Aliases = []tools.Alias{{Name: "memory_recall", Preset: map[string]any{"topK": 5}}}
	search.Arguments = map[string]string{"limit": "topK"}
	save := changes("memory_save")
	save.Aliases = []tools.Alias{{Name: "memory_store"}}
	save.Keeps = []string{"content", "key", "source"}
	save.Permit = confirmed
	history := reads("history_search")
	history.Aliases = []tools.Alias{{Name: "conversation_recall"}}
	update := changes("memory_core_update")
	update.Keeps = []string{"key", "value"}
	update.Permit = f.permitUpdate
	remove := changes("memory_core_delete")
	remove.Permit = f.permitRemove
	return []tools.Tool{
		tools.New(search, texts, f.search),
		tools.New(save, texts, f.save),
		tools.New(changes("memory_forget"), texts, f.forget),
		tools.New(reads("memory_core_get"), texts, f.core),
		tools.New(update, texts, f.update),
		tools.New(remove, texts, f.remove),
		tools.New(reads("memory_get"), texts, f.file),
		tools.New(history, texts, f.history),
	}
}

// confirmed has a person agree when a turn that read something from outside wants
// to remember: what others wrote must not become what the bot knows unseen.
func confirmed(c tools.Call, a tools.Autonomy) tools.Decision {
	if c.Heard && a != tools.Full {
		return tools.Decision{Verdict: tools.Ask, Layer: "memory", Reason: "The text may come from an untrusted source"}
	}
	return tools.Decision{Verdict: tools.Allow}
}

type family struct{ memory Memory }

type searchArgs struct {
	Query string `json:"query"`
	TopK  int    `json:"topK,omitempty" default:"10" min:"1" max:"50"`
}

func (f family) search(ctx context.Context, c tools.Call, a searchArgs) tools.Result {
	hits, err := f.memory.Search(ctx, c, a.Query, min(a.TopK, maxHits))
	return found(hits, err, func(h Hit) string {
		if h.ID == 0 { // a file
			return ""
		}
		return fmt.Sprintf(" id %d", h.ID)
	})
}

func (f family) history(ctx context.Context, c tools.Call, a searchArgs) tools.Result {
	hits, err := f.memory.History(ctx, c, a.Query, min(a.TopK, maxHits))
	return found(hits, err, func(Hit) string { return "" })
}

// found shows hits to the model and as data. mark follows the time of a hit.
func found(hits []Hit, err error, mark func(Hit) string) tools.Result {
	if err != nil {
		return tools.Failed(err)
	}
	if len(hits) == 0 {
		return tools.OK("No relevant memories found.")
	}
	parts := make([]string, len(hits))
	for i, h := range hits {
		parts[i] = fmt.Sprintf("[%s] (%s)%s\n%s", h.Source, h.At.Format("2006-01-02 15:04"), mark(h), h.Content)
	}
	r := tools.OK(strings.Join(parts, "\n\n---\n\n"))
	r.Others = slices.ContainsFunc(hits, func(h Hit) bool { return h.Others })
	return r.With(hits)
}

type saveArgs struct {
	Content  string `json:"content"`
	Source   string `json:"source,omitempty" default:"manual"`
	Key      string `json:"key,omitempty"`
	Category string `json:"category,omitempty" default:"core" enum:"core,daily,custom"`
}

func (f family) save(ctx context.Context, c tools.Call, a saveArgs) tools.Result {
	if strings.TrimSpace(a.Content) == "" {
		return tools.OK("No content to save.")
	}
	n, err := f.memory.Save(ctx, c, Entry(a))
	if err != nil {
		return tools.Failed(err)
	}
	if n == 0 {
		return tools.OK("No content to save.")
	}
	return tools.OK(fmt.Sprintf("Saved %d chunk(s) from source '%s'.", n, a.Source))
}

type forgetArgs struct {
	Key string `json:"key,omitempty"`
	ID  int64  `json:"id,omitempty"`
}

func (f family) forget(ctx context.Context, c tools.Call, a forgetArgs) tools.Result {
	name := a.Key
	if name == "" {
		if a.ID <= 0 {
			return tools.Fail(tools.Validation, "Missing required parameter: key (or id)")
		}
		name = strconv.FormatInt(a.ID, 10)
	}
	err := f.memory.Forget(ctx, c, a.Key, a.ID)
	if errors.Is(err, ErrNotFound) {
		return tools.Fail(tools.NotFound, "memory '"+name+"' not found")
	}
	if err != nil {
		return tools.Failed(err)
	}
	return tools.OK("OK: memory '" + name + "' forgotten")
}

// permitUpdate has an owner agree to a fact that every chat would know, when the
// owner is not the one who wants it.
func (f family) permitUpdate(c tools.Call, a tools.Autonomy) tools.Decision {
	var args updateArgs
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tools.Decision{Verdict: tools.Deny, Layer: "memory", Reason: "the arguments cannot be read"}
	}
	if f.memory.CoreScope(c, args.Scope, args.Section, args.Key, false) == ScopeBot {
		return c.Steering(a, "memory", "The core memory of the bot")
	}
	return confirmed(c, a)
}

func (f family) permitRemove(c tools.Call, a tools.Autonomy) tools.Decision {
	var args removeArgs
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tools.Decision{Verdict: tools.Deny, Layer: "memory", Reason: "the arguments cannot be read"}
	}
	if f.memory.CoreScope(c, args.Scope, args.Section, args.Key, true) == ScopeBot {
		return c.Steering(a, "memory", "The core memory of the bot")
	}
	return tools.Decision{Verdict: tools.Allow}
}

func (f family) core(_ context.Context, c tools.Call, _ struct{}) tools.Result {
	text, err := f.memory.Core(c)
	if err != nil {
		return tools.Failed(err)
	}
	return tools.OK(text)
}

type updateArgs struct {
	Section string `json:"section"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Scope   Scope  `json:"scope,omitempty" enum:"chat,bot"`
}

func (f family) update(_ context.Context, c tools.Call, a updateArgs) tools.Result {
	if a.Key == "" {
		return tools.Fail(tools.Validation, "key must not be empty")
	}
	scope := f.memory.CoreScope(c, a.Scope, a.Section, a.Key, false)
	return coreResult(f.memory.SetCore(c, scope, a.Section, a.Key, a.Value), a.Section, a.Key, "updated")
}

type removeArgs struct {
	Section string `json:"section"`
	Key     string `json:"key"`
	Scope   Scope  `json:"scope,omitempty" enum:"chat,bot"`
}

func (f family) remove(_ context.Context, c tools.Call, a removeArgs) tools.Result {
	scope := f.memory.CoreScope(c, a.Scope, a.Section, a.Key, true)
	if scope == ScopeBot && !c.Steers() {
		return coreResult(ErrNotFound, a.Section, a.Key, "") // it was in the chat's part until now
	}
	return coreResult(f.memory.DeleteCore(c, scope, a.Section, a.Key), a.Section, a.Key, "deleted")
}

func coreResult(err error, section, key, done string) tools.Result {
	switch {
	case errors.Is(err, ErrSection):
		return tools.Fail(tools.Validation, "section must be 'user' or 'agent'")
	case errors.Is(err, ErrNotFound):
		return tools.Fail(tools.NotFound, fmt.Sprintf("key '%s' not found in '%s'", key, section))
	case errors.Is(err, ErrOwners):
		return tools.Fail(tools.PolicyDenied, fmt.Sprintf("%s.%s is set for the whole bot and holds here too; use another key, or scope bot, which an owner has to agree to", section, key))
	case err != nil:
		return tools.Failed(err)
	}
	return tools.OK(fmt.Sprintf("OK: %s.%s %s", section, key, done))
}

type fileArgs struct {
	File      string `json:"file" enum:"MEMORY.md,USER.md,SOUL.md,AGENTS.md,daily"`
	Date      string `json:"date,omitempty"`
	StartLine int    `json:"startLine,omitempty" min:"1"`
	EndLine   int    `json:"endLine,omitempty" min:"1"`
}

func (f family) file(_ context.Context, _ tools.Call, a fileArgs) tools.Result {
	name, day := a.File, ""
	if name == "daily" {
		name, day = "", a.Date
		if day == "" {
			day = f.memory.Today().Format(time.DateOnly)
		}
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return tools.Fail(tools.Validation, "date must be like 2026-01-31")
		}
	}
	text, err := f.memory.File(name, day)
	if errors.Is(err, ErrNotFound) {
		if day != "" {
			name = "memory/" + day + ".md"
		}
		return tools.Fail(tools.NotFound, "file not found: "+name)
	}
	if err != nil {
		return tools.Failed(err)
	}
	r := tools.OK(lines(text, a.StartLine, a.EndLine))
	r.Others = true // the workspace is everybody's
	return r
}

// lines are the lines from one to another, counted from 1; 0 is no bound.
func lines(text string, from, to int) string {
	if from == 0 && to == 0 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	if to == 0 || to > len(all) {
		to = len(all)
	}
	if from = max(from, 1); from > to {
		return ""
	}
	return strings.Join(all[from-1:to], "")
}
