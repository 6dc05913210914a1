package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/tools"
	"klawbot/tools/job"
)

// offered are the tools as the turn's model is told about them, sorted by name,
// so that equal requests are equal to the byte. What the policy denies is not
// among them. When there are more than a model shall see, it gets those that
// seem to be of use, the one that finds others, and what that has found.
func (t *turn) offered() []llm.Tool {
	if t.tools == nil {
		all := t.executor.Offered(t.toolCall(llm.ToolCall{}))
		if t.job == nil {
			all = slices.DeleteFunc(all, func(o tools.Tool) bool { return o.Spec().Name == job.DeliverName })
		}
		t.tools = t.choose(all)
	}
	return t.tools
}

func (t *turn) choose(all []tools.Tool) []llm.Tool {
	others := slices.DeleteFunc(slices.Clone(all), func(o tools.Tool) bool { return o.Spec().Name == tools.SearchName })
	chosen := others
	if limit := t.settings.MaxShownTools; limit > 0 && len(others) > limit {
		found := func(o tools.Tool) bool { return slices.Contains(t.found, o.Spec().Name) }
		rest := slices.DeleteFunc(slices.Clone(others), found)
		rest = tools.ForSubtask(rest, t.task(), limit-1-(len(others)-len(rest)))
		chosen = slices.DeleteFunc(all, func(o tools.Tool) bool {
			return o.Spec().Name != tools.SearchName && !found(o) && !slices.ContainsFunc(rest, func(r tools.Tool) bool { return r.Spec().Name == o.Spec().Name })
		})
	}
	offered := make([]llm.Tool, len(chosen))
	for i, o := range chosen {
		text := o.Spec().Text(t.settings.Language)
		offered[i] = llm.Tool{Name: o.Spec().Name, Description: text.Description, Parameters: text.Parameters}
	}
	return offered
}

// task is what the turn was asked to do.
func (t *turn) task() string {
	var b strings.Builder
	for _, m := range t.asked {
		b.WriteString(m.Body.PlainText() + "\n")
	}
	return b.String()
}

// reveal shows the model the tools that a search has found, from now on.
func (t *turn) reveal(c llm.ToolCall, r tools.Result) {
	if c.Name != tools.SearchName || r.Data == nil {
		return
	}
	var names []string
	if err := json.Unmarshal(r.Data, &names); err != nil {
		t.log.Error("search for tools not read", "err", err)
		return
	}
	t.found, t.tools, t.overhead = append(t.found, names...), nil, 0
}
