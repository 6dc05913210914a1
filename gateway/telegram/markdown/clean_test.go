package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\u2028d":          "a\nb\nc\nd",
		"a\x00\x1b\u0085b\tc":       "ab\tc",
		"\u202eabc\u2066":           "abc",
		"a\xff\xfe\xfdb":            "a\uFFFDb",
		"a\n\n\n \n\t\n\n\nb":       "a\n\n\n \nb",
		"  a  \n\n":                 "  a",
		"👨‍👩‍👧 \u200fא":             "👨‍👩‍👧 \u200fא",
		strings.Repeat("\n", 1000):  "",
		strings.Repeat("é", 1<<10):  strings.Repeat("é", 1<<10),
		"```\n\n\n\n\n\n\n\n\n```x": "```\n\n\n\n```x",
	} {
		if got, cut := cleanMarkdown(in); got != want || cut {
			t.Errorf("cleanMarkdown(%q) = %q, %t; want %q", in, got, cut, want)
		}
	}
}

func TestRenderCut(t *testing.T) {
	for _, unit := range []string{"word ", "é", "😀", "\xff\xff\xff"} {
		text := strings.Repeat(unit, maxMarkdown/len(unit)+10)
		parts := messages("a" + text)
		last := parts[len(parts)-1].Text
		if !strings.HasSuffix(last, "✂ …") || strings.Count(last, "\uFFFD") > 0 && utf8.ValidString(unit) {
			t.Errorf("%q: the last part ends in %q", unit, last[max(0, len(last)-20):])
		}
	}
}
