package match

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"klawbot/tools/budget"
)

// Glob compiles a pattern for paths: * and ? stay inside a directory, ** as a whole
// step is any number of directories, [a-z] and [!a-z] are characters, {a,b} are
// alternatives, a backslash escapes. A pattern that would match too slowly is an error.
func Glob(pattern string) (*Matcher, error) {
	expression, err := glob(pattern)
	if err != nil {
		return nil, err
	}
	return New(expression), nil
}

func glob(pattern string) (*budget.Pattern, error) {
	g := globber{rest: Form(pattern), start: true}
	g.out.WriteString(`(?s)\A(?:`)
	for g.rest != "" {
		g.next()
	}
	g.out.WriteString(`)\z`)
	return budget.Compile(g.out.String())
}

// globber translates a pattern piece by piece. The compiler of the result refuses
// brackets that are not closed.
type globber struct {
	rest string
	out  strings.Builder
	// braces is how many alternatives are open.
	braces int
	// start is true where a name begins.
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

// class translates a set of characters. A bracket that comes first belongs to it.
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
