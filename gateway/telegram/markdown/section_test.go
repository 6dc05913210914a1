package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

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
