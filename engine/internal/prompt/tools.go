package prompt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/tools"
	"klawbot/tools/find"
	"klawbot/tools/job"
)

const (
	// mostExtras is how many tools a conversation shows beside the usual ones; at more, the
	// least called half goes in one step, because each change of the list costs the
	// provider's cache.
	mostExtras = 12
	// preselected and preselectedFew bound how many a message adds.
	preselected, preselectedFew = 4, 2
)

// shown are the tools that a model sees: first the usual ones by name, then the one
// that finds others, then what was added in this conversation as it came. The list only
// grows, so that requests stay equal to the byte.
type shown struct {
	// how is find.ShowAuto, ShowFew or ShowAll.
	how string
	// extras are what was added; since is the summary of the conversation, and changed
	// says that there is something to store.
	extras  []store.ShownTool
	since   int64
	changed bool
}

// resume begins with what the conversation has shown so far.
func (s *shown) resume(kept store.ShownTools, since int64) {
	s.since = since
	if kept.Since == since {
		s.extras = slices.Clone(kept.Tools)
	}
}

// restart forgets what was added before the summary that the past has now.
func (s *shown) restart(since int64) {
	s.extras, s.since, s.changed = nil, since, true
}

// add adds tools that are not there yet.
func (s *shown) add(names ...string) {
	for _, name := range names {
		if slices.ContainsFunc(s.extras, func(t store.ShownTool) bool { return t.Name == name }) {
			continue
		}
		if len(s.extras) >= mostExtras {
			s.halve()
		}
		s.extras, s.changed = append(s.extras, store.ShownTool{Name: name}), true
	}
}

// halve drops the half that was called least, of equals the older ones.
func (s *shown) halve() {
	least := slices.Clone(s.extras)
	slices.SortStableFunc(least, func(a, b store.ShownTool) int { return cmp.Compare(a.Calls, b.Calls) })
	least = least[:len(least)/2]
	s.extras = slices.DeleteFunc(s.extras, func(t store.ShownTool) bool {
		return slices.ContainsFunc(least, func(l store.ShownTool) bool { return l.Name == t.Name })
	})
}

// preselect adds the tools that the message asks for, before any model is asked.
func (w *Window) preselect(ctx context.Context) {
	if w.in.Directed || w.shown.how == find.ShowAll {
		return
	}
	most := preselected
	if w.shown.how == find.ShowFew {
		most = preselectedFew
	}
	_, hidden := w.split()
	for _, t := range find.Preselect(ctx, hidden, w.question(), most, w.nearness()) {
		w.shown.add(t.Spec().Name)
	}
	if llm.HasPictures(w.Asked) && w.tool(ImageLook) != nil {
		w.shown.add(ImageLook)
	}
}

// nearness compares by meaning, unless so many turns run that their vectors would take
// the processor from them.
func (w *Window) nearness() find.Nearness {
	if memories := w.builder.config.Memory; memories.Idle.Count() < crowded {
		return memories.Nearness
	}
	return nil
}

// split are the tools that are always shown, by name, and the others but tool_search.
func (w *Window) split() (usual, others []tools.Tool) {
	core, always := find.Core(w.shown.how), w.always()
	for _, t := range w.in.Tools {
		switch s := t.Spec(); {
		case s.Name == find.SearchName:
		case slices.Contains(core, s.Name) || s.Name == job.DeliverName || s.Server.Always && always[s.Server.Name] <= tools.MostAlways:
			usual = append(usual, t)
		default:
			others = append(others, t)
		}
	}
	return usual, others
}

// always counts the tools that the owner wants always shown, by server.
func (w *Window) always() map[string]int {
	n := map[string]int{}
	for _, t := range w.in.Tools {
		if s := t.Spec(); s.Server.Always {
			n[s.Server.Name]++
		}
	}
	return n
}

