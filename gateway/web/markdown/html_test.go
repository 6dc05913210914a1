package markdown_test

import (
	"strings"
	"testing"

	"klawbot/gateway/web/markdown"
	"klawbot/internal/redact"
)

// TestAddresses links addresses that stand in a text, to the web only, and each once.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		md     string
		to     []string
		said   string // what people read
		linked string // the text of the first link, as to[0] when empty
	}{
		{"See https://a.b/c_d_e?x=1&y=*2, please.", []string{"https://a.b/c_d_e?x=1&amp;y=*2"}, "See https://a.b/c_d_e?x=1&amp;y=*2, please.", ""},
		{"(https://a.b/w_(x))", []string{"https://a.b/w_(x)"}, "(https://a.b/w_(x))", ""},
		{"**https://a.b/**", []string{"https://a.b/"}, "https://a.b/", ""},
		{"https://a.b https://c.d", []string{"https://a.b", "https://c.d"}, "https://a.b https://c.d", ""},
		{"[https://a.b](https://c.d)", []string{"https://c.d"}, "https://a.b", "https://a.b"},
		{"[](https://a.b)", []string{"https://a.b"}, "https://a.b", ""},
		{"`https://a.b`", nil, "https://a.b", ""},
		{"javascript:alert(1) http://... xhttps://a.b", nil, "javascript:alert(1) http://... xhttps://a.b", ""},
		{`https://a.b/"><script>`, []string{"https://a.b/"}, "https://a.b/&#34;&gt;&lt;script&gt;", ""},
	} {
		got := markdown.HTML(c.md, "Copy", &redact.Set{})
		var to []string
		said := ""
		for i, part := range strings.Split(got, "<") {
			tag, text, _ := strings.Cut(part, ">")
			if i == 0 {
				text = part
			}
			said += text
			if rest, ok := strings.CutPrefix(tag, `a href="`); ok {
				href, _, _ := strings.Cut(rest, `"`)
				if to = append(to, href); c.linked != "" && text != c.linked || c.linked == "" && text != href {
					t.Errorf("%s: the link says %q", c.md, text)
				}
			}
		}
		if said != c.said || strings.Join(to, " ") != strings.Join(c.to, " ") {
			t.Errorf("%s: %s\nsaid %q\nlinks %q", c.md, got, said, to)
		}
	}
}
