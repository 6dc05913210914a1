package markdown

import (
	"strings"
	"testing"
)

func TestRenderTable(t *testing.T) {
	wide := strings.Repeat("w", 40)
	checkRender(t, []renderCase{
		{"F5 narrow", "x\n| a | bb |\n|:-:|---|\n| 123 | |\n| **4** | a<br>b |\n| \\| | `c` |\n\ny",
			"x\n\n<pre> a  | bb\n----+----\n123 |\n 4  | a b\n |  | c</pre>\n\ny"},
		{"display width", "|k|v|\n|-|-|\n|日本|1|\n|😀|22|", "<pre>k    | v\n-----+---\n日本 | 1\n😀   | 22</pre>"},
		{"wide", "|Name:|Text|x|\n|-|-|-|\n|a|" + wide + "|1|\n|**b**||2|",
			"<bold>Name</bold>: a\n<bold>Text</bold>: " + wide + "\n<bold>x</bold>: 1\n\n<bold>Name</bold>: <bold>b</bold>\n<bold>x</bold>: 2"},
		{"links", "|a|b|\n|-|-|\n|1|[l](https://a.b)|\n\nnext", "<bold>a</bold>: 1\n<bold>b</bold>: <text_link https://a.b>l</text_link>\n\nnext"},
		{"headers only", "|a|b|\n|-|-|", "<pre>a | b</pre>"},
		{"wide headers only", "|" + wide + "|" + wide + "|\n|-|-|", wide + "\n" + wide},
		{"in a list", "- x\n\n  |a|b|\n  |-|-|\n  |1|2|\n- y", "• x\n\n<pre>a | b\n--+--\n1 | 2</pre>\n• y"},
	})
}

// Headers are not repeated when that would multiply the text.
func TestRenderTableOfLongHeaders(t *testing.T) {
	text := "|" + strings.Repeat("h", 2000) + "|\n|-|\n" + strings.Repeat("|a|\n", 1000)
	if got := len(renderRich(text).text); got > len(text) {
		t.Errorf("%d bytes became %d", len(text), got)
	}
}
