// Package near finds the names that a misspelled one may mean.
package near

import (
	"cmp"
	"slices"
	"strings"

	"klawbot/internal/clip"
)

// Most is how many near names an error offers.
const Most = 3

// MaxName bounds the names that are compared and quoted, in characters: they are
// untrusted.
const MaxName = 80

// Names returns up to limit of names that are close to name, the closest
// first: few edits away, or one holding the other.
func Names(name string, names []string, limit int) []string {
	name = strings.ToLower(clip.Runes(name, MaxName))
	type candidate struct {
		name     string
		distance int
	}
	var close []candidate
	for _, n := range names {
		n = clip.Runes(n, MaxName)
		d := Distance(name, strings.ToLower(n))
		if len(name) >= 3 && (strings.Contains(n, name) || strings.Contains(name, n)) {
			d = min(d, 2)
		}
		if d <= max(1, min(3, len(n)/2)) {
			close = append(close, candidate{n, d})
		}
	}
	slices.SortStableFunc(close, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	found := make([]string, 0, limit)
	for _, c := range close[:min(limit, len(close))] {
		found = append(found, c.name)
	}
	return found
}

// Distance is the number of single-character edits between two names.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(t)]
}

// DidYouMean is the end of an error that offers near names, or empty.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}
