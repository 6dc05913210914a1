package find

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/choice"
)

// How many tools a model is shown: ShowAuto those for every day, ShowFew those that a
// small model copes with, both with further ones for what was asked; ShowAll all.
const (
	ShowAuto = "auto"
	ShowFew  = "few"
	ShowAll  = "all"
)

// Core are the tools that are always shown, by name.
func Core(show string) []string {
	switch show {
	case ShowAll:
		return nil
	case ShowFew:
		return []string{
			"current_time", "file_read", "file_write", "memory_save", "memory_search", "schedule_add", "schedule_list", "schedule_remove",
		}
	}
	return []string{
		"current_time", "docs_search", "file_edit", "file_list", "file_read", "file_search", "file_undo", "file_write", "history_search",
		"http_request", "memory_core_update", "memory_forget", "memory_save", "memory_search", "schedule_add", "schedule_list",
		"schedule_manage", "schedule_remove", "send_file", "shell", "skill_load", "web_search",
	}
}

// Preselect are the tools, most at most, that a message asks for by the words that
// people use for what they do, the surest first. One more may come because it shares
// many words with the message although no phrase is met.
func Preselect(ctx context.Context, all []tools.Tool, message string, most int, near Nearness) []tools.Tool {
	m := choice.Read(message)
	close, likely := near.of(ctx, message, all), likeliest(all, message)
	return best(all, most, func(t tools.Tool) float64 {
		s := t.Spec()
		if score := asked(s, m); score > 0 {
			return score
		}
		if n := close[s.Name]; n >= surelyNear {
			return n // below any score by words
		}
		if s.Name == likely {
			return surelyNear
		}
		return 0
	})
}

// When a message surely means the tool that it shares the most words with: the words are
// worth this much, this many times as much as those of the next tool, and the message is
// no pasted text, which shares words with everything.
const (
	surelyShared = 5
	surelyMore   = 1.25
	shortMessage = 40 // words
)

// likeliest is the tool of ours that shares by far the most words with a message, or "".
func likeliest(all []tools.Tool, message string) (name string) {
	if len(strings.Fields(message)) > shortMessage {
		return ""
	}
	ours := slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool { return foreign(t) > 0 })
	shared, top, second := sharedWords(ours, message), 0.0, 0.0
	for _, t := range ours {
		switch n := shared[t.Spec().Name]; {
		case n > top:
			name, top, second = t.Spec().Name, n, top
		case n > second:
			second = n
		}
	}
	if top < surelyShared || top < surelyMore*second {
		return ""
	}
	return name
}

// Nearness is how near texts are to a question, 0 to 1, or nil when there is no model
// that knows; see recall.Memory.
type Nearness func(ctx context.Context, question string, texts []string) []float64

// surelyNear is from when a tool is what a message asks for although no word says so.
const surelyNear = 0.14

// of is how near a message is to what each tool does, by name; nil is unknown.
func (n Nearness) of(ctx context.Context, message string, all []tools.Tool) map[string]float64 {
	if n == nil || len(all) == 0 || strings.TrimSpace(message) == "" {
		return nil
	}
	texts := make([]string, len(all))
	for i, t := range all {
		texts[i] = t.Spec().Text(tools.English).Description
	}
	near := n(ctx, message, texts)
	if near == nil {
		return nil
	}
	by := map[string]float64{}
	for i, t := range all {
		by[t.Spec().Name] = near[i]
	}
	return by
}

// sure is the score from which a tool is what was asked for.
const sure = 1

// asked says how much a message asks for a tool by its words, 0 when it is not sure. A
// tool without words has those of its name, and two must stand in the message.
func asked(s tools.Spec, m *choice.Message) float64 {
	score, has := 0.0, false
	for _, t := range s.Texts {
		has = has || len(t.Words) > 0
		score += t.Words.Score(m)
	}
	if !has {
		const least, worth = 2, 0.5
		if n := m.Count(nameWords(s.Name)); n >= least {
			score = worth * float64(n)
		}
	}
	if score < sure {
		return 0
	}
	return score
}

// nameWords are the words of a tool's name that say what it does.
func nameWords(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "_"), func(w string) bool { return len(w) < 3 || w == "mcp" || w == "get" || w == "list" })
}

// Tools are the tools, most at most, that fit what is looked for, the best first, of
// several families. When none fits, they are the usual ones of ours: a model that asks in
// poor words sees what there is.
func Tools(ctx context.Context, all []tools.Tool, query string, most int, near Nearness) []tools.Tool {
	if strings.TrimSpace(query) == "" {
		return nil
	}
	fit := spread(fitting(ctx, all, query, len(all), near))
	if len(fit) == 0 {
		fit = best(all, most, func(t tools.Tool) float64 {
			if i := slices.Index(usual, t.Spec().Name); i >= 0 && foreign(t) == 0 {
				return float64(len(usual) - i)
			}
			return 0
		})
	}
	return fit[:min(most, len(fit))]
}

