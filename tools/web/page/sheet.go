package page

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
)

// The limits of the style sheets of a page.
const (
	maxRules    = 1000 // selectors; with more, all sheets are ignored
	maxParts    = 16   // steps of a selector
	maxSelector = 300  // bytes
	maxNested   = 8    // blocks in blocks
)

// property is a property that can hide a text.
type property int

const (
	display property = iota
	visibility
	opacity
	fontSize
	properties // how many there are
)

// declaration hides an element in one way, or shows it.
type declaration struct {
	property  property
	hides     bool
	inherits  bool // as the parent
	important bool
}

// rule is a selector and its declarations.
type rule struct {
	parts       []part
	specificity cascadia.Specificity
	says        []declaration
}

// part is a step of a selector: an element, and its combinator, 0 for the first step.
type part struct {
	is   cascadia.Sel
	lies byte
}

// sheet reads a style sheet.
type sheet struct {
	css   string
	at    int
	rules []rule
	over  bool // there is more than maxRules
}

// comments matches comments of style sheets, also without an end.
var comments = regexp.MustCompile(`(?s)/\*.*?(?:\*/|\z)|<!--|-->`)

// parseSheets returns the rules that hide or show something, in their order, or none if
// there are too many. Invalid CSS is skipped.
func parseSheets(sheets []string) []rule {
	var all []rule
	for _, css := range sheets {
		s := &sheet{css: comments.ReplaceAllString(css, " "), rules: all}
		for s.at < len(s.css) && !s.over {
			s.block(false, 0)
		}
		if s.over {
			return nil
		}
		all = s.rules
	}
	return all
}

// block reads the rules of a block. A conditional block, such as for small screens, can
// show elements, but does not hide them.
func (s *sheet) block(sometimes bool, depth int) {
	for s.at < len(s.css) && !s.over {
		head, stop := s.until("{};")
		head = strings.TrimSpace(head)
		switch {
		case stop == '}':
			return
		case stop != '{':
			// a rule without a block, such as @import
		case strings.HasPrefix(head, "@"):
			if depth < maxNested && conditional(strings.ToLower(head)) {
				s.block(true, depth+1)
			} else {
				s.skip()
			}
		default:
			s.add(head, s.declarations(), sometimes)
		}
	}
}

// conditional reports whether the rules of an at-rule may apply.
func conditional(head string) bool {
	name, condition, _ := strings.Cut(strings.NewReplacer("(", " (", "\n", " ", "\t", " ").Replace(head), " ")
	switch name {
	case "@media":
		return !strings.Contains(condition, "print") || strings.Contains(condition, "screen") || strings.Contains(condition, "not print")
	case "@supports", "@layer", "@container":
		return true
	}
	return false
}

// until reads past the next byte of stops outside of strings and brackets; stop is 0 at
// the end.
func (s *sheet) until(stops string) (text string, stop byte) {
	begin, open := s.at, 0
	var quote byte
	for ; s.at < len(s.css); s.at++ {
		switch c := s.css[s.at]; {
		case c == '\\':
			s.at++
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			open++
		case c == ')' || c == ']':
			open = max(open-1, 0)
		case open == 0 && strings.IndexByte(stops, c) >= 0:
			s.at++
			return s.css[begin : s.at-1], c
		}
	}
	s.at = min(s.at, len(s.css))
	return s.css[begin:s.at], 0
}

// skip reads past the end of a block.
func (s *sheet) skip() {
	for depth := 1; depth > 0; {
		switch _, stop := s.until("{}"); stop {
		case '{':
			depth++
		case '}':
			depth--
		case 0:
			return
		}
	}
}

// declarations reads the declarations of a rule, without nested rules.
func (s *sheet) declarations() (all []declaration) {
	for {
		text, stop := s.until("{};")
		if stop == '{' {
			s.skip()
			continue
		}
		if d, ok := parseDeclaration(text); ok {
			all = append(all, d)
		}
		if stop != ';' {
			return all
		}
	}
}

// parseStyle reads an attribute style.
func parseStyle(text string) []declaration {
	return (&sheet{css: comments.ReplaceAllString(text, " ")}).declarations()
}

