package tools

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"klawbot/internal/clip"
)

// ForSubtask picks at most limit tools for a task: those that share the most words with
// its description, then the first ones of the list. The order is kept.
func ForSubtask(all []Tool, description string, limit int) []Tool {
	if len(all) <= limit {
		return all
	}
	type ranked struct{ at, score int }
	ranks := make([]ranked, len(all))
	words := keywords(description)
	for i, t := range all {
		ranks[i] = ranked{i, relevance(t.Spec(), words)}
	}
	slices.SortStableFunc(ranks, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	ranks = ranks[:max(limit, 0)]
	slices.SortFunc(ranks, func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
	picked := make([]Tool, len(ranks))
	for i, r := range ranks {
		picked[i] = all[r.at]
	}
	return picked
}

// The worth of a word that is found in a name, and in a description.
const (
	inName = 5
	inText = 1
)

// relevance counts the words that a tool shares with a description.
func relevance(s Spec, words map[string]bool) int {
	names := keywords(s.Name)
	for _, a := range s.Aliases {
		maps.Copy(names, keywords(a.Name))
	}
	about := map[string]bool{}
	for _, text := range s.Texts {
		maps.Copy(about, keywords(text.Description))
	}
	score := 0
	for w := range words {
		if names[w] {
			score += inName
		}
		if about[w] && len(w) >= stem {
			score += inText
		}
	}
	return score
}

// stem is how many letters two forms of a word share.
const stem = 4

// keywords are the words of a text that say something, cut to their stem.
func keywords(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) >= 3 {
			words[clip.Head(w, stem)] = true
		}
	}
	return words
}
