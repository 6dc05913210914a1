package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// searched are the words of a query, without the ends that Russian and English words
// change.
func searched(query string) (words []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r := []rune(word)
		if len(r) > 5 && !strings.ContainsFunc(word, unicode.IsDigit) {
			r = r[:len(r)-2]
		}
		words = append(words, string(r))
	}
	return words
}

const (
	// aroundLines is how many lines around a match are shown.
	aroundLines = 1
	// maxLine is how much of a line of a match is shown, in characters.
	maxLine = 600
)

// search adds the passages of a part that hold the words. more is false when no further
// one fits.
func (r *reading) search(n int, p part) (more bool) {
	text := passages(p.title+"\n"+p.text, r.words)
	if text == "" {
		return true
	}
	r.Found++
	if r.chars > 0 && r.chars+utf8.RuneCountInString(text) > r.options.MaxChars {
		if r.Next == 0 {
			r.Next = n
		}
		return true // it is counted all the same
	}
	if cut := []rune(text); len(cut) > r.options.MaxChars {
		text = string(cut[:r.options.MaxChars]) + "…"
	}
	r.write(n, p, text, "")
	return true
}

// passages are the lines that hold all words, or else most of them within a few lines.
func passages(text string, words []string) string {
	lower := strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(lower, w) {
			return ""
		}
	}
	lines := strings.Split(text, "\n")
	keep := make([]bool, len(lines))
	best := 0
	counts := make([]int, len(lines))
	for i := range lines {
		near := strings.ToLower(strings.Join(lines[max(i-aroundLines, 0):min(i+aroundLines+1, len(lines))], "\n"))
		line := strings.ToLower(lines[i])
		for _, w := range words {
			if strings.Contains(line, w) {
				counts[i] += 2
			} else if strings.Contains(near, w) {
				counts[i]++
			}
		}
		best = max(best, counts[i])
	}
	for i, c := range counts {
		if c == best {
			for k := max(i-aroundLines, 0); k < min(i+aroundLines+1, len(lines)); k++ {
				keep[k] = true
			}
		}
	}
	return kept(lines, keep, words)
}

// kept joins the lines to keep, with a sign for a gap.
func kept(lines []string, keep []bool, words []string) string {
	var b strings.Builder
	gap := false
	for i, line := range lines {
		if !keep[i] || strings.TrimSpace(line) == "" {
			gap = gap || !keep[i]
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
			if gap {
				b.WriteString("…\n")
			}
		}
		gap = false
		b.WriteString(around(line, words))
	}
	return b.String()
}

// around is what a long line says around the first of the words.
func around(line string, words []string) string {
	r := []rune(line)
	if len(r) <= maxLine {
		return line
	}
	at := 0
	for _, w := range words {
		// Lower case may have another length in bytes; about there is near enough.
		if i := strings.Index(strings.ToLower(line), w); i >= 0 {
			at = utf8.RuneCountInString(strings.ToLower(line)[:i])
			break
		}
	}
	from := max(0, min(at-maxLine/3, len(r)-maxLine))
	return "…" + string(r[from:min(from+maxLine, len(r))]) + "…"
}
