package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/tools"
)

// maxTrials bounds the requests that look for tools that a server cannot read;
// what is still in question then counts as one of them.
const maxTrials = 24

// trialTokens bounds the answer to such a request, which nobody reads.
const trialTokens = 16

// refusesSchema reports whether a server cannot read what a tool takes. It does
// not say which tool's.
func refusesSchema(err error) bool {
	fail, ok := errors.AsType[*llm.Error](err)
	return ok && fail.Kind == llm.Unsupported && fail.Feature == llm.ToolSchema
}

// schemaOf identifies a tool as it is described now.
func schemaOf(t llm.Tool) string { return t.Name + "\x00" + string(t.Parameters) }

// readable are the tools without those that a server could not read before.
func (f *fallbacks) readable(p place, all []llm.Tool) []llm.Tool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.unreadable[p]) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t llm.Tool) bool { return f.unreadable[p][schemaOf(t)] })
}

func (f *fallbacks) noteUnreadable(p place, found []llm.Tool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unreadable == nil {
		f.unreadable = map[place]map[string]bool{}
	}
	if f.unreadable[p] == nil {
		f.unreadable[p] = map[string]bool{}
	}
	for _, t := range found {
		f.unreadable[p][schemaOf(t)] = true
	}
}

// callReadable asks a model without the tools that its server cannot read, and
// tells the person which those are. One such tool would fail every request, so
// it is looked for at the first refusal.
func (t *turn) callReadable(ctx context.Context, c candidate, p llm.Provider, r llm.Request) (llm.Result, error) {
	r.Tools = t.e.fallbacks.readable(c.place(), r.Tools)
	result, err := t.call(ctx, c, p, r)
	if len(r.Tools) == 0 || !refusesSchema(err) {
		return result, err
	}
	found := t.findUnreadable(ctx, c, p, r)
	names := make([]string, len(found))
	for i, tool := range found {
		names[i] = tool.Name
	}
	list := strings.Join(names, ", ")
	t.log.Warn("model's server cannot read the parameters of tools", "model", c.name, "tools", list, "err", err)
	if len(found) == 0 {
		return result, err
	}
	t.e.fallbacks.noteUnreadable(c.place(), found)
	r.Tools = t.e.fallbacks.readable(c.place(), r.Tools)
	if result, err = t.call(ctx, c, p, r); err == nil {
		t.tell(noticeSchema, c.name+": "+list, locale.Say(t.settings.Language, locale.NoSchema, c.name, list))
	}
	return result, err
}

// findUnreadable finds the tools that a server cannot read, by halves.
func (t *turn) findUnreadable(ctx context.Context, c candidate, p llm.Provider, r llm.Request) []llm.Tool {
	trials := 0
	refuses := func(part []llm.Tool) bool {
		trials++
		return trials > maxTrials || refusesSchema(t.try(ctx, c, p, llm.Request{
			Model: r.Model, Messages: []llm.Message{llm.Text(llm.RoleUser, "ok")}, Tools: part, MaxTokens: trialTokens, Window: r.Window, Stream: r.Stream,
		}))
	}
	// find looks among tools that are refused together.
	var find func(part []llm.Tool) []llm.Tool
	find = func(part []llm.Tool) []llm.Tool {
		if len(part) == 1 || trials > maxTrials {
			return part
		}
		first, second := part[:len(part)/2], part[len(part)/2:]
		var found []llm.Tool
		if refuses(first) {
			found = find(first)
		}
		if len(found) == 0 || refuses(second) {
			found = append(slices.Clip(found), find(second)...)
		}
		return found
	}
	if !refuses(r.Tools) { // then it is not the tools alone
		return nil
	}
	return find(r.Tools)
}

// try sends a request whose answer nobody reads.
func (t *turn) try(ctx context.Context, c candidate, p llm.Provider, r llm.Request) error {
	release, err := t.e.slots.take(ctx, t.row.Origin == string(tools.OriginPerson))
	if err != nil {
		return err
	}
	defer release()
	if err := t.e.withinBudget(ctx, t.settings); err != nil {
		return err
	}
	result, err := p.Stream(ctx, r, func(llm.Event) {})
	t.count(c, r, result, llm.Event{}, err)
	return err
}
