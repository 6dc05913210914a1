package rule

import (
	"path"
	"slices"
	"strings"

	"klawbot/tools/budget"
	"klawbot/tools/file/match"
)

// shellWords splits a command line into operators and words without their quotes. It is
// no shell: nothing is expanded, and an open quote ends with the text.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	started, escaped := false, false
	end := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	for _, r := range line {
		switch {
		case escaped:
			escaped, started = false, true
			if r != '\n' {
				word.WriteRune(r)
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case strings.ContainsRune(" \t\r", r):
			end()
		case strings.ContainsRune(operators, r):
			end()
			words = append(words, string(r))
		default:
			started = true
			word.WriteRune(r)
		}
	}
	end()
	return words
}

const (
	// separators part one command of a line from the next.
	separators = ";|&\n()"
	operators  = separators + "<>"
)

func separates(word string) bool { return len(word) == 1 && strings.Contains(separators, word) }

// inCommand reports whether a command holds the forbidden words in their order.
// Other words may stand between them, but not another command.
func (f *forbidden) inCommand(line string, steps *budget.Budget) bool {
	if f.pattern != nil {
		return f.pattern.Match(steps, line)
	}
	if !steps.Spend(1 + len(line)) {
		return false
	}
	words := shellWords(line)
	for i := 0; i < len(words); i++ {
		if f.follows(words[i:]) {
			return true
		}
		for i < len(words) && !separates(words[i]) {
			i++ // a later start in the same command finds no more
		}
	}
	return false
}

// follows reports whether the forbidden words stand in the first command of words.
func (f *forbidden) follows(words []string) bool {
	next := 0
	for _, w := range words {
		if sameWord(f.words[next], w) {
			if next++; next == len(f.words) {
				return true
			}
		} else if separates(w) {
			return false
		}
	}
	return false
}

// sameWord compares a forbidden word with one of a command: as written, as
// the name of a program with its folder, or as a path after cleaning.
func sameWord(forbidden, word string) bool {
	switch {
	case forbidden == word:
		return true
	case isPath(forbidden):
		return holdsPath(word, forbidden)
	case strings.Contains(word, "/"):
		return path.Base(word) == forbidden
	}
	return false
}

// isPath reports whether a forbidden word is meant as a path.
func isPath(word string) bool {
	return strings.Contains(word, "/") || len(word) > 1 && strings.HasPrefix(word, ".")
}

// inPath reports whether a path is forbidden, or lies below one that is.
func (f *forbidden) inPath(name string, steps *budget.Budget) bool {
	if f.pattern != nil {
		return f.pattern.Match(steps, name) || f.pattern.Match(steps, cleaned(name))
	}
	return steps.Spend(1+len(name)) && len(f.words) == 1 && holdsPath(name, f.words[0])
}

// holdsPath reports whether the elements of a forbidden path stand together in
// a name. An absolute one must stand at its beginning.
func holdsPath(name, forbidden string) bool {
	have, want := cleaned(name), cleaned(forbidden)
	if want == "/" {
		return have == "/"
	}
	if strings.HasPrefix(want, "/") {
		return have == want || strings.HasPrefix(have, want+"/")
	}
	return strings.Contains("/"+strings.TrimPrefix(have, "/")+"/", "/"+want+"/")
}

// cleaned is a path with slashes and without detours. Names that look the same are one
// file for the file tools, so they are compared in one form.
func cleaned(name string) string {
	name = strings.ReplaceAll(strings.TrimSpace(match.Form(name)), `\`, "/")
	elements := strings.Split(name, "/")
	if slices.ContainsFunc(elements, func(e string) bool { return e == "" || e == "." || e == ".." }) {
		return path.Clean(name)
	}
	return name
}
