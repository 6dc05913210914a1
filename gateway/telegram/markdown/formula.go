package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/gateway/telegram/markdown/latex"
)

// firstFormula is the first of the private characters that stand for the formulas of a
// section while it is parsed: Markdown must not touch what is in them.
const firstFormula, lastFormula = '\U00100000', '\U0010FFFD'

const (
	// maxFormula bounds one formula, in bytes.
	maxFormula = 4 << 10
	// maxMisses bounds the marks of a section that begin no formula: each is looked at
	// as far as maxFormula.
	maxMisses = 100
)

// formula is LaTeX in an answer. text is how it is shown; one that cannot be read as
// text is shown as its source, to be copied.
type formula struct {
	source, text string
	readable     bool
}

// formulas takes the formulas out of a text, outside of code, and puts a private
// character in the place of each.
func formulas(md string) (string, []formula) {
	if !strings.Contains(md, `\`) && strings.Count(md, "$") < 2 {
		return md, nil
	}
	var all []formula
	var b strings.Builder
	fence, misses := "", 0
	for i := 0; i < len(md); {
		if i == 0 || md[i-1] == '\n' {
			end := i + strings.IndexByte(md[i:]+"\n", '\n')
			open := fence
			fence = nextFence(md[i+len(linePrefix.FindString(md[i:end])):end], fence)
			if fence != "" || open != "" {
				end = min(end+1, len(md))
				b.WriteString(md[i:end])
				i = end
				continue
			}
		}
		n := 1
		switch md[i] {
		case '`':
			n = len(codeSpan(paragraph(md[i:min(len(md), i+maxFormula)])))
		case '\\', '$':
			if misses++; misses <= maxMisses {
				if f, known := formulaAt(md, i); known && len(all) < lastFormula-firstFormula {
					b.WriteRune(firstFormula + rune(len(all)))
					all = append(all, f)
					i += len(f.source)
					misses--
					continue
				}
			}
			if md[i] == '\\' && i+1 < len(md) && md[i+1] < utf8.RuneSelf && md[i+1] != '\n' {
				n = 2 // an escape
			}
		}
		b.WriteString(md[i : i+n])
		i += n
	}
	return b.String(), all
}

// paragraph is the beginning of a text as far as the next blank line.
func paragraph(md string) string {
	if end := strings.Index(md, "\n\n"); end >= 0 {
		return md[:end]
	}
	return md
}

var environment = regexp.MustCompile(`^\\begin\{([a-zA-Z]+\*?)\}`)

// formulaAt reads the formula that begins at a place, if one does.
func formulaAt(md string, at int) (f formula, ok bool) {
	rest := md[at:min(len(md), at+maxFormula)]
	switch {
	case strings.HasPrefix(rest, `\(`):
		return between(rest, `\(`, `\)`, isInline)
	case strings.HasPrefix(rest, `\[`):
		return between(rest, `\[`, `\]`, isDisplay)
	case strings.HasPrefix(rest, "$$"):
		return between(rest, "$$", "$$", func(s string) bool { return isDisplay(s) || utf8.RuneCountInString(s) == 1 && s != " " })
	case rest[0] == '$':
		before, _ := utf8.DecodeLastRuneInString(md[:at])
		return dollars(paragraph(rest), before)
	}
	m := environment.FindStringSubmatch(rest)
	if m == nil {
		return f, false
	}
	end := strings.Index(rest, `\end{`+m[1]+"}")
	if end < 0 {
		return halfFormula(rest)
	}
	end += len(`\end{` + m[1] + "}")
	return newFormula(rest[:end], rest[:end]), true
}

// between reads a formula between two marks, when it is one.
func between(rest, open, end string, is func(string) bool) (f formula, ok bool) {
	content, after, found := strings.Cut(rest[len(open):], end)
	if !found {
		return halfFormula(rest)
	}
	if open == `\(` && strings.Contains(content, "\n\n") {
		return f, false
	}
	content = unquoted(content)
	if !is(content) || strings.HasPrefix(after, "(") && open == `\[` { // brackets of a link
		return f, false
	}
	return newFormula(rest[:len(rest)-len(after)], content), true
}

