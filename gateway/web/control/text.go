package control

import (
	_ "embed" // the texts
	"strings"
	"sync"
)

//go:embed texts.txt
var textsFile string

// Texts are the texts of the pages by key, in English and Russian.
var Texts = ReadTexts(textsFile)

// ReadTexts reads texts: a line each, the key, English and Russian.
func ReadTexts(file string) map[string][2]string {
	all := map[string][2]string{}
	for _, row := range rows(file) {
		all[row[0]] = [2]string{row[1], row[2]}
	}
	return all
}

// rows are the lines of a file of texts, split at their bars.
func rows(file string) (all [][]string) {
	for line := range strings.Lines(file) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, strings.Split(line, " | "))
		}
	}
	return all
}

//go:embed phrases.txt
var phrasesFile string

// phrases are texts of the engine in English, with blanks %s, and in Russian with the same
// blanks in the same order. The first that fits counts.
var phrases = sync.OnceValue(func() [][]string { return rows(phrasesFile) })

// russian is a text of the engine in Russian, part by part. What it does not know stays
// English.
func russian(text string) string {
	if parts := strings.Split(text, "; "); len(parts) > 1 {
		return inRussian(parts, "; ")
	}
	for _, p := range phrases() {
		if parts, fits := blanks(p[0], text); fits {
			return filledIn(p[1], parts)
		}
	}
	if parts := strings.Split(text, ", "); len(parts) > 1 {
		return inRussian(parts, ", ")
	}
	return text
}

func inRussian(parts []string, mark string) string {
	for i := range parts {
		parts[i] = russian(parts[i])
	}
	return strings.Join(parts, mark)
}

// blanks are what stands in a text where a pattern has blanks.
func blanks(pattern, text string) (parts []string, fits bool) {
	fixed := strings.Split(pattern, "%s")
	rest, fits := strings.CutPrefix(text, fixed[0])
	for i := 1; i < len(fixed) && fits; i++ {
		at := strings.Index(rest, fixed[i])
		if i == len(fixed)-1 {
			at = len(rest) - len(fixed[i])
		}
		if fits = at > 0 && strings.HasSuffix(rest[:at+len(fixed[i])], fixed[i]); fits {
			parts, rest = append(parts, rest[:at]), rest[at+len(fixed[i]):]
		}
	}
	return parts, fits && rest == ""
}

// filledIn is a pattern with its blanks filled, each in Russian.
func filledIn(pattern string, parts []string) string {
	var b strings.Builder
	for i, fixed := range strings.Split(pattern, "%s") {
		if i > 0 {
			b.WriteString(russian(parts[i-1]))
		}
		b.WriteString(fixed)
	}
	return b.String()
}
