package page

import (
	"net/url"
	"strings"
	"testing"
)

// TestLinks: every link of a page leads where it would lead in a browser, and
// has no other words.
func TestLinks(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com", Path: "/shop/tea/green.html", RawQuery: "a=b"}
	for name, c := range map[string]struct{ page, want string }{
		"beside":           {`<a href=black.html>x</a>`, "[x](https://example.com/shop/tea/black.html)"},
		"above":            {`<a href=../>x</a>`, "[x](https://example.com/shop/)"},
		"from the root":    {`<a href=/a>x</a>`, "[x](https://example.com/a)"},
		"elsewhere":        {`<a href="//other.example/a b">x</a>`, "[x](https://other.example/a%20b)"},
		"whole":            {`<a href="http://other.example/?q=1&amp;r=2#s">x</a>`, "[x](http://other.example/?q=1&r=2#s)"},
		"a query":          {`<a href="?page=2">x</a>`, "[x](https://example.com/shop/tea/green.html?page=2)"},
		"by a base":        {`<base href="/docs/"><a href=a>x</a>`, "[x](https://example.com/docs/a)"},
		"by a far base":    {`<base href="http://cdn.example/v1/"><base href="/no/"><img src=a.png alt=y>`, "![y](http://cdn.example/v1/a.png)"},
		"a bad base":       {`<base href="javascript:1"><a href=a>x</a>`, "[x](https://example.com/shop/tea/a)"},
		"mail":             {`<a href="mailto:me@example.com">x</a>`, "[x](mailto:me@example.com)"},
		"a place below":    {`<a href="#price">x</a>`, "[x](#price)"},
		"scripts":          {`<a href="JavaScript:go()">x</a> <a href=" java&#10;script:go()">y</a>`, "x y"},
		"data":             {`<a href="data:text/html,hello">x</a><img alt="a drawing" src="data:image/png;base64,AAAA">`, "xa drawing"},
		"data in articles": {`<article><p>` + strings.Repeat("many words, and some more of them. ", 30) + `</p><p><img alt=z src="data:image/png;base64,AAAA"><a href=b>w</a></p></article>`, "[w](https://example.com/shop/tea/b)"},
		"no address":       {`<a href="http://[::1">x</a>`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := Markdown(t.Context(), c.page, at)
			if err != nil || !strings.Contains(text, c.want) || !strings.Contains(name, "articles") && text != c.want || strings.Contains(text, "AAAA") || strings.Contains(strings.ToLower(text), "script:") {
				t.Errorf("%q, %v; want %q", text, err, c.want)
			}
		})
	}
}

// TestTextsStayApart that stand apart on a screen.
func TestTextsStayApart(t *testing.T) {
	for page, want := range map[string]string{
		"<details><summary>More</summary>closed</details>":           "More\n\nclosed",
		"<fieldset><legend>Address</legend>street</fieldset>":        "Address\n\nstreet",
		"<center>middle</center>below":                               "middle\n\nbelow",
		"<select><option>one</option><option>two</option></select>x": "one, two x",
		"<p><button>yes</button><button>no</button></p>":             "yes no",
		"<dl><dt>a<dd>b</dl>":                                        "a\n\nb",
	} {
		text, err := Markdown(t.Context(), page, &url.URL{Scheme: "https", Host: "example.com"})
		if err != nil || text != want {
			t.Errorf("%s: %q, %v; want %q", page, text, err, want)
		}
	}
}
