package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"klawbot/gateway/web/markdown"
	"klawbot/internal/redact"
)

// allowed are the elements of answers, with the attributes that each may have.
var allowed = map[string][]string{
	"a": {"href", "target", "rel"}, "figure": {"class"}, "button": {"type", "class", "hidden"}, "pre": {"class", "tabindex"}, "div": {"class", "tabindex"},
	"th": {"scope", "class"}, "td": {"class"}, "ol": {"start"},
	"p": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "ul": nil, "li": nil, "hr": nil, "br": nil, "table": nil, "tr": nil, "tbody": nil,
	"code": nil, "em": nil, "strong": nil, "del": nil, "figcaption": nil, "span": nil, "html": nil, "head": nil, "body": nil,
}

// FuzzHTML finds Markdown that becomes something that a browser would run, load or style.
func FuzzHTML(f *testing.F) {
	for _, md := range []string{
		"# a\n\n- **b** `c` ~~d~~ [e](https://example.org)\n1. x\n3. [ ] y", "| a | b |\n|:--|--:|\n| 1 | 2 |", "```sh\nls\n```", "> q\n\n---\n<script>alert(1)</script>",
		"[x](javascript:alert(1)) ![y](data:text/html,z) <https://a.example/\"onload=\"b>", "[x](java\tscript:alert(1))", "<!--><script>alert(1)</script>-->", "\x00<scr\x00ipt>",
		"[a](mailto:b@c.example) <b@c.example> ![](https://a.example/p.png)", "5. a\n6. b", "    code\n", strings.Repeat("> ", 60) + "deep", "``` \"><img src=x onerror=alert(1)>\nx",
		"[x]: javascript:alert(1)\n[x]", "\xff\xfe<b>", "[x](https://user:password@evil.example/%22onclick=)", "$$x^2$$ ||spoiler||",
	} {
		f.Add(md)
	}
	secrets := &redact.Set{}
	secrets.Add("sk-canary-0123456789abcdef")
	for _, md := range []string{"[sk-c](https://a.example)anary-0123456789abcdef", "[x](https://a.example/?k=sk-c%61nary-0123456789abcdef)", "sk&#45;canary-*0123456789*abcdef"} {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		page := markdown.HTML(md, "Copy", secrets)
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for n := range doc.Descendants() {
			if n.Type == html.TextNode {
				seen += n.Data
			}
			if n.Type == html.CommentNode {
				t.Errorf("a comment in %q", page)
			}
			if n.Type != html.ElementNode {
				continue
			}
			attributes, known := allowed[n.Data]
			if !known {
				t.Errorf("an element %s in %q", n.Data, page)
			}
			for _, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("an attribute %s of %s in %q", a.Key, n.Data, page)
				}
				if a.Key == "href" && secrets.Address(a.Val) {
					t.Errorf("a link leads a secret away in %q", page)
				}
				if to := strings.ToLower(a.Val); a.Key == "href" && !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "mailto:") {
					t.Errorf("a link to %q in %q", a.Val, page)
				}
			}
		}
		if strings.Contains(seen, "sk-canary-0123456789abcdef") {
			t.Errorf("a secret in %q", page)
		}
	})
}
