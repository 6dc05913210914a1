package html_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"klawbot/gateway/web/html"
)

func TestBlanksAreEscapedForTheirPlace(t *testing.T) {
	attack := `"><script>alert('1')</script>`
	for _, c := range []struct{ got, want html.HTML }{
		{html.F(`<p>%s</p>`, attack), `<p>&#34;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</p>`},
		{html.F(`<p class="%s">`, attack), `<p class="&#34;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;">`},
		{html.F(`<p class="%s">`, html.F(`<b>"</b>`)), `<p class="&lt;b&gt;&#34;&lt;/b&gt;">`},
		{html.F(`<p>%s %s</p>`, html.F(`<b>%s</b>`, 7), "<"), `<p><b>7</b> &lt;</p>`},
		{html.F(`<p%s>`, " onclick=alert(1)"), `<p>`},
		{html.F(`<p%s>`, html.F(` id="%s"`, "a")), `<p id="a">`},
		{html.F(`<p class="a" id="%s" title="%s">`, 1, `"`), `<p class="a" id="1" title="&#34;">`},
		{html.F(`<a href="%s">`, "javascript:alert(1)"), `<a href="#">`},
		{html.F(`<a href="%s">`, " javascript:alert(1)"), `<a href="#">`},
		{html.F(`<a href="%s">`, "java\nscript:alert(1)"), `<a href="#">`},
		{html.F(`<a class="x" href="%s">`, "DATA:text/html,x"), `<a class="x" href="#">`},
		{html.F(`<img src="%s">`, "vbscript:x"), `<img src="#">`},
		{html.F(`<a href="%s">`, html.F("javascript:x")), `<a href="#">`},
		{html.F(`<a href="%s">`, `https://a.example/?a=1&b="`), `<a href="https://a.example/?a=1&amp;b=&#34;">`},
		{html.F(`<a href="%s">%s</a>`, "mailto:a@b.example", "a > b"), `<a href="mailto:a@b.example">a &gt; b</a>`},
		{html.F(`<form action="/x/%s/run">`, `../"?a=b#`), `<form action="/x/..%2F%22%3Fa=b%23/run">`},
		{html.F(`<a href="/x?q=%s#m%s">`, `&a="b"`, 7), `<a href="/x?q=%26a%3D%22b%22#m7">`},
		{html.If(false, `<b>%s</b>`, 1) + html.If(true, `<i>%s</i>`, 2), `<i>2</i>`},
		{html.Each([]string{"<", "b"}, func(s string) html.HTML { return html.F(`<li>%s`, s) }), `<li>&lt;<li>b`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

// inPattern is what no pattern may have: an attribute without quotes, something inline.
var inPattern = regexp.MustCompile(` [a-z-]+=%s|='|\s(on[a-z]+|style)=|<style|javascript:`)

// TestPatternsOfThePages finds the mistakes that only a rare page would show: a blank too
// many, an attribute without quotes, something inline.
func TestPatternsOfThePages(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			to, is := call.Fun.(*ast.SelectorExpr)
			if !is {
				return true
			}
			first := map[string]int{"F": 0, "If": 1}
			skip, is := first[to.Sel.Name]
			if x, of := to.X.(*ast.Ident); !is || !of || x.Name != "html" {
				return true
			}
			seen++
			at := set.Position(call.Pos())
			literal, is := call.Args[skip].(*ast.BasicLit)
			if !is {
				t.Errorf("%s: the pattern isn't a literal", at)
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Error(err)
			}
			if blanks := strings.Count(text, "%s"); blanks != len(call.Args)-skip-1 && !call.Ellipsis.IsValid() {
				t.Errorf("%s: %d values for %d blanks", at, len(call.Args)-skip-1, blanks)
			}
			if bad := inPattern.FindString(text); bad != "" {
				t.Errorf("%s: the pattern has %q", at, bad)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("only %d patterns", seen)
	}
}
