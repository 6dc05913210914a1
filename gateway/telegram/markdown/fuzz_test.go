package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fuzzSeeds are texts with everything that the renderer knows.
func fuzzSeeds() []string {
	return []string{
		"# T\n**b *i ~~s~~ `c`***\n\n- a\n  1. [x] b\n\n> q\n> > r\n\n```go\n\tx\n```\n\n---\n\n| a | b |\n|--:|:-:|\n| 1 | 😀 |\n",
		"[a](https://b.c) ![d](https://e.f) [g](/h) [i](javascript:j) <k@l.m> <https://n.o> [p]\n\n[p]: https://q.r\n",
		"__init__.py a_b_c 2*3*4 C:\\x \\*y\\* &lt;z&#0;&#x202e; ~1~ https://a.b/_c_",
		"**un `b *al [an](ce ~~d",
		"> 1\n> 2\n> 3\n> 4\n> 5\n> 6\n> 7\n> 8\n> ```\n>   9\n> ```",
		"a\x00b\xff\u202e\u200b \u0301👨‍👩‍👧🇩🇪\r\nc\rd",
		"- - - a\n\n      b\n\n          c\n* ```\n  d\n+ > e\n  > | f | g |\n  > |---|---|\n  > | <br> | h |",
		"<div>\n**a**\n</div>\n<b>c</b> <!-- d --> <br>\n    e\n",
		"_**a**_ **_b `c` d_** ***e** f* ~~**g**~~ [**h `i`**](https://j.k)",
		"\u200b\u2800", "", "```", "|", "[", "1.",
	}
}

// FuzzRender repeats the seed to reach the borders of parts.
func FuzzRender(f *testing.F) {
	for i, s := range fuzzSeeds() {
		f.Add(s, uint8(1))
		f.Add(s, uint8(60+i))
	}
	f.Fuzz(func(t *testing.T, unit string, times uint8) {
		text := ""
		for range times {
			text += unit
		}
		if len(text) > 40<<10 {
			return
		}
		d := renderRich(text)
		parts := messages(text)
		checkSplit(t, d, parts)
		md, _ := cleanMarkdown(text)
		if len(parts) == 0 != isBlank(md) {
			t.Errorf("%d parts for %q", len(parts), text)
		}
		if diff := cmp.Diff(parts, messages(text)); diff != "" {
			t.Errorf("the same text twice:\n%s", diff)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	for name, text := range map[string]string{"short": "Yes, **done**.", "4KB": answer(4 << 10), "32KB": answer(32 << 10)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				messages(text)
			}
		})
	}
}

// answer is an ordinary answer of about n bytes.
func answer(n int) string {
	text := ""
	for len(text) < n {
		text += "## Heading\n\nSome **bold** words, `code` and a [link](https://example.org/page), then more words to read.\n\n- first item\n- second _item_\n  - nested\n\n```go\nfunc main() {\n\tfmt.Println(\"hi\")\n}\n```\n\n| a | b |\n|---|--:|\n| one | 1 |\n| two | 22 |\n\n> a quote\n\n"
	}
	return text
}
