package terms

import "slices"

// leastWords is from how many words on a question says what it is about.
const leastWords = 2

// Question is the words of a question, each once.
type Question []Sought

// Ask reads a question.
func Ask(text string) Question {
	return slices.DeleteFunc(Seek(text), func(s Sought) bool { return s.Extra })
}

// Says reports whether a question can be searched for: it has some words that are not in
// every text.
func (q Question) Says() bool { return len(q) >= leastWords }

// Overlap is how much of a question's words a text has, between 0 and 1. It replaces
// the cosine where there are no vectors. A question of one word is about nothing.
func (q Question) Overlap(text string) float64 {
	if !q.Says() {
		return 0
	}
	has := map[string]bool{}
	for _, term := range Of(text) {
		has[term] = true
	}
	in := func(t string) bool { return has[t] }
	n := 0
	for _, w := range q {
		if slices.ContainsFunc(w.Terms, in) || slices.ContainsFunc(w.Parts, in) {
			n++
		}
	}
	return float64(n) / float64(len(q))
}
