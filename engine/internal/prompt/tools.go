package prompt

import (
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/tools"
)

// choose chooses the tools that the model is told about, sorted by name, so that equal
// requests are equal to the byte. When there are more than a model shall see, it gets
// those that seem to be of use, the one that finds others, and what that has found.
func (w *Window) choose(all []tools.Tool) {
	others := slices.DeleteFunc(slices.Clone(all), func(o tools.Tool) bool { return o.Spec().Name == tools.SearchName })
	chosen := others
	if limit := w.in.Settings.MaxShownTools; limit > 0 && len(others) > limit {
		found := func(o tools.Tool) bool { return slices.Contains(w.found, o.Spec().Name) }
		rest := slices.DeleteFunc(slices.Clone(others), found)
		rest = tools.ForSubtask(rest, w.asked(), limit-1-(len(others)-len(rest)))
		chosen = slices.DeleteFunc(all, func(o tools.Tool) bool {
			return o.Spec().Name != tools.SearchName && !found(o) && !slices.ContainsFunc(rest, func(r tools.Tool) bool { return r.Spec().Name == o.Spec().Name })
		})
	}
	w.Tools = make([]llm.Tool, len(chosen))
	for i, o := range chosen {
		text := o.Spec().Text(w.in.Settings.Language)
		w.Tools[i] = llm.Tool{Name: o.Spec().Name, Description: text.Description, Parameters: text.Parameters}
	}
	w.fixed = w.builder.tokens.Fixed(w.System, w.Tools)
}

// Reveal shows the model some more tools from now on, of all that the turn may call.
func (w *Window) Reveal(names []string, all []tools.Tool) {
	w.found = append(w.found, names...)
	w.choose(all)
}

// asked is what the turn was asked to do.
func (w *Window) asked() string {
	var b strings.Builder
	for _, m := range w.in.Asked {
		b.WriteString(m.Body.PlainText() + "\n")
	}
	return b.String()
}
