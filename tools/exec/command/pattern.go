package command

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"klawbot/tools/exec/program"
)

// Pattern says which simple commands run unasked. It is written like a command:
// its first word is the name of the program, taken as written; * within another
// is any run of characters, a last word that is only * any further arguments, if
// any, and a pattern that is only * every command. A quoted or escaped * is none.
//
// A * never means what makes a program run something else: the command
// behind a wrapper such as env, the code behind python -c, the option -exec of
// find. Such a pattern must spell it.
type Pattern struct {
	written string
	tokens  []token
	// rest says that further arguments may follow.
	rest bool
	// any says that the pattern is only *.
	any bool
}

// token is a word of a pattern: the texts between its stars.
type token []string

// spelled reports whether the token is one fixed word.
func (t token) spelled() bool { return len(t) == 1 }

// maxPattern bounds a pattern, in bytes.
const maxPattern = 1000

// NewPattern reads a pattern.
func NewPattern(text string) (Pattern, error) {
	p := Pattern{written: text}
	if len(text) > maxPattern {
		return p, fmt.Errorf("a pattern has at most %d bytes", maxPattern)
	}
	tokens, err := tokens(text)
	if err != nil {
		return p, fmt.Errorf("pattern %q: %w", text, err)
	}
	if len(tokens) > 0 && isStar(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
		p.rest, p.any = true, len(tokens) == 0
	}
	p.tokens = tokens
	if len(tokens) > 0 {
		tokens[0] = token{strings.Join(tokens[0], "*")}
		if strings.Contains(tokens[0][0], "=") {
			return p, fmt.Errorf("pattern %q: a command that sets a variable never runs unasked", text)
		}
	}
	return p, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string { return p.written }

func isStar(t token) bool { return len(t) == 2 && t[0] == "" && t[1] == "" }

// tokens are the words of a pattern.
func tokens(text string) ([]token, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	// Behind a command, words that open a loop or a test are words.
	file, err := parse("command " + text)
	if err != nil {
		return nil, err
	}
	notSimple := errors.New("it must be one simple command")
	if len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, notSimple
	}
	s := file.Stmts[0]
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Assigns) > 0 || len(s.Redirs) > 0 || len(s.Comments) > 0 || s.Background || s.Negated || s.Coprocess {
		return nil, notSimple
	}
	var all []token
	for _, w := range c.Args[1:] {
		t, err := tokenOf(w)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// tokenOf is the token that a word of a pattern is.
func tokenOf(w *syntax.Word) (token, error) {
	t := token{""}
	add := func(text string) { t[len(t)-1] += text }
	for _, part := range w.Parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			text, why := literal(&syntax.Word{Parts: []syntax.WordPart{part}})
			if why != "" {
				return nil, errors.New(why)
			}
			add(text)
			continue
		}
		escaped := false
		for _, r := range lit.Value {
			switch {
			case !escaped && r == '\\':
				escaped = true
				continue
			case !escaped && r == '*':
				t = append(t, "")
			default:
				add(string(r))
			}
			escaped = false
		}
	}
	return t, nil
}

// match reports whether a word fits the token. It takes time that grows with the
// length of the word alone.
func (t token) match(word string) bool {
	if t.spelled() {
		return word == t[0]
	}
	first, last := t[0], t[len(t)-1]
	if len(word) < len(first)+len(last) || !strings.HasPrefix(word, first) || !strings.HasSuffix(word, last) {
		return false
	}
	word = word[len(first) : len(word)-len(last)]
	for _, part := range t[1 : len(t)-1] {
		_, rest, found := strings.Cut(word, part)
		if !found {
			return false
		}
		word = rest
	}
	return true
}

// matchPath is match that a path with detours does not deceive: the cleaned path
// must fit as well, and not lead upwards when the token does not.
func (t token) matchPath(word string) bool {
	if !t.match(word) {
		return false
	}
	if t.spelled() || isStar(t) || !strings.Contains(word, "..") {
		return true
	}
	clean := path.Clean(word)
	return t.match(clean) && (!strings.HasPrefix(clean, "..") || strings.HasPrefix(t[0], ".."))
}

// Allows reports whether the pattern allows a program of a pipeline; piped says
// that it reads what another one writes.
func (p Pattern) Allows(argv []string, piped bool) bool {
	if len(argv) == 0 || len(p.tokens) == 0 && !p.any {
		return false
	}
	if len(argv) < len(p.tokens) || len(argv) > len(p.tokens) && !p.rest {
		return false
	}
	for i, t := range p.tokens {
		if !t.matchPath(argv[i]) {
			return false
		}
	}
	c := program.Call{Name: argv[0], Args: argv[1:], Open: p.rest, Piped: piped}
	c.Free = p.free(argv)
	return !c.MayRun()
}

// Idle reports a pattern that no command fits, or none that works, such as "" and "[".
func (p Pattern) Idle() bool {
	argv := []string{""}
	for i, t := range p.tokens {
		argv = append(argv[:i], strings.Join(t, "x"))
	}
	open := argv[0] == "[" && !p.rest && argv[len(argv)-1] != "]"
	return !p.any && (argv[0] == "" || strings.Contains(argv[0], "*") || open || !p.rest && !p.Allows(argv, false))
}

// free says which arguments of a program that fits the pattern it does not spell.
func (p Pattern) free(argv []string) (free []bool) {
	for i := range argv[1:] {
		free = append(free, i+1 >= len(p.tokens) || !p.tokens[i+1].spelled())
	}
	return free
}

// Split parts the arguments of a program that the pattern allows into those that
// it spells, which are the owner's words, and the others.
func (p Pattern) Split(argv []string) (spelled, free []string) {
	for i, is := range p.free(argv) {
		if is {
			free = append(free, argv[i+1])
		} else {
			spelled = append(spelled, argv[i+1])
		}
	}
	return spelled, free
}