// parseDeclaration reads a declaration of one of the properties.
func parseDeclaration(text string) (d declaration, ok bool) {
	name, value, ok := strings.Cut(text, ":")
	if !ok || len(value) > maxSelector {
		return d, false
	}
	value = strings.ToLower(tidy(value))
	value, d.important = strings.CutSuffix(strings.ReplaceAll(value, "! ", "!"), "!important")
	value = strings.TrimSpace(value)
	if value == "" {
		return d, false
	}
	d.inherits = slices.Contains([]string{"inherit", "unset", "revert", "revert-layer"}, value)
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "display":
		d.property, d.hides = display, value == "none"
	case "visibility":
		d.property, d.hides = visibility, value == "hidden" || value == "collapse"
	case "opacity":
		d.property = opacity
		number, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		d.hides = err == nil && number < 0.01
	case "font-size":
		d.property, d.hides = fontSize, tiny(value)
		d.inherits = d.inherits || relative.MatchString(value) && !d.hides // many times nothing is nothing
	default:
		return d, false
	}
	return d, true
}

var (
	// relative matches a size that depends on the parent's.
	relative = regexp.MustCompile(`^[\d.]+(?:em|%|ex|ch)$`)
	// lengths matches a number with its unit.
	lengths = regexp.MustCompile(`^\+?(\d*\.?\d+)([a-z]*|%)$`)
)

// tiny reports whether letters of a size are unreadable.
func tiny(size string) bool {
	m := lengths.FindStringSubmatch(size)
	if m == nil {
		return false
	}
	number, err := strconv.ParseFloat(m[1], 64)
	return err == nil && (number == 0 || number <= 1 && (m[2] == "px" || m[2] == "pt"))
}

// add adds the rules of a list of selectors. Invalid ones, and those that depend on more
// than the page, are left out.
func (s *sheet) add(selectors string, says []declaration, sometimes bool) {
	if sometimes {
		says = slices.DeleteFunc(says, func(d declaration) bool { return d.hides })
	}
	if len(says) == 0 {
		return
	}
	list := &sheet{css: selectors}
	for list.at < len(list.css) {
		selector, _ := list.until(",")
		r, ok := parseSelector(strings.TrimSpace(selector))
		if !ok {
			continue
		}
		if len(s.rules) >= maxRules {
			s.over = true
			return
		}
		r.says = says
		s.rules = append(s.rules, r)
	}
}

var (
	escaped = regexp.MustCompile(`\\.`)
	// pseudo matches pseudo-classes, which depend on scripts or users, and #= and !=,
	// which are extensions of cascadia.
	pseudo = regexp.MustCompile(`:+[\w-]*|[#!]=`)
	// plainPseudo depend on the element alone.
	plainPseudo = []string{":not", ":root", ":first-child", ":last-child"}
)

// parseSelector splits a selector into steps.
func parseSelector(text string) (r rule, ok bool) {
	if text == "" || len(text) > maxSelector {
		return r, false
	}
	for _, name := range pseudo.FindAllString(escaped.ReplaceAllString(text, "x"), -1) {
		if !slices.Contains(plainPseudo, strings.ToLower(name)) {
			return r, false
		}
	}
	steps := &sheet{css: text}
	for lies := byte(0); ; {
		step, next := steps.until(joints)
		is, err := cascadia.Parse(step)
		if err != nil || len(r.parts) == maxParts {
			return r, false
		}
		r.parts = append(r.parts, part{is, lies})
		r.specificity = r.specificity.Add(is.Specificity())
		if next == 0 {
			return r, true
		}
		lies = steps.joint(next)
	}
}

// joints are the combinators of selectors.
const joints = " \t\n\r\f>+~"

// joint reads the rest of a combinator; lies is its first byte.
func (s *sheet) joint(lies byte) byte {
	for s.at < len(s.css) && strings.IndexByte(joints, s.css[s.at]) >= 0 {
		if strings.IndexByte(">+~", s.css[s.at]) >= 0 {
			lies = s.css[s.at]
		}
		s.at++
	}
	if strings.IndexByte(">+~", lies) < 0 {
		return ' '
	}
	return lies
}
