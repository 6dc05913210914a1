package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostileTexts are texts that cost some Markdown parser more than linear time.
func hostileTexts(n int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		"*", "_", "~", "`", "[", "]", "(", "<", ">", "&", "\\", "|", "!", "#", "\n", " ", "\t", "a", "漢", "\u0301", "\u200b",
		"* ", "- ", "> ", "1. ", "*a ", "*a _b ", "a**b", "*a**b_ ", "*漢**。_ ", "~~a ", "![", "[]", "[a](", "[aaaaaaaaa](", "[a](<b", "[a](\"", "[a]: b\n", "[^a]", "`a``", "\\```\n", "# \\```\n", "<a ", "<!--", "<![CDATA[", "&a", "# a\n",
		"a\n-\n", "a|b\n", ">\n", "> a\n", "- a\n\n", "a\n    b\n", "```\n", "~~~~x\n", "**a** ", "[a](https://a.b) ", "https://a.b/_c_", "__a__", "\\( ", "\\[\\x", "$a ", "$$a", "$a$ ", "\\begin{a}", "\\(\\frac{a}{b}\\) ", "**a:**b", "|`a|", "a|b|`\n|-|\n", "| a | b |\n|-|-|\n| c | d |\n\n", "    a\n\n\n\n",
	} {
		texts[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, n/len(unit)+1)
	}
	half, third := n/2, n/3
	texts["brackets"] = strings.Repeat("[", half) + "a" + strings.Repeat("]", half)
	texts["quotes, then lines"] = strings.Repeat(">", half) + "a\n" + strings.Repeat("b\n", half/2)
	texts["lists, then blanks"] = strings.Repeat("- ", half/2) + "a" + strings.Repeat(" \n", half/2)
	texts["lists, then lines"] = strings.Repeat("- ", 30) + "a\n" + strings.Repeat("b\n\n", half)
	texts["square table"] = strings.Repeat("|", third) + "\n" + strings.Repeat("|-", third/2) + "|\n" + strings.Repeat("|\n", third/2)
	texts["long headers"] = "|" + strings.Repeat("h", 4000) + "|\n|-|\n" + strings.Repeat("|a|\n", half/4)
	texts["code with blanks"] = "```\n" + strings.Repeat(" ", n)
	var stairs, ticks strings.Builder
	for i := 0; stairs.Len() < n; i++ {
		stairs.WriteString(strings.Repeat(" ", 2*(i%600)) + "- a\n" + strings.Repeat("\n", 3))
	}
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	texts["stairs"], texts["ticks"] = stairs.String(), ticks.String()
	return texts
}

// A long text is rendered in sections, so it takes no longer than one section
// of the worst kind, times their number. That is some 30 ms here; the limit is
// wide because of busy machines and the race detector, and what is worse than
// quadratic exceeds it by far.
func TestRenderHostile(t *testing.T) {
	for name, text := range hostileTexts(maxSection) {
		start := time.Now()
		parts := messages(text)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		for _, p := range parts {
			checkPart(t, p)
		}
	}
}

// BenchmarkRenderHostile takes a megabyte of each text.
func BenchmarkRenderHostile(b *testing.B) {
	for name, text := range hostileTexts(maxMarkdown) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				messages(text)
			}
		})
	}
}
