package file

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"klawbot/tools/budget"
)

// glob makes a regular expression of a pattern for paths: * and ? stay inside a
// folder, ** as a whole step is any number of folders, [a-z] and [!a-z] are
// characters, {a,b} are alternatives, a backslash takes the next character as
// it is. Whatever the pattern, matching costs time that grows with the length
// of the path only; one that costs too much of it is refused.
func glob(pattern string) (*budget.Pattern, error) {
	g := globber{rest: pattern, start: true}
	g.out.WriteString(`(?s)\A(?:`)
	for g.rest != "" {
		g.next()
	}
	g.out.WriteString(`)\z`)
	return budget.Compile(g.out.String())
}

// globber translates a pattern piece by piece. What is not closed is left to
// the compiler of the result to refuse.
type globber struct {
	rest string
	out  strings.Builder
	// braces is how many alternatives are open.
	braces int
	// start says that a name begins here.
	start bool
}

// put translates the next n bytes.
func (g *globber) put(n int, translated string) {
	g.out.WriteString(translated)
	g.start = g.rest[n-1] == '/' || g.start && g.rest[n-1] == '{'
	g.rest = g.rest[n:]
}

func (g *globber) next() {
	switch c := g.rest[0]; {
	case g.start && strings.HasPrefix(g.rest, "**/"):
		g.put(3, `(?:[^/]+/)*`)
	case g.start && g.rest == "**":
		g.put(2, `.+`)
	case c == '*':
		g.put(1, `[^/]*`)
	case c == '?':
		g.put(1, `[^/]`)
	case c == '[':
		g.class()
	case c == '{':
		g.braces++
		g.put(1, `(?:`)
	case c == ',' && g.braces > 0:
		g.put(1, `|`)
	case c == '}' && g.braces > 0:
		g.braces--
		g.put(1, `)`)
	case c == '\\' && len(g.rest) > 1:
		g.rest = g.rest[1:]
		g.literal()
	default:
		g.literal()
	}
}

func (g *globber) literal() {
	_, n := utf8.DecodeRuneInString(g.rest)
	g.put(n, regexp.QuoteMeta(g.rest[:n]))
}

// class translates a set of characters. A bracket that comes first is in the set.
func (g *globber) class() {
	set, not := g.rest[1:], ""
	if strings.HasPrefix(set, "!") || strings.HasPrefix(set, "^") {
		set, not = set[1:], `^/`
	}
	end := strings.IndexByte(set[min(1, len(set)):], ']') + 1
	if end == 0 {
		g.put(len(g.rest), `[`)
		return
	}
	quoted := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(set[:end])
	g.put(len(g.rest)-len(set)+end+1, `[`+not+quoted+`]`)
}
