// Package latex writes formulas as plain text: \frac{a}{b} becomes a/b, x^2 becomes x².
// It knows what models write in answers, not all of LaTeX, and says so when it meets
// anything else.
package latex

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds groups in groups.
const maxDepth = 40

//go:embed symbols.txt
var symbolList string

// symbols are the signs by the names of their commands.
var symbols = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(symbolList) {
		name, sign, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = sign
	}
	return all
}()

// spaces are commands for white space, and how much of it.
var spaces = map[string]string{",": " ", ":": " ", ";": " ", "!": "", " ": " ", ">": " ", "quad": "  ", "qquad": "   ", "~": " ", "space": " "}

// ignored are commands without a text: sizes and styles.
var ignored = words("left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr middle limits nolimits displaystyle textstyle scriptstyle hline nonumber notag centering")

// functions are commands whose text is their name.
var functions = words("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim limsup liminf max min sup inf arg det dim ker deg gcd lcm Pr hom mod bmod")

// plain are commands whose text is that of their group.
var plain = words("text textrm textbf textit texttt textsf mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak boldsymbol bm operatorname mbox boxed fbox underline underbrace overbrace displaylimits mathop mathrel mathbin emph rm bf ensuremath phantom cancel")

// accents are commands that put a combining sign on a letter.
var accents = map[string]string{
	"hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0304", "tilde": "\u0303", "widetilde": "\u0303",
	"vec": "\u20D7", "dot": "\u0307", "ddot": "\u0308", "overrightarrow": "\u20D7", "acute": "\u0301", "check": "\u030C", "not": "\u0338",
}

// doubled are the letters of \mathbb that are in use.
var doubled = strings.NewReplacer("R", "ℝ", "N", "ℕ", "Z", "ℤ", "Q", "ℚ", "C", "ℂ", "P", "ℙ", "H", "ℍ", "E", "𝔼", "F", "𝔽", "1", "𝟙")

// fences are what stands around the rows of an environment.
var fences = map[string][2]string{
	"matrix": {"(", ")"}, "smallmatrix": {"(", ")"}, "pmatrix": {"(", ")"}, "array": {"(", ")"},
	"bmatrix": {"[", "]"}, "Bmatrix": {"{", "}"}, "vmatrix": {"|", "|"}, "Vmatrix": {"‖", "‖"}, "cases": {"{ ", ""},
}

// blocks are environments whose rows are lines.
var blocks = words("align align* aligned alignat gather gather* gathered equation equation* split multline eqnarray")

const (
	raised  = "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻTᵀ′′∗*"
	lowered = "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ"
)

func words(list string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		all[w] = true
	}
	return all
}

// blanks makes line ends of the source, which mean nothing, white space.
var blanks = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// Text writes a formula as text; its rows are lines. ok is false when the formula holds
// what the package does not know, or is not complete.
func Text(source string) (text string, ok bool) {
	p := &parser{rest: blanks.Replace(source)}
	text = p.until("")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), !p.failed && p.rest == ""
}

// parser reads a formula once, from left to right.
type parser struct {
	rest   string
	depth  int
	failed bool
}

// fail ends the reading.
func (p *parser) fail() string {
	p.failed, p.rest = true, ""
	return ""
}

// until reads as far as the end: "}" of a group, "]" of an option, "\end" of an
// environment, or "" of the formula. It takes the end in, too.
func (p *parser) until(end string) string {
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	var b strings.Builder
	for p.rest != "" {
		if end != "" && strings.HasPrefix(p.rest, end) {
			p.rest = p.rest[len(end):]
			return b.String()
		}
		switch p.rest[0] {
		case '^', '_':
			b.WriteString(p.script())
		case '&':
			p.rest = p.rest[1:]
			b.WriteString(" ")
		default:
			b.WriteString(p.atom())
		}
	}
	if end != "" {
		return p.fail()
	}
	return b.String()
}

// atom reads a group, a command or a character.
func (p *parser) atom() string {
	switch c := p.rest[0]; c {
	case '{':
		p.rest = p.rest[1:]
		return p.until("}")
	case '}':
		return p.fail()
	case '\\':
		return p.command()
	case '~':
		p.rest = p.rest[1:]
		return " "
	case '\'':
		p.rest = p.rest[1:]
		return "′"
	}
	_, n := utf8.DecodeRuneInString(p.rest)
	c := p.rest[:n]
	p.rest = p.rest[n:]
	return c
}

// argument reads what a command or a script applies to.
func (p *parser) argument() string {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" {
		return p.fail()
	}
	return strings.TrimSpace(p.atom())
}

