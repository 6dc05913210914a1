package markdown

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"klawbot/gateway"
)

// checkSplit holds the promise of splitRich: gaps that cannot be seen between
// consecutive pieces, and the formatting of every visible character kept.
func checkSplit(t *testing.T, d rich, parts []gateway.Part) {
	t.Helper()
	covers := cover(d.text, d.spans)
	at := 0
	for i, p := range parts {
		start := at
		for !strings.HasPrefix(d.text[at:], p.Text) {
			_, n := utf8.DecodeRuneInString(d.text[at:])
			if at += n; at >= len(d.text) {
				t.Fatalf("part %d is no piece of the text after the part before", i)
			}
		}
		if !isBlank(d.text[start:at]) {
			t.Fatalf("lost between the parts %d and %d: %q", i-1, i, d.text[start:at])
		}
		checkPart(t, p)
		checkCover(t, covers, at, p)
		at += len(p.Text)
	}
	if !isBlank(d.text[at:]) {
		t.Fatalf("lost after the last part: %q", d.text[at:])
	}
}

// cover sums up for every byte the spans over it; the order does not matter.
func cover(text string, spans []span) []uint64 {
	covers := make([]uint64, len(text))
	for _, s := range spans {
		h := fnv.New64a()
		fmt.Fprint(h, s.kind, s.url, s.language)
		sum := h.Sum64()
		for i := s.start; i < s.end; i++ {
			covers[i] += sum
		}
	}
	return covers
}

func checkCover(t *testing.T, covers []uint64, at int, p gateway.Part) {
	t.Helper()
	own := cover(p.Text, spansOf(p))
	for i, r := range p.Text {
		if isVisible(r) && own[i] != covers[at+i] {
			t.Fatalf("%q at byte %d of the text has other formatting in its part", r, at+i)
		}
	}
}

func isVisible(r rune) bool { return !isInvisible(r) }

func spansOf(p gateway.Part) []span {
	bytes := []int{}
	for i, r := range p.Text {
		for range unitsOf(r) {
			bytes = append(bytes, i)
		}
	}
	bytes = append(bytes, len(p.Text))
	var spans []span
	for _, e := range p.Entities {
		spans = append(spans, span{e.Type, bytes[e.Offset], bytes[e.Offset+e.Length], e.URL, e.Language})
	}
	return spans
}

func lengths(parts []gateway.Part) []int {
	var n []int
	for _, p := range parts {
		sum := 0
		for _, r := range p.Text {
			sum += unitsOf(r)
		}
		n = append(n, sum)
	}
	return n
}

func TestSplitLength(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want []int
	}{
		{"F1 4096", strings.Repeat("a", 4096), []int{4096}},
		{"F1 4097", strings.Repeat("a", 4097), []int{4096, 1}},
		{"F1 4096 and blanks", strings.Repeat("a", 4096) + "\n\n", []int{4096}},
		{"F1 emoji at the border", strings.Repeat("a", 4095) + "😀", []int{4095, 2}},
		{"F1 emoji", strings.Repeat("😀", 2049), []int{4096, 2}},
		{"F1 CJK", strings.Repeat("漢", 4097), []int{4096, 1}},
		{"F1 family", strings.Repeat("a", 4090) + "👨‍👩‍👧", []int{4090, 8}},
		{"F1 flags", strings.Repeat("a", 4094) + "🇩🇪🇫🇷", []int{4094, 8}},
		{"F1 accents", strings.Repeat("a", 4095) + "e\u0301", []int{4095, 2}},
		{"space with accent", strings.Repeat("a", 4000) + " \u0301" + strings.Repeat("b", 200), []int{4096, 106}},
		{"a cluster that is too long", "a" + strings.Repeat("\u0301", 5000), []int{4096, 905}},
		{"blank line", strings.Repeat("a", 3000) + "\n\n" + strings.Repeat("b\n", 1000), []int{3000, 1999}},
		{"line", strings.Repeat("a", 3000) + "\n" + strings.Repeat("b ", 1000), []int{3000, 1999}},
		{"sentence", strings.Repeat("a", 3000) + ". " + strings.Repeat("b ", 1000), []int{3001, 1999}},
		{"space", strings.Repeat("a ", 3000), []int{4095, 1903}},
		{"a word that fits a part", "hi " + strings.Repeat("a", 4096), []int{2, 4096}},
		{"a part of nothing visible", strings.Repeat("\u200b", 4096) + "a", []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := rich{text: c.text}
			parts := splitRich(d)
			checkSplit(t, d, parts)
			if diff := cmp.Diff(c.want, lengths(parts)); diff != "" {
				t.Errorf("lengths (-want +got):\n%s", diff)
			}
		})
	}
}

