package model

import (
	"context"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
)

// maxTrials bounds the requests that look for tools that a server cannot read;
// what is still in question then counts as one of them.
const maxTrials = 24

// trialTokens bounds the answer to such a request, which is not read.
const trialTokens = 16

// refusesSchema reports whether a server cannot read what a tool takes. It does
// not say which tool's.
func refusesSchema(err error) bool { return refusesFeature(err, llm.ToolSchema) }

// schemaOf identifies a tool as it is described now.
func schemaOf(t llm.Tool) string { return t.Name + "\x00" + string(t.Parameters) }

// readable are the tools without those that a server could not read before.
func (k *knowledge) readable(model Key, all []llm.Tool) []llm.Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	unreadable := k.of(model).unreadable
	if len(unreadable) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t llm.Tool) bool { return unreadable[schemaOf(t)] })
}

func (k *knowledge) noteUnreadable(model Key, found []llm.Tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range found {
		k.of(model).unreadable[schemaOf(t)] = true
	}
}

// readable asks a model without the tools that its server cannot read, and
// tells the person which those are. One such tool would fail every request, so
// it is looked for at the first refusal.
func (a *asking) readable(ctx context.Context, r llm.Request) (llm.Result, error) {
	r.Tools = a.client.known.readable(a.Key(), r.Tools)
	result, err := a.repeated(ctx, r)
	if len(r.Tools) == 0 || !refusesSchema(err) {
		return result, err
	}
	found := a.findUnreadable(ctx, r)
	names := make([]string, len(found))
	for i, tool := range found {
		names[i] = tool.Name
	}
	list := strings.Join(names, ", ")
	a.Log.Warn("model's server cannot read the parameters of tools", "model", a.Name, "tools", list, "err", err)
	if len(found) == 0 {
		return result, err
	}
	a.client.known.noteUnreadable(a.Key(), found)
	r.Tools = a.client.known.readable(a.Key(), r.Tools)
	if result, err = a.repeated(ctx, r); err == nil {
		a.tell(noticeSchema, a.Name+": "+list, locale.NoSchema, a.Name, list)
	}
	return result, err
}

// findUnreadable finds the tools that a server cannot read, by halves.
func (a *asking) findUnreadable(ctx context.Context, r llm.Request) []llm.Tool {
	trials := 0
	refuses := func(part []llm.Tool) bool {
		trials++
		if trials > maxTrials {
			return true
		}
		_, err := a.attempt(ctx, llm.Request{
			Model: r.Model, Messages: []llm.Message{llm.Text(llm.RoleUser, "ok")}, Tools: part, MaxTokens: trialTokens, Window: r.Window, Stream: r.Stream,
		}, nil, nil)
		return refusesSchema(err)
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
