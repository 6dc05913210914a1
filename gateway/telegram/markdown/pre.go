package markdown

import "strings"

const tabWidth = 4

// expandTabs replaces tabs as far as the next stop: Telegram shows a tab as one
// space, which would flatten code.
func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := tabWidth - column%tabWidth
			b.WriteString("    "[:n])
			column += n
			continue
		case '\n':
			column = -1
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}

// fenceLanguage is the name of a language at the start of a fence's info
// string, empty when there is none.
func fenceLanguage(info []byte) string {
	n := 0
	for n < len(info) && n < 32 && (isAlnumByte(info[n]) || strings.IndexByte("+#-_.", info[n]) >= 0) {
		n++
	}
	return string(info[:n])
}
