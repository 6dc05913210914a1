package guide

import (
	"regexp"
	"strings"
	"unicode"
)

// section is a part of a page, from its heading to the next one.
type section struct {
	// page is the path of the page.
	page string
	// level is how many # the heading has, 0 for text before the first one.
	level int
	title string
	// text is the section without its heading.
	text string
	// from and to are its place in the page, heading included.
	from, to int
}

var headingLine = regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t]*#*$`)

// sectionsOf parts a page at its headings. Lines in code fences are none.
func sectionsOf(page, text string) []section {
	all := []section{{page: page}}
	fence, at, body := "", 0, 0
	for line := range strings.Lines(text) {
		end := at + len(line)
		trimmed := strings.TrimRight(line, "\r\n")
		mark := fenceOf(trimmed)
		m := headingLine.FindStringSubmatch(trimmed)
		switch {
		case fence != "":
			if mark == fence {
				fence = ""
			}
		case mark != "":
			fence = mark
		case m != nil:
			last := &all[len(all)-1]
			last.to, last.text = at, strings.TrimSpace(text[body:at])
			all = append(all, section{page: page, level: len(m[1]), title: m[2], from: at})
			body = end
		}
		at = end
	}
	last := &all[len(all)-1]
	last.to, last.text = len(text), strings.TrimSpace(text[body:])
	if all[0].text == "" {
		all = all[1:]
	}
	return all
}

// fenceOf is the mark of a line that begins or ends a block of code, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// partOf is the text of the section with an anchor, its sub-sections included.
func partOf(text string, all []section, name string) (part string, found bool) {
	for i, s := range all {
		if s.level == 0 || anchor(s.title) != name {
			continue
		}
		to := len(text)
		for _, next := range all[i+1:] {
			if next.level <= s.level {
				to = next.from
				break
			}
		}
		return strings.TrimSpace(text[s.from:to]), true
	}
	return "", false
}