// choose chooses the tools that the model is told about.
func (w *Window) choose() {
	language := w.in.Settings.Language
	w.Tools = nil
	if w.shown.how == find.ShowAll {
		for _, t := range w.fitting() {
			w.show(t, t.Spec().Text(language))
		}
	} else {
		usual, others := w.split()
		for _, t := range usual {
			w.show(t, find.Brief(t.Spec(), language))
		}
		if search := w.tool(find.SearchName); search != nil && len(others) > 0 {
			w.show(search, find.Listed(search, others, language))
		}
		for _, extra := range w.shown.extras {
			if i := slices.IndexFunc(others, func(t tools.Tool) bool { return t.Spec().Name == extra.Name }); i >= 0 {
				w.show(others[i], find.Brief(others[i].Spec(), language))
			}
		}
	}
	w.fixed = w.builder.tokens.Fixed(w.System, w.Tools)
}

func (w *Window) show(t tools.Tool, text tools.Text) {
	w.Tools = append(w.Tools, llm.Tool{Name: t.Spec().Name, Description: text.Description, Parameters: text.Parameters})
}

// tool is one of those that the turn may call, nil when it is none of them.
func (w *Window) tool(name string) tools.Tool {
	if i := slices.IndexFunc(w.in.Tools, func(t tools.Tool) bool { return t.Spec().Name == name }); i >= 0 {
		return w.in.Tools[i]
	}
	return nil
}

// fitting are all tools by name or, when there are more than a model is to see, those
// that seem to be of use, the one that finds others, and what that has found.
func (w *Window) fitting() []tools.Tool {
	others := slices.DeleteFunc(slices.Clone(w.in.Tools), func(o tools.Tool) bool { return o.Spec().Name == find.SearchName })
	limit := w.in.Settings.Models.MaxShownTools
	if limit <= 0 || len(others) <= limit {
		return others
	}
	found := func(o tools.Tool) bool {
		return slices.ContainsFunc(w.shown.extras, func(t store.ShownTool) bool { return t.Name == o.Spec().Name })
	}
	rest := slices.DeleteFunc(slices.Clone(others), found)
	rest = find.ForSubtask(rest, w.asked(), limit-1-(len(others)-len(rest)))
	return slices.DeleteFunc(slices.Clone(w.in.Tools), func(o tools.Tool) bool {
		return o.Spec().Name != find.SearchName && !found(o) && !slices.ContainsFunc(rest, func(r tools.Tool) bool { return r.Spec().Name == o.Spec().Name })
	})
}

// Reveal shows the model some more tools from now on.
func (w *Window) Reveal(names []string) {
	w.shown.add(names...)
	w.choose()
}

// ShownNames are the names of the tools that a model sees, none before the window is
// built and where no model is asked.
func (w *Window) ShownNames() []string {
	if w == nil || w.in.Directed {
		return nil
	}
	names := make([]string, len(w.Tools))
	for i, t := range w.Tools {
		names[i] = t.Name
	}
	return names
}

// Brief reports whether the model sees tools in their short form.
func (w *Window) Brief() bool { return w.shown.how != find.ShowAll }

// Called counts a call of a tool, so that what is used stays shown.
func (w *Window) Called(name string) {
	for i := range w.shown.extras {
		if w.shown.extras[i].Name == name {
			w.shown.extras[i].Calls++
			w.shown.changed = true
		}
	}
}

// Store stores what the conversation shows from now on.
func (w *Window) Store(tx *store.Tx) error {
	if w.in.Session == 0 || !w.shown.changed || w.shown.how == find.ShowAll {
		return nil
	}
	return tx.Sessions().SetShownTools(w.in.Session, store.ShownTools{Since: w.shown.since, Tools: w.shown.extras})
}

// asked is what the turn was asked to do.
func (w *Window) asked() string {
	var b strings.Builder
	for _, m := range w.in.Asked {
		b.WriteString(m.Body.PlainText() + "\n")
	}
	return b.String()
}
