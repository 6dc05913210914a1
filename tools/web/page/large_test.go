package page

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzReadable turns anything into text, soon and without scripts.
func FuzzReadable(f *testing.F) {
	for _, seed := range []string{
		"", "<p>text", "<table><tr><td>a<td>b</table>", "<script>alert(1)</script>", "<div hidden>x</div>", strings.Repeat("<div>", 600) + "deep",
		strings.Repeat("<b><i>", 200), "<a href='javascript:x'>y</a>", "<title>t</title><body><h1>t</h1>", "<svg><script>x</script></svg>", "\x00\xff<p\x00>",
		"<article><p>" + strings.Repeat("many words, ", 100) + "</p></article>", "<ul><li><ul><li>a", "<pre>```</pre>", "<textarea><script>a", "<noscript><p>x",
		"<style>.a>.b~i+u:not(.c),#d{display:none!important}@media print{.e{opacity:0}}</style><p class=a><b class=b>x</b><i>y<u>z", "<style>\\</style>", "<style>a{b:\"",
	} {
		f.Add(seed)
	}
	at := &url.URL{Scheme: "https", Host: "example.com", Path: "/a"}
	f.Fuzz(func(t *testing.T, page string) {
		begun := time.Now()
		text, err := Markdown(t.Context(), strings.ToValidUTF8(page, "?"), at)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			t.Errorf("no UTF-8: %q", text)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%v for %d bytes", took, len(page))
		}
	})
}

// TestLargePages bounds what odd pages cost.
func TestLargePages(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com"}
	for name, piece := range map[string]string{
		"paragraphs": "<p>text</p>", "open elements": "<b>", "links": "<a href=/x>y</a> ", "tables": "<table><tr><td>", "lists": "<ul><li>x", "breaks": "<br>",
		"divs with text": "<div>some words, and more</div>", "attributes": "<p a=1 b=2>", "entities": "&amp;", "comments": "<!-- x -->", "less": "<", "options": "<select><option>x",
	} {
		t.Run(name, func(t *testing.T) {
			// In make bombs one is above maxNodes for most, one is small enough for everything.
			sizes := []int{500_000 / scale / len(piece), maxNodes / 8 / scale}
			if name == "open elements" {
				sizes = append(sizes, 2*maxNodes) // cheap enough to be always whole
			}
			for _, n := range sizes {
				begun := time.Now()
				_, err := Markdown(t.Context(), strings.Repeat(piece, n), at)
				took := time.Since(begun)
				t.Logf("%d times: %v", n, took)
				if err != nil || took > 30*time.Second {
					t.Errorf("%d times: %v, %v", n, took, err)
				}
			}
		})
	}
}
