package voice

import (
	"regexp"
	"strings"
	"unicode"
)

// What is not spoken of a text in Markdown, and what is spoken instead.
var unspoken = []struct {
	shape   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile("(?s)```.*?(```|$)"), " "},
	{regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`), "$1"},
	{regexp.MustCompile(`https?://\S+`), " "},
	{regexp.MustCompile(`(?m)^\s*(#+|[-*•>]|\d+[.)])\s+`), ""},
	{regexp.MustCompile("[*_~`|#]+"), " "},
}

// plain is a text as it is spoken: without formatting, code, addresses and signs that no
// voice knows. Each line is a sentence.
func plain(text string) string {
	for _, u := range unspoken {
		text = u.shape.ReplaceAllString(text, u.instead)
	}
	text = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || unicode.Is(unicode.Cf, r)) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shortened cuts a text behind a sentence, else behind a word; most 0 cuts nothing.
func shortened(text string, most int) string {
	runes := []rune(text)
	if most <= 0 || len(runes) <= most {
		return text
	}
	cut := string(runes[:most])
	if at := strings.LastIndexAny(cut, ".!?\n"); at > len(cut)/2 {
		return cut[:at+1]
	}
	if at := strings.LastIndex(cut, " "); at > 0 {
		return cut[:at]
	}
	return cut
}

// clause is a part of a sentence with the sign behind it, which decides its melody.
type clause struct {
	text string
	sign string
	ends bool // the sentence
}

// clauses cuts a plain text into what is spoken in one breath.
func clauses(text string) (all []clause) {
	add := func(words, sign string, ends bool) {
		if words = strings.TrimSpace(words); words != "" {
			all = append(all, clause{words, sign, ends})
		} else if ends && len(all) > 0 {
			all[len(all)-1].ends = true
		}
	}
	for line := range strings.Lines(text) {
		begin := 0
		for at, r := range line {
			// A sign inside a number or a name is none.
			next := strings.TrimLeft(line[at:], ".!?,;:…")
			if !strings.ContainsRune(".!?,;:…", r) || next != "" && !unicode.IsSpace(rune(next[0])) {
				continue
			}
			sign := string(r)
			if r == '…' {
				sign = "."
			}
			add(line[begin:at], sign, strings.ContainsRune(".!?…", r))
			begin = at + len(string(r))
		}
		add(line[begin:], ".", true)
	}
	return all
}