// script reads an exponent or an index.
func (p *parser) script() string {
	signs, mark := raised, "^"
	if p.rest[0] == '_' {
		signs, mark = lowered, "_"
	}
	p.rest = p.rest[1:]
	arg := p.argument()
	if arg == "∘" && mark == "^" {
		return "°"
	}
	if small, ok := translated(arg, signs); ok {
		return small
	}
	if utf8.RuneCountInString(arg) > 1 && !wrapped(arg) {
		arg = "(" + arg + ")"
	}
	return mark + arg
}

// translated writes a text in small signs, if all of them exist.
func translated(text, signs string) (small string, ok bool) {
	for _, r := range text {
		i := strings.IndexRune(signs, r)
		if r == ' ' {
			continue
		}
		if i < 0 || utf8.RuneCountInString(signs[:i])%2 == 1 {
			return "", false
		}
		next, _ := utf8.DecodeRuneInString(signs[i+utf8.RuneLen(r):])
		small += string(next)
	}
	return small, small != ""
}

// bracketed puts brackets around what is more than one letter or number.
func bracketed(text string) string {
	simple := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' }) < 0
	if simple || utf8.RuneCountInString(text) == 1 || wrapped(text) {
		return text
	}
	letters := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) }) < 0
	if letters {
		return text
	}
	return "(" + text + ")"
}

// wrapped reports whether one pair of brackets is around all of a text.
func wrapped(text string) bool {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i > 0 && i == len(text)-1
		}
	}
	return false
}

// command reads a backslash and what follows.
func (p *parser) command() string {
	p.rest = p.rest[1:]
	if p.rest == "" {
		return p.fail()
	}
	n := len(p.rest) - len(strings.TrimLeftFunc(p.rest, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }))
	if n == 0 {
		_, n = utf8.DecodeRuneInString(p.rest)
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	sign, known := symbols[name]
	space, isSpace := spaces[name]
	accent, isAccent := accents[name]
	switch {
	case name == "\\" || name == "newline" || name == "cr":
		if strings.HasPrefix(p.rest, "[") { // a distance to the next line
			p.rest = p.rest[1:]
			p.until("]")
		}
		return "\n"
	case known:
		return sign
	case isSpace:
		return space
	case ignored[name]:
		p.rest = strings.TrimPrefix(p.rest, ".") // an invisible bracket
		return ""
	case functions[name]:
		return p.named(name)
	case plain[name]:
		return p.argument()
	case isAccent:
		return accented(p.argument(), accent)
	}
	return p.structure(name)
}

// named sets the name of a function apart from letters beside it.
func (p *parser) named(name string) string {
	name = strings.TrimPrefix(name, "b")
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(p.rest, " ")); unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\\' {
		return " " + name + " "
	}
	return " " + name
}

func accented(text, accent string) string {
	if utf8.RuneCountInString(text) == 1 {
		return text + accent
	}
	return bracketed(text) + accent
}

// structure reads a command with several arguments.
func (p *parser) structure(name string) string {
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		return bracketed(p.argument()) + "/" + bracketed(p.argument())
	case "binom", "dbinom", "tbinom":
		return "C(" + p.argument() + ", " + p.argument() + ")"
	case "sqrt":
		return p.root()
	case "mathbb":
		return doubled.Replace(p.argument())
	case "overset", "stackrel", "underset":
		over, base := p.argument(), p.argument()
		if name == "underset" {
			return base + "_" + bracketed(over)
		}
		return base + "^" + bracketed(over)
	case "xrightarrow":
		return " —" + p.argument() + "→ "
	case "pmod":
		return " (mod " + p.argument() + ")"
	case "tag":
		return "  (" + p.argument() + ")"
	case "label":
		p.argument()
		return ""
	case "textcolor", "color":
		p.argument()
		return p.argument()
	case "begin":
		return p.environment()
	}
	return p.fail()
}

func (p *parser) root() string {
	sign := "√"
	if p.rest = strings.TrimLeft(p.rest, " "); strings.HasPrefix(p.rest, "[") {
		p.rest = p.rest[1:]
		switch degree := p.until("]"); degree {
		case "2":
		case "3":
			sign = "∛"
		case "4":
			sign = "∜"
		default:
			small, ok := translated(degree, raised)
			if !ok {
				small = "^" + bracketed(degree) + " "
			}
			sign = small + sign
		}
	}
	return sign + bracketed(p.argument())
}

// environment reads the rows from \begin to \end.
func (p *parser) environment() string {
	name := p.argument()
	if name == "array" || strings.HasPrefix(name, "alignat") {
		p.argument() // the columns
	}
	content := p.until(`\end{` + name + "}")
	fence, fenced := fences[name]
	if !fenced && !blocks[name] {
		return p.fail()
	}
	var rows []string
	for row := range strings.SplitSeq(content, "\n") {
		if row = strings.Join(strings.Fields(row), " "); row != "" {
			rows = append(rows, row)
		}
	}
	if fenced {
		return fence[0] + strings.Join(rows, "; ") + fence[1]
	}
	return strings.Join(rows, "\n")
}
