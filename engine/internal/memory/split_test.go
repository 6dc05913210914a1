package memory

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplit(t *testing.T) {
	long := strings.Repeat("This is a sentence of some length. ", 40)
	code := "```go\n" + strings.Repeat("x := 1\n", 20) + "```\n"
	for name, c := range map[string]struct {
		text          string
		size, overlap int
		want          func([]string) bool
	}{
		"nothing has no pieces":     {"  \n\n", 10, 2, func(p []string) bool { return len(p) == 0 }},
		"a short text is one piece": {"Hello.", 10, 2, func(p []string) bool { return len(p) == 1 && p[0] == "Hello." }},
		"pieces end with sentences": {long, 50, 0, func(p []string) bool {
			return len(p) > 3 && each(p, func(s string) bool { return strings.HasSuffix(s, ".") })
		}},
		"pieces overlap": {"Aaaa aaaa aaaa.\n\nBbbb.\n\nCccc cccc cccc.\n", 7, 3, func(p []string) bool {
			return len(p) == 2 && strings.Contains(p[0], "Bbbb") && strings.HasPrefix(p[1], "Bbbb")
		}},
		"a heading stays with its text": {strings.Repeat("word ", 30) + "\n\n# Head\n\nBody of it.\n", 40, 0, func(p []string) bool {
			return each(p, func(s string) bool { return !strings.HasSuffix(s, "# Head") })
		}},
		"headings at the end are no pieces": {"Text.\n\n# A\n## B\n### C\n", 40, 10, func(p []string) bool { return len(p) == 1 }},
		"a fence is not cut": {"Before.\n\n" + code + "\nAfter.\n", 45, 0, func(p []string) bool {
			return each(p, func(s string) bool { return strings.Count(s, "```")%2 == 0 })
		}},
		"a list item is not cut": {"- one two three four five six\n- seven eight nine ten eleven\n", 8, 0, func(p []string) bool {
			return len(p) == 2 && each(p, func(s string) bool { return strings.HasPrefix(s, "- ") })
		}},
		"Chinese is cut at its full stops": {strings.Repeat("今天天气很好。", 20), 30, 0, func(p []string) bool {
			return len(p) > 3 && each(p, func(s string) bool { return strings.HasSuffix(s, "。") })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Split(c.text, c.size, c.overlap); !c.want(got) {
				t.Errorf("the pieces are %q", got)
			}
		})
	}
}

func each(all []string, ok func(string) bool) bool {
	for _, s := range all {
		if !ok(s) {
			return false
		}
	}
	return true
}

// FuzzSplit: every word of a text is in a piece, and no piece is much too long.
func FuzzSplit(f *testing.F) {
	f.Add("# A\n\nSome text. More.\n\n- x\n- y\n\n```\ncode\n```\n", 10, 3)
	f.Add("今天天气很好。ёлка\xff", 2, 1)
	f.Add("\n#\n##", 53, 0)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		size, overlap = 1+max(size, 0)%500, max(overlap, 0)%500
		pieces := Split(text, size, overlap)
		all := strings.Join(pieces, " ")
		for _, w := range strings.Fields(text) {
			if utf8.ValidString(w) && Tokens(w) < size && !strings.Contains(all, w) {
				t.Errorf("%q is in no piece of %q", w, pieces)
			}
		}
		if len(strings.TrimSpace(text)) > 0 && len(pieces) == 0 {
			t.Errorf("%q has no piece", text)
		}
	})
}
