package memory

// leastWords is from how many words on a question says what it is about.
const leastWords = 2

// Overlap is how much of a question's words a text has, between 0 and 1: what
// stands in for the cosine where there are no vectors. A question of one word is
// about nothing.
func Overlap(question, text string) float64 {
	wanted := queryTerms(question)
	if len(wanted) < leastWords {
		return 0
	}
	has := map[string]bool{}
	for _, term := range terms(text) {
		has[term] = true
	}
	n := 0
	for _, term := range wanted {
		if has[term] {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

// Says reports whether a text is a question that can be searched for: one of some
// words that are not in every text.
func Says(text string) bool { return len(queryTerms(text)) >= leastWords }