// Every cut is where a grapheme cluster ends, wherever the border falls.
func TestSplitClusters(t *testing.T) {
	clusters := []string{"👨‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0302", "👍🏽", "각", "नी", "a", "❤️"}
	for shift := range 16 {
		text := strings.Repeat("x", shift) + strings.Repeat(strings.Join(clusters, ""), 400)
		borders := map[int]bool{}
		at, state := 0, -1
		for rest := text; rest != ""; {
			var c string
			c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			at += len(c)
			borders[at] = true
		}
		at = 0
		for i, p := range splitRich(rich{text: text}) {
			if at += len(p.Text); !borders[at] {
				t.Fatalf("shift %d: part %d ends inside of a cluster", shift, i)
			}
		}
		if at != len(text) {
			t.Fatalf("shift %d: %d bytes of %d", shift, at, len(text))
		}
	}
}

func TestSplitFence(t *testing.T) {
	var body strings.Builder
	for i := range 400 {
		fmt.Fprintf(&body, "    line %d;\n", i)
	}
	d := renderRich("Look:\n\n```go\n" + body.String() + "```\n\nDone.")
	parts := splitRich(d)
	checkSplit(t, d, parts)
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		if len(p.Entities) != 1 || p.Entities[0].Type != pre || p.Entities[0].Language != "go" {
			t.Errorf("F2: part %d has the entities %+v", i, p.Entities)
		}
	}
	if !strings.HasPrefix(parts[1].Text, "    line") || strings.HasSuffix(parts[0].Text, "\n") {
		t.Errorf("F2: the cut loses indentation or keeps its line end: %q", parts[1].Text[:20])
	}
}

// A fence that fits into a message is rather moved there than cut.
func TestSplitBeforeFence(t *testing.T) {
	parts := messages(strings.Repeat("a", 2500) + "\n\n```\n" + strings.Repeat("b\n", 1000) + "```")
	if diff := cmp.Diff([]int{2500, 1999}, lengths(parts)); diff != "" {
		t.Errorf("lengths (-want +got):\n%s", diff)
	}
}

func TestSplitHeading(t *testing.T) {
	for _, heading := range []string{"## Next", "**Next**"} {
		parts := messages(strings.Repeat("word ", 600) + "\n\n" + strings.Repeat("word ", 200) + "\n\n" + heading + "\n\n" + strings.Repeat("text ", 100))
		if len(parts) != 2 || !strings.HasPrefix(parts[1].Text, "Next\n\ntext") {
			t.Errorf("%s does not stay with its text: %d parts", heading, len(parts))
		}
	}
}

func TestSplitQuote(t *testing.T) {
	d := renderRich(strings.Repeat("> some words in a line\n", 300))
	parts := splitRich(d)
	checkSplit(t, d, parts)
	for i, p := range parts {
		if len(p.Entities) != 1 || p.Entities[0].Type != longQuote {
			t.Errorf("part %d has the entities %+v", i, p.Entities)
		}
	}
}

func TestSplitEntities(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		n, want    int
	}{
		{"F9 hundred", "**a** b ", 100, 1},
		{"F9 more", "**a** b ", 250, 3},
		{"F9 without spaces", "**重**要", 250, 3},
		{"payload", "[a](https://a.b/" + strings.Repeat("x", 1000) + ") ", 20, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := renderRich(strings.Repeat(c.unit, c.n))
			parts := splitRich(d)
			checkSplit(t, d, parts)
			sum := 0
			for _, p := range parts {
				sum += len(p.Entities)
			}
			if len(parts) != c.want || sum != c.n {
				t.Errorf("%d parts with %d entities, want %d with %d", len(parts), sum, c.want, c.n)
			}
		})
	}
}
