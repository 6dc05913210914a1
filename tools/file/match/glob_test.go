package match

import (
	"strings"
	"testing"
)

// FuzzGlob wants a pattern to be refused or used, a name that is written with
// backslashes to match itself and nothing else, and a star to stay in its folder.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"**/*.md", "a[!b-c]?{d,e}", "[", "[]a]", `\`, "{{,}", "a,b}", "**", "x/**/", "[^", "ä*", "[[:alpha:]]", `[\d]`} {
		f.Add(seed, "a/b.md")
	}
	f.Add("*", "e\u0301 \u00a0\u2019.md")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if expression, err := glob(pattern); err == nil {
			expression.MatchString(name)
		}
		// A longer name may make a pattern that is too complex to check.
		name = Form(strings.ToValidUTF8(name[:min(len(name), 300)], ""))
		var literal strings.Builder
		for _, r := range name {
			literal.WriteByte('\\')
			literal.WriteRune(r)
		}
		expression, err := glob(literal.String())
		if err != nil {
			t.Fatalf("%q: %v", literal.String(), err)
		}
		if !expression.MatchString(name) || expression.MatchString(name+"x") {
			t.Errorf("%q does not stand for %q alone: %s", literal.String(), name, expression)
		}
		star, err := glob("*")
		if err != nil || star.MatchString(name) == strings.Contains(name, "/") {
			t.Errorf("* and %q: %v", name, err)
		}
	})
}
