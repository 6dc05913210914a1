package terms

import "slices"

// leastWords is from how many words on a question says what it is about.
const leastWords = 2

// Overlap is how much of a question's words a text has, between 0 and 1. It replaces
// the cosine where there are no vectors. A question of one word is about nothing.
func Overlap(question, text string) float64 {
	wanted := sayings(question)
	if len(wanted) < leastWords {
		return 0
	}
	has := map[string]bool{}
	for _, term := range Of(text) {
		has[term] = true
	}
	n := 0
	for _, w := range wanted {
		if slices.ContainsFunc(slices.Concat(w.Terms, w.Parts), func(t string) bool { return has[t] }) {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

// Says reports whether a text is a question that can be searched for: one of some
// words that are not in every text.
func Says(text string) bool { return len(sayings(text)) >= leastWords }

// sayings are the words of a question, each counted once.
func sayings(text string) []Sought {
	return slices.DeleteFunc(Seek(text), func(s Sought) bool { return s.Extra })
}
