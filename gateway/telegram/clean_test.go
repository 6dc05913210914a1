package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
		parts := Render("a" + text)
		last := parts[len(parts)-1].Text
		if !strings.HasSuffix(last, "✂ …") || strings.Count(last, "\uFFFD") > 0 && utf8.ValidString(unit) {
			t.Errorf("%q: the last part ends in %q", unit, last[max(0, len(last)-20):])
		}
	}
}

func TestSections(t *testing.T) {
	paragraph := strings.Repeat("word ", 100) + "\n\n"
	for name, text := range map[string]string{
		"paragraphs": strings.Repeat(paragraph, 200),
		"lines":      strings.Repeat("- line\n", 10_000),
		"one line":   strings.Repeat("漢", 30_000),
	} {
		all := sections(text)
		joined := ""
		for _, s := range all {
			joined += s.text
			if len(s.text) > maxSection || !utf8.ValidString(s.text) {
				t.Errorf("%s: a section of %d bytes", name, len(s.text))
			}
		}
		if joined != text || len(all) < 2 {
			t.Errorf("%s: %d sections, %d of %d bytes", name, len(all), len(joined), len(text))
		}
	}
}

// A fence that is longer than a section is code in every section.
func TestSectionsOfFence(t *testing.T) {
	d := renderRich("a\n\n~~~~py\n" + strings.Repeat("*x* = `1`\n\n```\n", 5000) + "~~~~\n\n*end*")
	for i, s := range d.spans[:len(d.spans)-1] {
		if s.kind != pre || s.language != "py" {
			t.Fatalf("span %d of %d is %s %s", i, len(d.spans), s.kind, s.language)
		}
	}
	if got := d.spans[len(d.spans)-1]; got.kind != italic || d.text[got.start:got.end] != "end" {
		t.Errorf("the last span is %+v", got)
	}
	if n := strings.Count(d.text, "*x* = `1`"); n != 5000 {
		t.Errorf("%d lines of 5000", n)
	}
}

// hostileTexts are texts that cost some Markdown parser more than linear time.
func hostileTexts(n int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		"*", "_", "~", "`", "[", "]", "(", "<", ">", "&", "\\", "|", "!", "#", "\n", " ", "\t", "a", "漢", "\u0301", "\u200b",
		"* ", "- ", "> ", "1. ", "*a ", "*a _b ", "a**b", "*a**b_ ", "*漢**。_ ", "~~a ", "![", "[]", "[a](", "[aaaaaaaaa](", "[a](<b", "[a](\"", "[a]: b\n", "[^a]", "`a``", "\\```\n", "# \\```\n", "<a ", "<!--", "<![CDATA[", "&a", "# a\n",
		"a\n-\n", "a|b\n", ">\n", "> a\n", "- a\n\n", "a\n    b\n", "```\n", "~~~~x\n", "**a** ", "[a](https://a.b) ", "https://a.b/_c_", "__a__", "| a | b |\n|-|-|\n| c | d |\n\n", "    a\n\n\n\n",
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
		parts := Render(text)
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
				Render(text)
			}
		})
	}
}