// halfFormula is the beginning of a formula at the end of a text, whose end has not come
// yet, as it is written.
func halfFormula(rest string) (f formula, ok bool) {
	if len(rest) == maxFormula || len(paragraph(rest)) < len(rest) {
		return f, false
	}
	return formula{rest, rest, true}, surelyLatex.MatchString(rest[2:])
}

// unquoted takes the marks of quotes off the lines of a formula.
func unquoted(content string) string {
	lines := strings.Split(content, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = strings.TrimLeft(lines[i], " \t>")
	}
	return strings.Join(lines, "\n")
}

func newFormula(source, content string) formula {
	text, ok := latex.Text(content)
	return formula{source, text, ok && !isBlank(text)}
}

var (
	latexCommand = regexp.MustCompile(`\\[a-zA-Z]`)
	surelyLatex  = regexp.MustCompile(`[\^_]\{|\\(begin|[dt]?frac|sqrt|sum|prod|int|lim|left|text|math[a-z]+|vec|hat|cdot|times|quad|alpha|beta)\b`)
	longWord     = regexp.MustCompile(`[a-zA-Z]{3}`)
	twoLetters   = regexp.MustCompile(`[a-zA-Z]{2}`)
)

func hasCommand(s string) bool { return latexCommand.MatchString(s) }

// isInline tells a formula from brackets that were escaped for nothing.
func isInline(s string) bool {
	return hasCommand(s) || strings.TrimSpace(s) != "" && !longWord.MatchString(s)
}

// isDisplay is the same for marks that people use in other ways, too.
func isDisplay(s string) bool {
	return hasCommand(s) || !longWord.MatchString(s) && strings.ContainsAny(s, "^_=+<>")
}

// dollars reads a formula between single dollar signs. Sums of money, variables of a
// shell and multiplications of a program stay as they are.
func dollars(rest string, before rune) (f formula, ok bool) {
	line, _, _ := strings.Cut(rest[1:], "\n")
	end := 0
	for end < len(line) && line[end] != '$' {
		if line[end] == '\\' {
			end++ // a sum in the formula
		}
		end++
	}
	found := end < len(line)
	content, after := line[:min(end, len(line))], line[min(end+1, len(line)):]
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case !found, content == "", strings.TrimSpace(content) != content, strings.HasSuffix(content, `\`):
	case isAlnumRune(before), before == '$', before == '\\', isAlnumRune(next), next == '$', next == '_':
	case hasCommand(content), strings.HasPrefix(content, `\$`), !longWord.MatchString(content) && isPlainMath(content):
		f = newFormula(rest[:len(content)+2], content)
		if !f.readable {
			f.text, f.readable = f.source, true
		}
		return f, true
	}
	return f, false
}

// isPlainMath reports formulas without commands that can be nothing else.
func isPlainMath(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case strings.ContainsAny(s, "*|"):
		return false
	case strings.Contains(s, "^"):
		return true
	}
	return !twoLetters.MatchString(s) && (unicode.IsLetter(first) || first == '(')
}

// restored puts the sources back into a text that is no place for formulas.
func restored(s string, all []formula) string {
	if len(all) == 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if i := int(r - firstFormula); 0 <= i && i < len(all) {
			b.WriteString(all[i].source)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// text writes a text with its formulas.
func (r mdRenderer) text(s string) {
	for s != "" {
		at := strings.IndexFunc(s, func(c rune) bool { return c >= firstFormula && int(c-firstFormula) < len(r.out.formulas) })
		if at < 0 {
			break
		}
		r.out.write(s[:at])
		c, n := utf8.DecodeRuneInString(s[at:])
		r.formula(r.out.formulas[c-firstFormula])
		s = s[at+n:]
	}
	r.out.write(s)
}

func (r mdRenderer) formula(f formula) {
	if !f.readable {
		r.out.styled(code, "", func() { r.out.write(f.source) })
		return
	}
	for i, line := range strings.Split(f.text, "\n") {
		if i > 0 {
			r.out.newline()
		}
		r.out.write(line)
	}
}