// usual are the tools that are wanted most of those which may be hidden, one of each
// family first.
var usual = []string{
	"web_search", "code_execute", "shell", "docs_search", "history_search", "config", "git", "browser", "send_message", "http_request",
	"file_search", "self_info",
}

// spread puts tools of ours behind the others of which two of the same family come
// before them: one family must not take all places.
func spread(ranked []tools.Tool) []tools.Tool {
	const each = 2
	var first, later []tools.Tool
	seen := map[string]int{}
	for _, t := range ranked {
		family, _, _ := strings.Cut(t.Spec().Name, "_")
		if foreign(t) == 0 {
			seen[family]++
		}
		if seen[family] > each {
			later = append(later, t)
			continue
		}
		first = append(first, t)
	}
	return append(first, later...)
}

// fitting are the tools, most at most, that fit what is looked for, the best first: by
// their words, their names, their descriptions and by their meaning. Of two that fit as
// well ours comes first.
func fitting(ctx context.Context, all []tools.Tool, query string, most int, near Nearness) []tools.Tool {
	const meaning = 20
	const words = 4 // a phrase that people say counts for more than single words
	m, wanted := choice.Read(query), choice.ReadKeywords(query)
	close, shared := near.of(ctx, query, all), sharedWords(all, query)
	return best(all, most, func(t tools.Tool) float64 {
		s := t.Spec()
		score := meaning*max(0, close[s.Name]) + shared[s.Name]
		for _, text := range s.Texts {
			score += words * text.Words.Score(m)
		}
		names := namesOf(s)
		for w := range wanted {
			if names[w] {
				score += inName
			}
		}
		return score
	})
}

// sharedWords says by name how many words of a text stand in what is known of each tool;
// one that few tools have counts for more.
func sharedWords(all []tools.Tool, text string) map[string]float64 {
	specs := withKeywords(all)
	shared := map[string]float64{}
	for _, w := range slices.Sorted(maps.Keys(choice.ReadKeywords(text))) { // sums in one order are the same
		var with []string
		for _, s := range specs {
			if has(s, w) {
				with = append(with, s.Name)
			}
		}
		for _, name := range with {
			shared[name] += math.Log(1 + float64(len(all))/float64(len(with)))
		}
	}
	return shared
}

// best are the tools with the highest scores above 0, most at most. Ours come before
// others with the same score, then the order of the list counts.
func best(all []tools.Tool, most int, score func(tools.Tool) float64) []tools.Tool {
	type ranked struct {
		tool  tools.Tool
		score float64
	}
	var ranks []ranked
	for _, t := range all {
		if n := score(t); n > 0 {
			ranks = append(ranks, ranked{t, n})
		}
	}
	slices.SortStableFunc(ranks, func(a, b ranked) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(foreign(a.tool), foreign(b.tool))
	})
	ranks = ranks[:min(most, len(ranks))]
	found := make([]tools.Tool, len(ranks))
	for i, r := range ranks {
		found[i] = r.tool
	}
	return found
}

// foreign is 1 for a tool of a server or plugin, which has no short form, else 0.
func foreign(t tools.Tool) int {
	if t.Spec().Text(tools.English).Short == "" {
		return 1
	}
	return 0
}

// ForSubtask picks at most limit tools for a task: those that share the most words with
// its description, then the first ones of the list. The order is kept.
func ForSubtask(all []tools.Tool, description string, limit int) []tools.Tool {
	if len(all) <= limit {
		return all
	}
	fit := fitting(context.Background(), all, description, max(limit, 0), nil)
	for _, t := range all {
		if len(fit) < limit && !slices.ContainsFunc(fit, func(f tools.Tool) bool { return f.Spec().Name == t.Spec().Name }) {
			fit = append(fit, t)
		}
	}
	slices.SortFunc(fit, func(a, b tools.Tool) int { return cmp.Compare(a.Spec().Name, b.Spec().Name) })
	return fit
}

// inName is the worth of a word that is found in a tool's name.
const inName = 2

// namesOf are the words of a tool's names.
func namesOf(s tools.Spec) choice.Keywords {
	names := choice.ReadKeywords(s.Name)
	for _, a := range s.Aliases {
		maps.Copy(names, choice.ReadKeywords(a.Name))
	}
	return names
}

// has reports whether a word stands in what is known of a tool. Those of ours were read
// once, with their texts.
func has(s tools.Spec, word string) bool {
	for _, text := range s.Texts {
		if text.Keywords[word] {
			return true
		}
	}
	return false
}

// withKeywords are the specs of tools, with the keywords of texts that are not ours.
func withKeywords(all []tools.Tool) []tools.Spec {
	specs := make([]tools.Spec, len(all))
	for i, t := range all {
		s := t.Spec()
		for language, text := range s.Texts {
			if text.Keywords == nil {
				text.Keywords = choice.ReadKeywords(text.Description)
				s.Texts = maps.Clone(s.Texts)
				s.Texts[language] = text
			}
		}
		specs[i] = s
	}
	return specs
}
